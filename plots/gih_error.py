"""How near the trained transformer comes to the generalised induction head, from RESULTS_FOLDER/length*.h5
and distance_*.json.

(a) 1 - p_S* at the end of stage 1, (b) 1 - prod (sigma^(h)_-h)^2 at the end of stage 2, (c) the mean
||y - GIH||_1 after stage 3, where a = (log L)/8, all against L; (d) the slopes of (c). The line in (c)
and (d) is the closed form at L = inf, for kernels that are drawn here anew. Writes gih_error.png,
gih_error.pdf, numbers.txt with what is quoted, and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

STAR = "110"
CONDITIONS = ("sizes", "A.1", "A.2", "S*", "a(0)", "3.6", "E.11", "E.26", "eps")  # all but (E.1)
FIT_FROM = 300
FORMULA_LENGTHS = 10 ** np.linspace(1, 30, 117)


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "gih_error"

    def __init__(self, folder):
        self.runs = runfile.read_runs(folder, "length[0-9]*")
        names = [run.name.removeprefix("length") for run in self.runs]
        self.lengths = np.array([float(name) for name in names])
        self.unselected, self.unfocused, self.a = np.transpose([ends(run) for run in self.runs])
        answers = [runfile.read_json(folder / f"distance_{name}.json") for name in names]
        self.distance, self.error = np.transpose(
            [[answer["distances"]["model"][part] for part in ("mean", "error")]
             for answer in answers])
        self.sampling = np.array([2 * answer["measures"]["gih"]["tv"]["mean"] for answer in answers])
        self.formula = closed_form(np.log(self.lengths) / 8)

    def slope(self, values):
        long = self.lengths >= FIT_FROM
        return np.polyfit(np.log(self.lengths[long]), np.log(values[long]), 1)[0]


def ends(run):
    """1 - p_S* after stage 1, from c since it is far below what 1 - p can hold; lack of focus of
    the heads in S* after stage 2; a after stage 3."""
    stages = [run.stage(number) for number in (1, 2, 3)]
    if not all(len(rows) for rows in stages):
        raise runfile.RunFileError(f"{run.path}: not three stages")
    first, second, third = stages
    squares = first.c[-1] ** 2
    others = np.array([code != STAR for code in run.subsets])
    w = second.w[-1]
    focus = np.exp(w) / np.exp(w).sum(1, keepdims=True)
    sharp = np.prod([focus[h, h] ** 2 for h, bit in enumerate(STAR) if bit == "1"])
    return squares[others].sum() / squares.sum(), 1 - sharp, third.a[-1]


def closed_form(a, *, kernels=20000, alpha=0.1, floor=0.1):
    """E sum_X mu(X) r(X; a) ||mu - pi(. | X)||_1 with r = 1/(1 + mu(X)(e^a - 1)) for d = 2, parents 1
    and 2: at L = inf the softmax leaves the weight r on the stationary law of x."""
    draw = np.random.default_rng(1)
    one = floor + (1 - 2 * floor) * draw.beta(alpha, alpha, (kernels, 4))  # pi(1 | X), X = 2 x_-2 + x_-1
    chain = np.zeros((kernels, 4, 4))  # from, to
    for X in range(4):
        chain[:, X, 2 * (X % 2) + 1] = one[:, X]
        chain[:, X, 2 * (X % 2)] = 1 - one[:, X]
    equations = np.swapaxes(chain, 1, 2) - np.eye(4)
    equations[:, -1] = 1  # the sum in place of one equation that follows from the others
    mu = np.linalg.solve(equations, np.broadcast_to(np.eye(4)[-1][:, None], (kernels, 4, 1)))[..., 0]
    apart = 2 * np.abs((mu[:, 1] + mu[:, 3])[:, None] - one)
    return np.array([(mu / (1 + mu * np.expm1(each)) * apart).sum(1).mean() for each in a])


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure, ((first, second), (third, fourth)) = plt.subplots(
        2, 2, figsize=(style.WIDTH, 0.78 * style.WIDTH))
    lengths = measured.lengths
    for axes, values, title in (
            (first, measured.unselected, "(a) end of stage 1: $1 - p_{S^*}$"),
            (second, measured.unfocused,
             r"(b) end of stage 2: $1 - (\sigma^{(1)}_{-1} \sigma^{(2)}_{-2})^2$")):
        axes.set_title(title)
        axes.loglog(lengths, values, "o-", color=style.FIRST, markersize=4,
                    label=f"measured, slope {measured.slope(values):.2f}".replace("-", "\u2212"))
        axes.loglog(lengths, 1 / lengths, color=style.GREY, linestyle=(0, (4, 1.5)),
                    label="promised: $1/L$")
        axes.legend(loc="lower left")
    first.set_yticks([10.0 ** -power for power in (0, 60, 120, 180, 240)])
    first.set_yticks([], minor=True)
    third.set_title(r"(c) end of stage 3: mean $\Vert y - \mathrm{GIH} \Vert_1$, $a = (\log L)/8$")
    long = FORMULA_LENGTHS[FORMULA_LENGTHS <= 1e12]
    third.loglog(long, closed_form(np.log(long) / 8), color=style.SECOND)
    third.loglog(long, measured.formula[-1] * (long / lengths[-1]) ** -0.125, color=style.GREY,
                 linestyle=(0, (4, 1.5)))
    third.errorbar(lengths, measured.distance, yerr=measured.error, color=style.FIRST, marker="o",
                   markersize=4, linestyle="")
    third.loglog(lengths, measured.sampling, "s", color="black", markersize=3, mfc="white")
    for text, at, colour in (("closed form at $L = \\infty$", (1e8, 0.2), style.SECOND),
                             ("slope \u22121/8", (2e5, 0.06), style.GREY),
                             (f"measured, slope {measured.slope(measured.distance):.3f}".replace(
                                 "-", "\u2212"), (2e5, 0.6), style.FIRST),
                             ("GIH to the true law", (1e4, 0.014), "black")):
        third.text(*at, text, color=colour, fontsize=7)
    fourth.set_title("(d) local slope of (c)")
    middle, slopes = local_slopes(FORMULA_LENGTHS)
    fourth.semilogx(middle, slopes, color=style.SECOND, label=r"closed form at $L = \infty$")
    fourth.axhline(-0.125, color=style.GREY, linestyle=(0, (4, 1.5)), label="\u22121/8")
    steps = np.diff(np.log(measured.distance)) / np.diff(np.log(lengths))
    error = np.hypot(measured.error[1:] / measured.distance[1:],
                     measured.error[:-1] / measured.distance[:-1]) / np.diff(np.log(lengths))
    fourth.errorbar(np.sqrt(lengths[1:] * lengths[:-1]), steps, yerr=error, color=style.FIRST,
                    marker="o", markersize=4, linestyle="", label="measured")
    fourth.legend(loc="upper right")
    for axes in (first, second, third, fourth):
        axes.set_xlabel("length $L$")
    return figure


def local_slopes(lengths):
    values = closed_form(np.log(lengths) / 8)
    return (np.sqrt(lengths[1:] * lengths[:-1]),
            np.diff(np.log(values)) / np.diff(np.log(lengths)))


# ---- claims -------------------------------------------------------------------------------------
def conditions_hold(measured):
    verdicts = [[run.checks[name].verdict if name in run.checks else "not checked"
                 for name in CONDITIONS] for run in measured.runs]
    good = sum(all(verdict == "PASS" for verdict in row) for row in verdicts)
    return f"at {good} of {len(verdicts)} lengths", good == len(verdicts)


def promised(values_of):
    def measure(measured):
        worst = (values_of(measured) * measured.lengths).max()
        return f"at most {worst:.2g} / L", worst <= 1

    return measure


def pathwise(measured):
    checks = [run.checks.get("E.6") for run in measured.runs]
    good = sum(check is not None and check.verdict == "PASS" for check in checks)
    return f"at {good} of {len(checks)} lengths", good == len(checks)


def stopped(measured):
    worst = np.abs(measured.a / (np.log(measured.lengths) / 8) - 1).max()
    return f"{100 * worst:.2f} % at most", worst < 0.01


def steep(measured):
    slope = measured.slope(measured.unselected)
    return f"{slope:.1f}", slope <= -1


def focus_slope(measured):
    slope = measured.slope(measured.unfocused)
    return f"{slope:.3f}", abs(slope + 1) <= 0.15


def near_formula(measured):
    apart = measured.distance[-1] / measured.formula[-1] - 1
    return f"{100 * apart:+.1f} % at L = {measured.lengths[-1]:,.0f}", abs(apart) <= 0.05


def formula_slope(measured):
    slope, expected = measured.slope(measured.distance), measured.slope(measured.formula)
    return f"{slope:.4f}, closed form {expected:.4f}", abs(slope - expected) <= 0.02


CLAIMS = (
    Claim("every condition of the theorem but (E.1) holds", conditions_hold),
    Claim("stage 1 ends with 1 - p_S* <= 1/L", promised(lambda measured: measured.unselected)),
    Claim("and falls at least as fast as 1/L: slope -1 or below", steep),
    Claim("stage 2 ends with 1 - prod (sigma^(h)_-h)^2 <= 1/L",
          promised(lambda measured: measured.unfocused)),
    Claim("and falls as 1/L: slope -1 within 0.15", focus_slope),
    Claim("stage 3 ends with a within 1 % of (log L)/8", stopped),
    Claim("||y - GIH||_1 obeys the bound of Lemma E.6 on every prompt", pathwise),
    Claim("its mean at the largest L is the closed form of L = inf within 5 %", near_formula),
    Claim("its slope is that of the closed form within 0.02", formula_slope),
)


def numbers(measured):
    lines = ["     L    1 - p_S*   1 - focus          a     ||y - GIH||_1     closed form   GIH to true law"]
    for row in zip(measured.lengths, measured.unselected, measured.unfocused, measured.a,
                   measured.distance, measured.error, measured.formula, measured.sampling):
        lines.append("{:6.0f} {:11.2e} {:11.2e} {:10.4f} {:9.4f} +- {:.4f} {:15.4f} {:17.4f}".format(*row))
    middle, slopes = local_slopes(FORMULA_LENGTHS)
    for tolerance in (0.025, 0.01, 0.001):
        lines.append(f"the closed form's local slope is -1/8 within {tolerance:g} from "
                     f"L = {middle[np.argmax(slopes <= tolerance - 0.125)]:.1e} on")
    return "\n".join(lines) + "\n"


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "gih_error")
    (folder / "numbers.txt").write_text(numbers(measured))
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
