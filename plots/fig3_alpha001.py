"""Figure 3 with concentration 0.01, from RESULTS_FOLDER/diagonal3.h5 and diagonal4.h5.

One column a run: p_S over stage 1, RPE weights after stage 2, a over stage 3. The initial diagonal
of the RPE weights decides which subset stage 1 selects. Writes fig3_alpha001.png, fig3_alpha001.pdf
and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

def draw(runs):
    figure = plt.figure(figsize=(style.WIDTH, 0.95 * style.WIDTH))
    grid = figure.subplots(3, len(runs) + 1, width_ratios=(*[1] * len(runs), 0.2),
                           height_ratios=(1.15, 1.1, 1), sharey="row")
    for axes in grid[:, -1]:
        axes.set_axis_off()
    draw_selection(grid[0], runs)
    draw_copying(grid[1], runs)
    draw_growth(grid[2], runs)
    return figure


def draw_selection(panels, runs):
    panels[0].set_ylabel("$p_S$")
    for axes, run in zip(panels, runs):
        rows = run.stage(1)
        axes.set_title(f"initial diagonal of $w$: {run.first['w'][0, 0]:g}")
        if not len(rows):
            style.absent(axes, "stage 1 not reached")
            continue
        style.draw_p(axes, rows.step, rows.p, run.subsets)
        axes.set_xlabel("epoch of stage 1")
    style.subset_legend(panels[0], runs[0].subsets, panels[-1], loc="center left")


def draw_copying(panels, runs):
    ends = [run.stage(2).w[-1] if len(run.stage(2)) else None for run in runs]
    limit = max((np.abs(w).max() for w in ends if w is not None), default=1)
    panels[0].set_ylabel("lag")
    for axes, run, w in zip(panels, runs, ends):
        if w is None:
            style.absent(axes, "stage 2 not reached")
            continue
        style.draw_weights(axes, w, limit, f"$w$ after {run.stage(2).step[-1]:,} epochs of stage 2")
    bar = panels[-1].inset_axes((0, 0.05, 0.2, 0.9))
    panels[-1].figure.colorbar(style.weight_colours(limit), cax=bar, label="weight")


def draw_growth(panels, runs):
    panels[0].set_ylabel("$a$")
    for axes, run in zip(panels, runs):
        rows = run.stage(3)
        if not len(rows):
            style.absent(axes, "stage 3 not reached")
            continue
        axes.plot(rows.step, rows.a, color=style.FIRST)
        axes.set_ylim(0)
        axes.set_xlabel("epoch of stage 3")
        style.log_epochs(axes, rows.step[-1])


def selects(name, code):
    def measured(run):
        p = run.p(run.stage(1), code)
        if not len(p) or not len(run.stage(2)):
            raise NotReached
        return f"{p[-1]:.6f}", p[-1] > 0.99

    return Claim(f"{name}, end of stage 1: p_{code} > 0.99", measured, only=name)


CLAIMS = (selects("diagonal3", "001"), selects("diagonal4", "110"))


def make(folder):
    runs = [runfile.Run(folder / f"{claim.only}.h5") for claim in CLAIMS]
    style.save(draw(runs), folder, "fig3_alpha001")
    return report(CLAIMS, runs, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
