"""Measured growth rates beside the predicted ones, from RESULTS_FOLDER/*.h5 and *.rates.json.

(a) d/dt log(c_S*/c_S) of stage 1, a point a subset, (b) d/dt log(sigma/(1-sigma)) of the heads of S*
over stage 2, (c) da/dt against a of stage 3, each beside its prediction, for several alpha, d and M;
(d) the error of the prediction of stages 1 and 2 against a(0). Needs what experiments/rates/after.sh
measures. Writes rates.png, rates.pdf and verdict.txt, and prints the verdicts.
"""

import json

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

# Runs from a(0) = 0.001, and those that differ from the first in a(0) alone.
SMALL = {"base": r"$\alpha = 0.3$, $d = 2$, $M = 3$", "alpha0.1": r"$\alpha = 0.1$",
         "alpha1": r"$\alpha = 1$", "d3": "$d = 3$", "d4": "$d = 4$", "M4": "$M = 4$", "M5": "$M = 5$"}
FURTHER = ("a0.01", "a0.1", "a0.5")
STAGES = (1, 2, 3)
FIT_UP_TO = 0.1  # of a(0); beyond, the second order shows

# Not from theory. NEAR is that of the program's own check of f_5 (III.f5), FAR an expectation.
NEAR = 0.01
FAR = 0.05
TOLERANCE = 0.15  # of a slope, as in limit.py

PREDICTED = {"color": "black", "linestyle": (0, (1, 1.5)), "linewidth": 1.1, "zorder": 4}


class Rates:
    """What a run grew: by stage and quantity arrays of `to`, `value`, `measured`, `predicted`,
    `bound`."""

    def __init__(self, folder, name):
        self.name = name
        self.run = runfile.Run(folder / f"{name}.h5")
        path = folder / f"{name}.rates.json"
        self.series = {}
        try:
            for row in json.loads(path.read_text())["rates"]:
                found = self.series.setdefault((row["stage"], row["of"]), {})
                for key in ("to", "value", "measured", "predicted", "bound"):
                    value = np.nan if row[key] is None else row[key]
                    found.setdefault(key, []).append(value)
        except OSError as error:
            raise runfile.RunFileError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise runfile.RunFileError(
                f"{path}: not an answer of gih verify --rates: {error}") from None
        self.series = {of: {key: np.array(column) for key, column in found.items()}
                       for of, found in self.series.items()}

    def of(self, stage):
        found = {of: rows for (number, of), rows in self.series.items() if number == stage}
        if not found:
            raise NotReached
        return found

    def ratios(self, stage):
        return np.concatenate([rows["measured"] / rows["predicted"]
                               for rows in self.of(stage).values()])

    def error(self, stage):
        return np.abs(self.ratios(stage) - 1).max()

    def over_bound(self, stage):
        return min((rows["measured"] / rows["bound"]).min() for rows in self.of(stage).values())


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "rates"

    def __init__(self, folder):
        self.rates = {name: Rates(folder, name) for name in (*SMALL, *FURTHER)}
        self.small = [self.rates[name] for name in SMALL]
        self.by_a = [self.rates[name] for name in ("base", *FURTHER)]
        self.a = np.array([rates.run.first["a"] for rates in self.by_a])

    def errors(self, stage):
        return np.array([rates.error(stage) for rates in self.by_a])


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.84 * style.WIDTH))
    colours = dict(zip(SMALL, style.SERIES))
    draw_selection(panels[0, 0], measured, colours)
    draw_copying(panels[0, 1], measured, colours)
    draw_growing(panels[1, 0], measured, colours)
    draw_errors(panels[1, 1], measured)
    return figure


def draw_selection(axes, measured, colours):
    axes.set_title(r"(a) stage 1: $\frac{d}{dt}\log(c_{S^*}/c_S)$, every $S$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    ends = []
    for rates, marker in zip(measured.small, "osD^vP*"):
        points = np.array([(rows["predicted"].mean(), rows["measured"].mean())
                           for rows in rates.of(1).values()])
        axes.plot(*points.T, marker, color=colours[rates.name], markersize=4, markeredgewidth=0,
                  alpha=0.85, label=SMALL[rates.name])
        ends.extend(points.ravel())
    ends = [min(ends) / 1.3, max(ends) * 1.3]
    axes.plot(ends, ends, **PREDICTED)
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if ends[0] <= tick <= ends[1]]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_xlabel("predicted")
    axes.set_ylabel("measured")
    axes.legend(loc="lower right", handlelength=1, title="dotted: prediction", title_fontsize=7)


def draw_copying(axes, measured, colours):
    axes.set_title(r"(b) stage 2: $\frac{d}{dt}\log\frac{\sigma}{1-\sigma}$, head 1")
    draw_curves(axes, measured, colours, 2, "head 1", "to")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("time of stage 2")


def draw_growing(axes, measured, colours):
    axes.set_title("(c) stage 3: $da/dt$")
    draw_curves(axes, measured, colours, 3, "a", "value")
    axes.set_yscale("log")
    axes.set_xlabel("$a$")


def draw_curves(axes, measured, colours, stage, of, against):
    for rates in measured.small:
        rows = rates.of(stage)[of]
        axes.plot(rows[against], rows["measured"], color=colours[rates.name], linewidth=2.6,
                  alpha=0.8)
        axes.plot(rows[against], rows["predicted"], **PREDICTED)


def draw_errors(axes, measured):
    axes.set_title("(d) largest error of the prediction")
    axes.set_xscale("log")
    axes.set_yscale("log")
    fitted = measured.a <= FIT_UP_TO
    for stage, colour, marker in ((1, style.FIRST, "o"), (2, style.SECOND, "s")):
        errors = measured.errors(stage)
        factor = np.exp(np.mean(np.log(errors[fitted] / measured.a[fitted])))
        axes.plot(measured.a, factor * measured.a, color=colour, linewidth=0.9,
                  linestyle=(0, (4, 1.5)))
        axes.plot(measured.a, errors, marker, color=colour, markersize=4.5,
                  label=f"stage {stage}: slope {slope(measured, stage):.2f}")
    axes.axhline(FAR, color=style.GREY, linewidth=0.8)
    axes.annotate("5 %", (measured.a[0], FAR), xytext=(0, 2), textcoords="offset points",
                  color=style.GREY, fontsize=7)
    axes.set_xlabel("$a(0)$")
    axes.set_ylabel("|measured / predicted \N{MINUS SIGN} 1|")
    axes.legend(loc="lower right", handlelength=1.2)


# ---- claims -------------------------------------------------------------------------------------
def slope(measured, stage):
    fitted = measured.a <= FIT_UP_TO
    return np.polyfit(np.log(measured.a[fitted]), np.log(measured.errors(stage)[fitted]), 1)[0]


def each(runs, text):
    return ", ".join(f"{rates.name} {text(rates)}" for rates in runs)


def near(stage):
    def measured(found):
        return (each(found.small, lambda rates: f"{100 * rates.error(stage):.2g} %"),
                all(rates.error(stage) <= NEAR for rates in found.small))

    return measured


def above_bound(stage):
    def measured(found):
        return (each(found.small, lambda rates: f"{rates.over_bound(stage):.3g} times"),
                all(rates.over_bound(stage) >= 1 for rates in found.small))

    return measured


def first_order(stage):
    def measured(found):
        return f"{slope(found, stage):.3f}", abs(slope(found, stage) - 1) <= TOLERANCE

    return measured


def far(found):
    rates = found.rates["a0.5"]
    shown = []
    for stage in (1, 2):
        ratios = rates.ratios(stage) - 1
        shown.append(f"stage {stage} {100 * ratios.min():+.2f} % to {100 * ratios.max():+.2f} %")
    return ", ".join(shown), all((np.abs(rates.ratios(stage) - 1) > FAR).all() for stage in (1, 2))


def conditions(found):
    """By the checks of verify --run, which lists the conditions last."""
    names = ("sizes", "A.1", "A.2", "S*", "a(0)", "3.6", "E.11", "E.26", "E.1", "eps")

    def text(rates):
        checks = rates.run.checks
        if any(name not in checks for name in names):
            raise NotReached
        others = [f"{name} {checks[name].verdict}" for name in names
                  if checks[name].verdict != "PASS"]
        return f"({', '.join(others)})" if others else "all hold"

    return (each(found.small, text),
            all(rates.run.checks[name].verdict != "FAIL" for rates in found.small
                for name in names))


CLAIMS = (
    Claim("a(0) = 0.001: no condition of the theorem fails (UNDECIDED is named)", conditions),
    Claim("stage 1: log(c_S*/c_S) of every S grows at the predicted rate within 1 %", near(1)),
    Claim("stage 2: the odds of sigma of both heads grow at the predicted rate within 1 %", near(2)),
    Claim("stage 3: a grows at the predicted rate f_5(a) within 1 %", near(3)),
    Claim("stage 1: no rate is below the theorem's bound (E.12)", above_bound(1)),
    Claim("stage 2: no rate is below the theorem's bound (Prop. E.3)", above_bound(2)),
    Claim("stage 1: up to a(0) = 0.1 the error has slope 1 in a(0) within 0.15", first_order(1)),
    Claim("stage 2: up to a(0) = 0.1 the error has slope 1 in a(0) within 0.15", first_order(2)),
    Claim("a(0) = 0.5: the rates of stages 1 and 2 are off by over 5 %, each of them", far),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "rates")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
