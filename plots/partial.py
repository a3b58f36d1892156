"""Where the parents are not the best set to look at, from RESULTS_FOLDER/prompt*.h5, information_*.json and
test_*.json.

(a) By how much stage 1 prefers {2} to the parents {1,2}, against L, for three priors; at the right the
same at L = inf. (b) Squared distance to the true law, (c) loss, of the trained transformer, Bayes and
the induction heads on {2} and on {1,2}. (d) What the parents would gain over the transformer. Writes partial.png, partial.pdf, numbers.txt with what is
quoted, and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

ONE, BOTH = "010", "110"
TRAINED = 0.3  # share of the parent at lag 1 in the kernels of the runs
SIGMAS = 3
PREDICTORS = {  # name here: document of test_*.json, name there, label, look
    "one": ("star", "gih", r"GIH on $\{2\}$", {"color": "#56B4E9", "marker": "s"}),
    "both": ("parents", "gih", r"GIH on $\{1,2\}$", {"color": "#D55E00", "marker": "D"}),
    "model": ("star", "model", *style.PREDICTORS["model"]),
    "bayes": ("star", "bayes", *style.PREDICTORS["bayes"]),
    "truth": ("star", "conditional", *style.PREDICTORS["conditional"]),
}


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "partial"

    def __init__(self, folder):
        self.runs = runfile.read_runs(folder, "prompt[0-9]*")
        self.lengths = np.array([int(run.name.removeprefix("prompt")) for run in self.runs])
        self.tests = [runfile.read_json(folder / f"test_{length}.json") for length in self.lengths]
        self.limits = {float(path.stem.split("_")[1]): runfile.read_json(path)
                       for path in sorted(folder.glob("information_*_inf.json"))}
        if TRAINED not in self.limits:
            raise runfile.RunFileError(f"{folder}: no information_{TRAINED}_inf.json there")
        self.leads = {share: np.transpose(
            [lead(runfile.read_json(folder / f"information_{share:g}_{length}.json"))
             for length in self.lengths]) for share in self.limits}

    def curve(self, name, measure):
        document, there, *_ = PREDICTORS[name]
        return np.transpose([[test[document]["measures"][there][measure][part]
                              for part in ("mean", "error")] for test in self.tests])

    def parents_less_model(self, measure):
        """Of the induction head on the parents and the transformer, in pairs."""
        found = [test["parents"]["differences"]["gih"][measure] for test in self.tests]
        return np.transpose([[-one["mean"], one["error"]] for one in found])


def limit_lead(found):
    """I~({2}) - I~({1,2}): exact, since the kernels of the file are all that can be drawn."""
    values = dict(zip(found["subsets"], found["modified"]))
    return values[ONE] - values[BOTH]


def lead(found):
    """g_1({2}) - g_1({1,2}) at this length; its error, paired, where these are the first two, else
    NaN."""
    values = dict(zip(found["subsets"], found["finite"]))
    first = {found["finite_S_star"], found["finite_runner_up"]} == {ONE, BOTH}
    return values[ONE] - values[BOTH], found["finite_gap_error"] if first else np.nan


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure, ((first, second), (third, fourth)) = plt.subplots(
        2, 2, figsize=(style.WIDTH, 0.8 * style.WIDTH))
    for axes in (first, second, third, fourth):
        axes.set_xscale("log")
        axes.set_xlabel("length $L$")
    draw_leads(first, measured)
    second.set_title("(b) mean squared distance to the true law")
    second.set_yscale("log")
    second.set_ylim(1e-5, 0.1)  # Bayes goes on falling
    draw_predictors(second, measured, "squared", ("one", "both", "model", "bayes"))
    second.legend(loc="lower left")
    third.set_title(r"(c) loss, $\varepsilon = L^{-1/2}$")
    draw_predictors(third, measured, "risk", ("one", "both", "model", "bayes", "truth"))
    third.legend(loc="lower right")
    fourth.set_title(r"(d) GIH on $\{1,2\}$ less transformer, paired")
    fourth.axhline(0, color="black", linewidth=0.6)
    for measure, label, colour, shift in (("squared", "squared distance", style.SECOND, -0.5),
                                          ("risk", "loss", style.FIRST, 0.5)):
        mean, error = measured.parents_less_model(measure)
        fourth.errorbar(measured.lengths * 1.05 ** shift, mean, yerr=error, color=colour, marker="D",
                        markersize=3, linewidth=0.9, label=label)
    fourth.legend(loc="upper right")
    return figure


def draw_leads(axes, measured):
    axes.set_title(r"(a) stage 1: $g_1$ of $\{2\}$ less $g_1$ of $\{1,2\}$")
    axes.axhline(0, color="black", linewidth=0.6)
    end = measured.lengths[-1] * 4
    for (share, (leads, errors)), colour in zip(measured.leads.items(),
                                                (style.FIRST, "black", style.SECOND)):
        limit = limit_lead(measured.limits[share])
        axes.errorbar(measured.lengths, leads, yerr=errors, color=colour, marker="o", markersize=3)
        axes.plot(end, limit, color=colour, marker="_", markersize=9, markeredgewidth=2)
        axes.annotate(f"share of lag 1: {share:g}", (end, limit), (0, -13 if share == TRAINED else 7), ha="right",
                      textcoords="offset points", color=colour, fontsize=7)
    axes.set_xticks([100, 1000, 10000, end], ["$10^2$", "$10^3$", "$10^4$", r"$\infty$"])


def draw_predictors(axes, measured, measure, names):
    for shift, name in enumerate(names):
        mean, error = measured.curve(name, measure)
        _, _, label, look = PREDICTORS[name]
        shift = 0 if name == "truth" else shift - 1.5
        axes.errorbar(measured.lengths * 1.08 ** shift, mean, yerr=error, markersize=3,
                      linewidth=0.9, label=label, **look)


# ---- claims -------------------------------------------------------------------------------------
def star_is(share, code):
    def measured_(measured):
        found = measured.limits[share]
        return f"{found['S_star']}, ahead by {abs(limit_lead(found)):.4f}", found["S_star"] == code

    return measured_


def parents_know_more(measured):
    found = measured.limits[TRAINED]
    values = dict(zip(found["subsets"], found["standard"]))
    return f"{values[BOTH]:.4f} and {values[ONE]:.4f}", values[BOTH] > values[ONE]


def selected(measured):
    least = min(run.p(run.stage(1), ONE)[-1] for run in measured.runs)
    return f"p_{ONE} at least {least:.6f}", least > 0.99


def same_winner(measured):
    undecided, wrong = 0, 0
    for share, (leads, errors) in measured.leads.items():
        limit = limit_lead(measured.limits[share])
        decided = np.abs(leads) > SIGMAS * errors
        undecided += (~decided).sum()
        wrong += (decided & (np.sign(leads) != np.sign(limit))).sum()
    total = len(measured.leads) * len(measured.lengths)
    return f"{wrong} of {total} otherwise, {undecided} undecided", not wrong and not undecided


def pair_wins(measured):
    mean, error = (part[-1] for part in measured.parents_less_model("squared"))
    return f"{mean:+.5f} +- {error:.5f}", mean < -SIGMAS * error


def pair_loses(measured):
    mean, error = (part[0] for part in measured.parents_less_model("squared"))
    return f"{mean:+.5f} +- {error:.5f}", mean > SIGMAS * error


def bayes_best(measured):
    ratios = [test["star"]["differences"][name]["squared"] for test in measured.tests
              for name in ("model", "gih")]
    worst = max(value["mean"] / value["error"] for value in ratios)
    return f"better by at least {-worst:.0f} paired standard errors", worst < -SIGMAS


def stuck(measured):
    """The distance between the laws given lag 2 and given both lags stays."""
    mean, error = measured.curve("model", "squared")
    change = mean[-1] / mean[-2] - 1
    return f"{100 * change:+.0f} % over the last step of L", abs(change) < 0.1


CLAIMS = (
    Claim("share 0.3: S* is {2}, not the parents", star_is(0.3, ONE)),
    Claim("share 0.55: S* is {2}", star_is(0.55, ONE)),
    Claim("share 0.8: S* is {1,2}", star_is(0.8, BOTH)),
    Claim("share 0.3: the parents have more standard information", parents_know_more),
    Claim("g_1 prefers the same set at every L as at L = inf, by more than 3 standard errors",
          same_winner),
    Claim("share 0.3: training selects {2} at every L", selected),
    Claim("at the smallest L the induction head on the parents is farther from the true law than the "
          "transformer, by more than 3 paired standard errors", pair_loses),
    Claim("at the largest L it is nearer, by more than 3", pair_wins),
    Claim("the transformer's squared distance comes to rest, within 10 %", stuck),
    Claim("Bayes is nearer than the transformer and the induction head on {2} at every L, by more than 3",
          bayes_best),
)


def numbers(measured):
    lines = ["squared distance to the true law (b), loss (c), and the induction head on the parents less the "
             "transformer, paired", "     L" + "".join(f"{name:>21}" for name in
             ("model", "gih {2}", "gih {1,2}", "bayes", "loss, model", "loss, gih {1,2}",
              "squared, paired", "loss, paired"))]
    columns = [measured.curve(name, "squared") for name in ("model", "one", "both", "bayes")]
    columns += [measured.curve(name, "risk") for name in ("model", "both")]
    columns += [measured.parents_less_model(measure) for measure in ("squared", "risk")]
    for row, length in enumerate(measured.lengths):
        lines.append(f"{length:6}" + "".join(f"{mean[row]:>10.5f} +- {error[row]:.5f}"
                                             for mean, error in columns))
    lines.append("g_1({2}) - g_1({1,2}) by share of lag 1")
    for share, (leads, errors) in measured.leads.items():
        cells = "".join(f"{lead:>10.5f} +- {error:.5f}" for lead, error in zip(leads, errors))
        lines.append(f"{share:6}{cells}   inf {limit_lead(measured.limits[share]):.5f}")
    return "\n".join(lines) + "\n"


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "partial")
    (folder / "numbers.txt").write_text(numbers(measured))
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
