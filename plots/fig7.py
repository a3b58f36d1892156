"""Figure 7: predictors on chains of other concentrations and lengths than those trained on, from
RESULTS_FOLDER/trained.h5, alpha001.h5 and test_ALPHA_LENGTH.json.

fig7: test loss against L, each column one concentration. fig7_proper: distances to the true law, for
which the Bayes predictor is best. Writes both as PNG and PDF, numbers.txt with what is quoted, and
verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

SIGMAS = 3  # a difference of fewer standard errors decides nothing
TRAINED_AT = 100
RIVALS = ("bayes-mixture", "trigram", "gih", "model")  # near to Bayes, seen in differences alone


class Tests:
    """What was measured; all files count as one run. alphas and lengths ascend, at[alpha, L] is one
    document."""

    name = "fig7"

    def __init__(self, folder):
        self.runs = {name: runfile.Run(folder / f"{name}.h5") for name in ("trained", "alpha001")}
        self.at = {}
        for path in folder.glob("test_*.json"):
            _, alpha, length = path.stem.split("_")
            self.at[float(alpha), int(length)] = runfile.read_json(path)
        if not self.at:
            raise runfile.RunFileError(f"{folder}: no test_*.json there")
        self.alphas, self.lengths = (np.array(sorted(set(values))) for values in zip(*self.at))
        missing = [(a, l) for a in self.alphas for l in self.lengths if (a, l) not in self.at]
        if missing:
            raise runfile.RunFileError(f"{folder}: no test at alpha, L = {missing[0]}")

    def curve(self, alpha, predictor, measure, *, document="bayes", kind="measures"):
        """Means and standard errors over the lengths; NaN where infinite, or not defined."""
        found = [self.at[alpha, length][document][kind][predictor].get(measure)
                 for length in self.lengths]
        return tuple(np.array([np.nan if value is None or value[part] is None else value[part]
                               for value in found]) for part in ("mean", "error"))

    def predictors(self):
        return tuple(self.at[self.alphas[0], self.lengths[0]]["bayes"]["measures"])

    def everywhere(self):
        return ((alpha, length, self.at[alpha, length])
                for alpha in self.alphas for length in self.lengths)


# ---- the figures --------------------------------------------------------------------------------
def draw_losses(tests):
    figure, grid = panels(tests, (1.15, 1, 1), 1.05)
    for axes, alpha in zip(grid[0], tests.alphas):
        axes.set_title(rf"$\alpha = {alpha:g}$" + (": as trained" if alpha == 0.1 else ""))
        ends = [draw(axes, tests.lengths, *tests.curve(alpha, name, "risk"), name)
                for name in ("unigram", "bigram", *RIVALS, "bayes", "conditional")]
        ends.append(draw(axes, tests.lengths, *tests.curve(alpha, "model", "risk", document="alpha001"),
                         "model", label=r"trained at $\alpha = 0.01$", linestyle="--", mfc="white"))
    style.label_ends(axes, ends)
    grid[0, 0].set_ylabel("loss")
    for axes, alpha in zip(grid[1], tests.alphas):
        curves = {name: tests.curve(alpha, name, "risk", kind="differences") for name in RIVALS}
        draw_against_bayes(axes, tests, {name: (-mean, error)
                                         for name, (mean, error) in curves.items()})
    grid[1, 0].set_ylabel("loss less that of Bayes,\npaired")
    for axes, alpha in zip(grid[2], tests.alphas):
        ends = []
        for name in ("model", "conditional"):
            label = style.PREDICTORS[name][0]
            ends.append(draw(axes, tests.lengths, *tests.curve(alpha, name, "risk"), name,
                             label=rf"{label}, $\varepsilon = 0.1$"))
            ends.append(draw(axes, tests.lengths,
                             *tests.curve(alpha, name, "risk", document="by_length"), name,
                             label=rf"{label}, $\varepsilon = L^{{-1/2}}$", linestyle="--", mfc="white"))
    style.label_ends(axes, ends)
    grid[2, 0].set_ylabel(r"loss with two $\varepsilon$")
    return figure


def draw_proper(tests):
    figure, grid = panels(tests, (1, 1, 1, 0.8), 1.3)
    absolute = ((0, "squared", "mean squared distance\nto the true law"),
                (3, "kl", "mean KL divergence,\nwhere finite"))
    for row, measure, label in absolute:
        for axes, alpha in zip(grid[row], tests.alphas):
            axes.set_yscale("log")
            curves = {name: tests.curve(alpha, name, measure)
                      for name in ("unigram", "bigram", *RIVALS, "bayes")}
            ends = [draw(axes, tests.lengths, *curve, name, shift=(name == "bayes-mixture") * 1.0)
                    for name, curve in curves.items() if np.isfinite(curve[0]).any()]
        style.label_ends(axes, [end for end in ends if np.isfinite(end[1])])
        grid[row, 0].set_ylabel(label)
    relative = ((1, "squared", "squared distance above\nthat of Bayes, %"),
                (2, "tv", "total variation above\nthat of Bayes, %"))
    for row, measure, label in relative:
        for axes, alpha in zip(grid[row], tests.alphas):
            bayes, _ = tests.curve(alpha, "bayes", measure)
            curves = {name: [part * 100 / bayes for part in
                             tests.curve(alpha, name, measure, kind="differences")]
                      for name in RIVALS}
            draw_against_bayes(axes, tests, {name: (-mean, error)
                                             for name, (mean, error) in curves.items()})
        grid[row, 0].set_ylabel(label)
    for axes, alpha in zip(grid[0], tests.alphas):
        axes.set_title(rf"$\alpha = {alpha:g}$")
    return figure


def draw_against_bayes(axes, tests, curves):
    """Paired differences to the Bayes predictor, which is the line at 0."""
    colour = style.PREDICTORS["bayes"][1]["color"]
    axes.axhline(0, color=colour, linewidth=1)
    ends = [("Bayes, parents known", 0, colour)]
    ends += [draw(axes, tests.lengths, *curve, name, shift=shift - 1.5)
             for shift, (name, curve) in enumerate(curves.items())]
    if axes.get_subplotspec().is_last_col():
        style.label_ends(axes, ends)


def panels(tests, heights, height):
    figure, grid = plt.subplots(len(heights), len(tests.alphas), sharex=True, sharey="row", squeeze=False,
                                figsize=(style.WIDTH, height * style.WIDTH), height_ratios=heights)
    for axes in grid.flat:
        axes.set_xscale("log")
        axes.set_xlim(tests.lengths[0] / 1.25, tests.lengths[-1] * 1.25)
        axes.axvline(TRAINED_AT, color=style.GREY, linewidth=0.6, linestyle=(0, (1, 2)))
    for axes in grid[-1]:
        axes.set_xlabel("length $L$ of the test")
    return figure, grid


def draw(axes, lengths, mean, error, name, *, label=None, shift=0, **keywords):
    """One curve with its standard errors; what label_ends() needs. `shift` moves it sideways."""
    text, look = style.PREDICTORS[name]
    axes.errorbar(lengths * 1.05 ** shift, mean, yerr=error, markersize=3, linewidth=0.9,
                  elinewidth=0.8, clip_on=False, **{**look, **keywords})
    return label or text, mean[-1], look["color"]


# ---- claims -------------------------------------------------------------------------------------
def small_errors(tests):
    worst = max(measures[name]["error"] for _, _, found in tests.everywhere()
                for document in found.values() for measures in document["measures"].values()
                for name in ("loss", "risk"))
    return f"largest {worst:.4f}", worst < 0.005


def bayes_best(measure):
    """Bayes less another predictor, in pairs; only where both are finite."""
    def measured(tests):
        apart = []
        for alpha, length, found in tests.everywhere():
            for document, names in (("bayes", found["bayes"]["differences"]), ("alpha001", ("model",))):
                for name in names:
                    value = found[document]["differences"][name].get(measure)
                    if name != "conditional" and value["mean"] is not None and value["error"] is not None:
                        apart.append((value["mean"] / value["error"],
                                      f"{name} at alpha {alpha:g}, L {length}"))
        worst = max(apart)
        leads = sum(ratio < -SIGMAS for ratio, _ in apart)
        return (f"at worst {worst[0]:+.1f} ({worst[1]}); better by more than {SIGMAS} in {leads} of "
                f"{len(apart)} pairs", worst[0] <= SIGMAS)

    return measured


def change(tests, alpha, length, *, since=TRAINED_AT, document="bayes"):
    """Of the trained model's loss from one length to another: mean, standard error of independent
    samples (the kernels are the same, so it is too large if anything)."""
    mean, error = tests.curve(alpha, "model", "risk", document=document)
    first, last = (list(tests.lengths).index(of) for of in (since, length))
    return mean[last] - mean[first], np.hypot(error[first], error[last])


def falls(tests):
    changes = [change(tests, alpha, 1000, since=10) for alpha in tests.alphas]
    return (", ".join(f"{mean:+.4f} +- {error:.4f}" for mean, error in changes),
            all(mean < -SIGMAS * error for mean, error in changes))


def no_rise(tests):
    changes = [change(tests, 0.2, length) for length in tests.lengths if length > TRAINED_AT]
    return (", ".join(f"{mean:+.4f} +- {error:.4f}" for mean, error in changes),
            all(mean <= SIGMAS * error for mean, error in changes))


def rise_by_length(tests):
    changes = [change(tests, 0.2, length, document="by_length")
               for length in tests.lengths if length > TRAINED_AT]
    return (", ".join(f"{mean:+.4f} +- {error:.4f}" for mean, error in changes),
            changes[0][0] > SIGMAS * changes[0][1])


def gih_beats_short_contexts(tests):
    ratios = []
    for alpha, length, found in tests.everywhere():
        if length >= TRAINED_AT:
            for name in ("unigram", "bigram"):
                value = found["gih"]["differences"][name]["risk"]
                ratios.append(value["mean"] / value["error"])
    return f"by at least {-max(ratios):.0f} paired standard errors", max(ratios) < -SIGMAS


def selected(name, code):
    def measured(tests):
        run = tests.runs[name]
        at = dict(zip(run.subsets, run.last["p"]))[code]
        return f"{at:.6f}", at > 0.99

    return measured


def alpha001_worse(tests):
    least = np.inf
    for alpha in tests.alphas:
        (ours, error), (theirs, their_error) = (tests.curve(alpha, "model", "risk", document=document)
                                                for document in ("bayes", "alpha001"))
        long = tests.lengths >= TRAINED_AT
        least = min(least, ((theirs - ours) / np.hypot(error, their_error))[long].min())
    return f"by at least {least:.0f} standard errors", least > SIGMAS


CLAIMS = (
    Claim("every standard error of a loss is below 0.005", small_errors),
    Claim("no predictor has a mean squared distance below that of Bayes with known parents, "
          f"by more than {SIGMAS} paired standard errors", bayes_best("squared")),
    Claim("the same of the KL divergence, where it is finite", bayes_best("kl")),
    Claim("the trained model has p_110 > 0.99", selected("trained", "110")),
    Claim("its loss falls from L = 10 to 1,000 at every alpha", falls),
    Claim("epsilon 0.1: at alpha = 0.2 the loss nowhere above L = 100 is higher than there",
          no_rise),
    Claim("epsilon L^(-1/2): at alpha = 0.2 the loss is higher at L = 200 than at 100",
          rise_by_length),
    Claim("the GIH beats unigram and bigram from L = 100 on", gih_beats_short_contexts),
    Claim("trained at alpha = 0.01 the model has p_001 > 0.99", selected("alpha001", "001")),
    Claim("and a higher loss than the other one from L = 100 on at every alpha", alpha001_worse),
)


# ---- numbers ------------------------------------------------------------------------------------
def numbers(tests):
    """What the documentation quotes and the figure is too small for."""
    columns = (("transformer", "model", "bayes", "measures", 1), ("eps L^-1/2", "model", "by_length", "measures", 1),
               ("trained at 0.01", "model", "alpha001", "measures", 1), ("gih", "gih", "bayes", "measures", 1),
               ("bayes", "bayes", "bayes", "measures", 1),
               ("transformer - gih", "model", "gih", "differences", -1),
               ("transformer - bayes", "model", "bayes", "differences", -1),
               ("gih - bayes", "gih", "bayes", "differences", -1))
    lines = ["loss (mean over the true law of the next token), standard error; differences are paired",
             "alpha      L" + "".join(f"{title:>22}" for title, *_ in columns)]
    for alpha in tests.alphas:
        found = [tests.curve(alpha, name, "risk", document=document, kind=kind)
                 for _, name, document, kind, _ in columns]
        for row, length in enumerate(tests.lengths):
            cells = (f"{sign * mean[row]:.5f} +- {error[row]:.5f}"
                     for (mean, error), (*_, sign) in zip(found, columns))
            lines.append(f"{alpha:<5g} {length:>6}" + "".join(f"{cell:>22}" for cell in cells))
    _, error = tests.curve(0.2, "model", "loss")
    at = list(tests.lengths).index(TRAINED_AT)
    count = tests.at[0.2, TRAINED_AT]["bayes"]["measures"]["model"]["loss"]["count"]
    lines.append(f"alpha 0.2, L {TRAINED_AT}: standard error of the plain loss over {count:,} sequences "
                 f"{error[at]:.4f}, over 1,000 it would be {error[at] * (count / 1000) ** 0.5:.3f}")
    return "\n".join(lines) + "\n"


def make(folder):
    tests = Tests(folder)
    style.save(draw_losses(tests), folder, "fig7")
    style.save(draw_proper(tests), folder, "fig7_proper")
    (folder / "numbers.txt").write_text(numbers(tests))
    return report(CLAIMS, [tests], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
