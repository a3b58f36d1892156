"""One parent: the classical induction head, from RESULTS_FOLDER/lag*_degree*_seed*.h5.

(a) what p of {r} lacks over stage 1, (b) the attention of head r on lag r over stage 2, (c) a over
stage 3, for a parent at lag r; (d) the heads' weights at the end. Needs what
experiments/one_parent/after.sh measures. Writes one_parent.png, one_parent.pdf and verdict.txt, and
prints the verdicts.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

LAGS = (1, 2, 3)
SHOWN = 1  # seed whose weights are drawn

# Not from theory: how much counts as "on" one subset or one lag, as in fig3 and fig9.
SETTLED = 0.99

DOTTED = (0, (1, 1.2))


class Trained(runfile.Run):
    """The run of one lag, degree and seed."""

    def __init__(self, path):
        super().__init__(path)
        found = re.fullmatch(r"lag(\d+)_degree(\d+)_seed(\d+)", self.name)
        if not found:
            raise runfile.RunFileError(f"{path}: not named lag*_degree*_seed*")
        self.lag, self.degree, self.seed = map(int, found.groups())

    @property
    def parent(self):
        """The code of {r}."""
        return "".join("1" if lag == self.lag else "0" for lag in LAGS)

    def own(self, rows):
        """sigma^(r)_-r."""
        w = rows.w[:, self.lag - 1]
        weights = np.exp(w - w.max(-1, keepdims=True))
        return weights[:, self.lag - 1] / weights.sum(-1)


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "one_parent"

    def __init__(self, folder):
        self.runs = [Trained(run.path) for run in runfile.read_runs(folder, "lag*")]


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure = plt.figure(figsize=(style.WIDTH, 0.78 * style.WIDTH))
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    panels = top.subplots(1, 3)
    for axes in panels:
        axes.set_xscale("log")
    panels[0].set_title(r"(a) stage 1: $1 - p_{\{r\}}$")
    panels[0].set_yscale("log")
    panels[0].set_ylim(1e-14, 1.5)
    panels[1].set_title(r"(b) stage 2: $\sigma^{(r)}_{-r}$")
    panels[2].set_title("(c) stage 3: $a$")
    for run in measured.runs:
        rest = 1 - run.p(run.stage(1), run.parent)
        seen = rest > 1e-14
        draw_curve(panels[0], run, run.stage(1).time[seen], rest[seen])
        draw_curve(panels[1], run, run.stage(2).time, run.own(run.stage(2)))
        draw_curve(panels[2], run, run.stage(3).time, run.stage(3).a)
    panels[0].set_xlim(0.05, 5)
    panels[1].set_xlim(left=10)
    panels[2].set_xlim(left=0.1)
    for axes, stage in zip(panels, (1, 2, 3)):
        axes.set_xlabel(f"time of stage {stage}")
    panels[0].legend(loc="lower left")
    panels[2].plot([], [], color=style.GREY, label="degree 1")
    panels[2].plot([], [], color=style.GREY, linestyle=DOTTED, label="degree 2")
    panels[2].legend(loc="lower right")
    ends = [run for run in measured.runs if run.seed == SHOWN and run.degree == 1]
    limit = max(np.abs(run.last["w"]).max() for run in ends)
    for axes, run in zip(bottom.subplots(1, len(ends)), ends):
        style.draw_weights(axes, run.last["w"], limit, f"(d) $w$ in the end, parent {run.lag}")
        axes.set_ylabel("lag")
    return figure


def draw_curve(axes, run, x, y):
    """A line a seed; degree 2 is dotted, and hidden where it does not differ from degree 1."""
    first = run.degree == 1 and run.seed == 1
    look = {"color": style.subset_style(run.parent)["color"], "zorder": 2 + run.degree,
            "label": f"$r = {run.lag}$" if first else None}
    if run.degree == 1:
        axes.plot(x, y, linewidth=1.8, **look)
    else:
        axes.plot(x, y, linewidth=1.1, linestyle=DOTTED, **look)


# ---- claims -------------------------------------------------------------------------------------
def of_lags(value, good):
    """Least to greatest value over the runs of each lag; whether it is good in every run."""
    def measured(found):
        shown, holds = [], True
        for lag in LAGS:
            values = [value(run) for run in found.runs if run.lag == lag]
            if not values:
                raise NotReached
            ends = sorted({f"{end:.4f}" for end in (min(values), max(values))})
            shown.append(f"r = {lag} {' to '.join(ends)}")
            holds = holds and all(map(good, values))
        return ", ".join(shown), holds

    return measured


def star_is_the_parent(found):
    """S* is the subset of the largest p, as the check `selected` has it, and beyond doubt."""
    if any(name not in run.checks for run in found.runs for name in ("S*", "selected")):
        raise NotReached
    held = sum(run.subsets[np.argmax(run.stage(1).p[-1])] == run.parent
               and run.checks["S*"].verdict == run.checks["selected"].verdict == "PASS"
               for run in found.runs)
    return f"in {held} of {len(found.runs)} runs", held == len(found.runs)


def checked(name):
    """A check of the program, in every run."""
    def measured(found):
        if any(name not in run.checks for run in found.runs):
            raise NotReached
        held = sum(run.checks[name].verdict == "PASS" for run in found.runs)
        return f"in {held} of {len(found.runs)} runs", held == len(found.runs)

    return measured


def settled(value):
    return of_lags(value, lambda share: share > SETTLED)


CLAIMS = (
    Claim("S* is {r}, ahead by over 3 standard errors of its lead", star_is_the_parent),
    Claim("stage 1: p_{r} > 0.99 at the end",
          settled(lambda run: run.p(run.stage(1), run.parent)[-1])),
    Claim("stage 2: the weight of head r on lag r rises", checked("E.2")),
    Claim("stage 2: head r attends to lag r with weight over 0.99 at the end",
          settled(lambda run: run.own(run.stage(2))[-1])),
    Claim("stage 3: a rises", checked("III.rises")),
    Claim("in the end the prediction is the induction head's within the bound of Lemma E.6",
          checked("E.6")),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "one_parent")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
