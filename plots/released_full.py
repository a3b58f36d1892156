"""The authors' published full models, repeated by their conventions, from RESULTS_FOLDER/epochs*.h5.

One row a published run, over all of our seeds: training loss, p_S of every subset, a, with what was
published as points. Writes released_full.png, released_full.pdf and verdict.txt, and prints the
verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import published
import runfile
import style
from verdict import Claim, at_step, report

PUBLISHED = {"epochs10000": (published.FULL_10000, "$W_V = 0.001\\,I$, rate 0.001"),
             "epochs2500": (published.FULL_2500, "$W_V = I$, rate 0.01")}
GROWING = ("110", "101", "011")


class Seeds:
    """Our runs of one published run, as one thing that claims are about."""

    def __init__(self, name, runs):
        self.facts, self.title = PUBLISHED[name]
        self.runs = runs
        self.name = name if len(runs) == 1 else f"{name}, {len(runs)} seeds"

    def at_end(self, what):
        """Of every seed, a, loss or p_S at the last epoch of the published run."""
        for run in self.runs:
            rows = run.stage(1)
            values = {"a": rows.a, "loss": rows.train_loss}.get(what)
            if values is None:
                values = run.p(rows, what.removeprefix("p_"))
            yield at_step(rows, self.facts["epoch"][-1], values)


def draw(groups):
    figure, grid = plt.subplots(len(groups), 3, figsize=(style.WIDTH, 0.62 * style.WIDTH))
    for panels, group in zip(grid, groups):
        draw_curves(panels[0], group, lambda rows: rows.train_loss, "loss", group.title)
        panels[0].set_ylabel("training loss [nats]")
        draw_subsets(panels[1], group)
        draw_curves(panels[2], group, lambda rows: rows.a, "a", "$a$")
        panels[2].set_ylim(0)
        panels[2].set_ylabel("$a$")
        for axes in panels:
            style.log_epochs(axes, max(run.stage(1).step[-1] for run in group.runs))
            axes.set_xlabel("epoch")
            for label in axes.get_xticklabels()[1::2]:
                label.set_visible(False)
    grid[0, 0].legend(loc="lower left")
    style.subset_legend(grid[0, 1], groups[0].runs[0].subsets, loc="upper left", handlelength=2)
    return figure


def draw_curves(axes, group, values, name, title):
    axes.set_title(title)
    for run in group.runs:
        rows = run.stage(1)
        axes.plot(rows.step, values(rows), color=style.FIRST, linewidth=1.4 / len(group.runs) ** 0.5,
                  label="this program" if run is group.runs[0] else None)
    axes.plot(group.facts["epoch"], group.facts[name], "o", color=style.SECOND, markersize=4,
              label="published", zorder=4, clip_on=False)


def draw_subsets(axes, group):
    axes.set_title("subsets (points: published)")
    for run in group.runs:
        rows = run.stage(1)
        style.draw_p(axes, rows.step, rows.p, run.subsets)
    for code in GROWING:
        axes.plot(group.facts["epoch"], group.facts[f"p_{code}"], "o", markersize=4, zorder=4,
                  color=style.subset_style(code)["color"], clip_on=False)
    axes.set_ylabel("$p_S$")


# ---- the claims ---------------------------------------------------------------------------------
def first_step(group):
    expected = group.facts["first"]

    def measured(_):
        moved = [at_step(run.stage(1), 1, run.stage(1).a) - at_step(run.stage(1), 0, run.stage(1).a)
                 for run in group.runs]
        return (" ".join(f"{step:.4g}" for step in moved),
                max(abs(step / expected - 1) for step in moved) <= 0.02)

    return Claim(f"the first step moves a by the published {expected:g} within 2 %", measured,
                 only=group.name)


def median_end(group, what, band, relative=False):
    expected = group.facts[what][-1]

    def measured(_):
        found = np.median(list(group.at_end(what)))
        off = found / expected - 1 if relative else found - expected
        return f"{found:.4g}", abs(off) <= band

    within = f"{100 * band:g} %" if relative else f"{band:g}"
    return Claim(f"{what} ends within {within} of the published {expected:g}", measured,
                 only=group.name)


def range_at_end(group, what):
    expected = group.facts[what][-1]

    def measured(_):
        found = sorted(group.at_end(what))
        return " ".join(f"{p:.3f}" for p in found), found[0] <= expected <= found[-1]

    return Claim(f"{what}, published {expected:g}, ends within the range of the seeds", measured,
                 only=group.name)


def claims(group):
    subsets = [f"p_{code}" for code in GROWING]
    return (first_step(group), median_end(group, "loss", 0.005),
            median_end(group, "a", 0.05, relative=True),
            *(median_end(group, p, 0.05) if len(group.runs) == 1 else range_at_end(group, p)
              for p in subsets))


def make(folder):
    groups = [Seeds(name, runfile.read_runs(folder, f"{name}*")) for name in PUBLISHED]
    style.save(draw(groups), folder, "released_full")
    return report([claim for group in groups for claim in claims(group)], groups,
                  folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
