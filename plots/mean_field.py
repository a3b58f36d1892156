"""The mean-field dynamics, gradient flow at L = inf, under the flow at finite L, from the runs of
RESULTS_FOLDER/flow/.

(a) p of the parents in stage 1, (b) attention of heads 1 and 2 on their own lags in stage 2, (c) a in
stage 3: mean and range over seeds for each length, and L = inf as the line over them. (d) the largest
distance to L = inf along each stage, same kernels, over the length.
Writes mean_field.png, mean_field.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

PARENTS = "110"
# Measured with eps = L^-1/2, the error of the loss itself; of longer prompts the distance comes from
# the one query that each kernel is asked, and falls with their number only.
SLOPE, TOLERANCE, FIT_TO = -0.5, 0.15, 1600
# Of the program's own check of C_D: ten times the tolerance of a step.
DRIFT = 10


class Flow(runfile.Run):
    """One run; curves: by stage, its times and a quantity of it over them."""

    def __init__(self, path):
        super().__init__(path)
        self.length = float(self.config["data.length"])
        self.seed = int(self.config["data.seed"])
        if self.stages != [1, 2, 3]:
            raise runfile.RunFileError(f"{path}: not the three stages of a flow")
        rows = {number: self.stage(number) for number in (1, 2, 3)}
        self.curves = {1: (rows[1].time, self.p(rows[1], PARENTS)),
                       2: (rows[2].time, own(rows[2].w).mean(1)),
                       3: (rows[3].time, rows[3].a)}
        self.loss_rise = max(np.diff(part.train_loss).max() for part in rows.values())
        C_D = (rows[1].c ** 2).sum(1)
        self.drift = np.abs(C_D / C_D[0] - 1).max()
        self.tolerance = float(self.config["stage.1.tolerance"])

    def distance(self, other, stage):
        (times, here), (others, there) = self.curves[stage], other.curves[stage]
        if len(times) != len(others) or (times != others).any():
            raise runfile.RunFileError(f"{self.path}: rows at other times than {other.path}")
        return np.abs(here - there).max()


def own(w):
    """sigma^(h)_-h of heads 1 and 2, rows x 2."""
    weights = np.exp(w - w.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True))[:, (0, 1), (0, 1)]


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "mean_field"

    def __init__(self, folder):
        runs = [Flow(folder / "flow" / run.path.name) for run in runfile.read_runs(folder / "flow", "*")]
        self.runs = {(run.length, run.seed): run for run in runs}
        self.lengths = sorted({run.length for run in runs} - {np.inf})
        self.seeds = sorted({run.seed for run in runs})
        wanted = {(length, seed) for length in (*self.lengths, np.inf) for seed in self.seeds}
        if set(self.runs) != wanted or not self.lengths:
            raise runfile.RunFileError(f"{folder / 'flow'}: not every length and L = inf for each seed")

    def of(self, length):
        return [self.runs[length, seed] for seed in self.seeds]

    def distances(self, stage):
        """Lengths x seeds."""
        return np.array([[run.distance(self.runs[np.inf, run.seed], stage) for run in self.of(length)]
                         for length in self.lengths])

    def slope(self, stage):
        lengths = np.array(self.lengths)
        fitted = lengths <= FIT_TO
        if fitted.sum() < 3:
            raise NotReached
        mean = self.distances(stage).mean(1)[fitted]
        return np.polyfit(np.log(lengths[fitted]), np.log(mean), 1)[0]


# ---- the figure ---------------------------------------------------------------------------------
STAGES = {1: f"$p_S$ of the parents, {PARENTS}", 2: r"$\sigma^{(h)}_{-h}$, mean of heads 1 and 2",
          3: "$a$"}
MARKERS = "osD"


def draw(measured):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.8 * style.WIDTH))
    for axes, (stage, what), letter in zip(panels.flat, STAGES.items(), "abc"):
        draw_stage(axes, measured, stage)
        axes.set_title(f"({letter}) stage {stage}: {what}")
    panels[0, 0].legend(loc="lower right", title=f"{len(measured.seeds)} seeds: mean and range",
                        title_fontsize=7)
    panels[0, 0].set_ylim(0, 1.05)
    draw_distances(panels[1, 1], measured)
    return figure


def draw_stage(axes, measured, stage):
    colours = plt.get_cmap("viridis")(np.linspace(0.9, 0.3, len(measured.lengths)))
    for length, colour in zip(measured.lengths, colours):
        draw_band(axes, measured.of(length), stage, f"$L$ = {length:,.0f}", color=colour)
    draw_band(axes, measured.of(np.inf), stage, r"$L = \infty$", color="black",
              linestyle=(0, (4, 1.5)))
    last = measured.of(np.inf)[0].curves[stage][0][-1]
    axes.set_xscale("log")
    axes.set_xlim(last * 1e-5, last / (20 if stage == 1 else 1))
    axes.set_xlabel(f"flow time in stage {stage}")


def draw_band(axes, runs, stage, label, **keywords):
    times = runs[0].curves[stage][0][1:]
    values = np.array([run.curves[stage][1][1:] for run in runs])
    axes.plot(times, values.mean(0), label=label, zorder=3, **keywords)
    axes.fill_between(times, values.min(0), values.max(0), alpha=0.25, linewidth=0,
                      color=keywords["color"])


def draw_distances(axes, measured):
    lengths = np.array(measured.lengths)
    for stage, colour, marker in zip(STAGES, (style.FIRST, style.SECOND, style.SERIES[4]), MARKERS):
        found = measured.distances(stage)
        mean = found.mean(1)
        label = (f"({'abc'[stage - 1]}): slope {measured.slope(stage):.2f}").replace("-", "\u2212")
        axes.plot(np.repeat(lengths, found.shape[1]), found.ravel(), marker, color=colour,
                  markersize=3, alpha=0.5)
        axes.plot(lengths, mean, color=colour, label=label)
        axes.plot(lengths, mean[0] * (lengths / lengths[0]) ** SLOPE, color=colour, linewidth=0.8,
                  linestyle=(0, (1, 1.2)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(lengths, [f"{length:,.0f}" for length in lengths])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=axes.get_ylim()[0] / 20)
    axes.set_xlabel("length $L$")
    axes.set_title(r"(d) largest distance to $L = \infty$; dotted: $L^{-1/2}$")
    axes.legend(loc="lower left")


# ---- claims -------------------------------------------------------------------------------------
def every_run(statement, value, holds, text):
    def measured(found):
        values = [value(run) for run in found.runs.values()]
        return text(values), all(holds(run, got) for run, got in zip(found.runs.values(), values))

    return Claim(statement, measured)


def has_slope(stage, what):
    def measured(found):
        slope = found.slope(stage)
        return f"{slope:.3f}", abs(slope - SLOPE) <= TOLERANCE

    return Claim(f"stage {stage}: from L = 100 to {FIT_TO:,} the distance of {what} to L = inf has "
                 f"slope -1/2 within {TOLERANCE}", measured)


CLAIMS = (
    every_run(f"stage 1 selects {PARENTS} at every length and at L = inf, p > 0.99",
              lambda run: run.curves[1][1][-1], lambda run, p: p > 0.99,
              lambda values: f"p at least {min(values):.6f}"),
    has_slope(1, "p"),
    has_slope(2, "sigma"),
    has_slope(3, "a"),
    every_run("C_D is conserved to ten times the tolerance in stage 1", lambda run: run.drift,
              lambda run, drift: drift <= DRIFT * run.tolerance,
              lambda values: f"at most {max(values):.1e}"),
    every_run("the loss never rises", lambda run: run.loss_rise, lambda run, rise: rise <= 1e-12,
              lambda values: f"largest step {max(values):+.1e}"),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "mean_field")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
