"""The authors' published full models, repeated by their conventions, from RESULTS_FOLDER/epochs*.h5.

One row a run: training loss, p_S of every subset, a, with what was published as points. Writes
released_full.png, released_full.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import published
import runfile
import style
from verdict import Claim, at_step, report

RUNS = {"epochs10000": (published.FULL_10000, "$W_V = 0.001\\,I$, rate 0.001"),
        "epochs2500": (published.FULL_2500, "$W_V = I$, rate 0.01")}
GROWING = ("110", "101", "011")


def draw(runs):
    figure, grid = plt.subplots(len(runs), 3, figsize=(style.WIDTH, 0.62 * style.WIDTH))
    for panels, run in zip(grid, runs):
        facts, title = RUNS[run.name]
        rows = run.stage(1)
        draw_curve(panels[0], rows, rows.train_loss, facts, "loss", title)
        panels[0].set_ylabel("training loss [nats]")
        draw_subsets(panels[1], run, rows, facts)
        draw_curve(panels[2], rows, rows.a, facts, "a", "$a$")
        panels[2].set_ylim(0)
        panels[2].set_ylabel("$a$")
        for axes in panels:
            style.log_epochs(axes, rows.step[-1])
            axes.set_xlabel("epoch")
            for label in axes.get_xticklabels()[1::2]:
                label.set_visible(False)
    grid[0, 0].legend(loc="lower left")
    style.subset_legend(grid[0, 1], runs[0].subsets, loc="upper left", handlelength=2)
    return figure


def draw_curve(axes, rows, values, facts, name, title):
    axes.set_title(title)
    axes.plot(rows.step, values, color=style.FIRST, label="this program")
    axes.plot(facts["epoch"], facts[name], "o", color=style.SECOND, markersize=4, label="published",
              zorder=4, clip_on=False)


def draw_subsets(axes, run, rows, facts):
    axes.set_title("subsets (points: published)")
    style.draw_p(axes, rows.step, rows.p, run.subsets)
    for code in GROWING:
        axes.plot(facts["epoch"], facts[f"p_{code}"], "o", color=style.subset_style(code)["color"],
                  markersize=4, zorder=4, clip_on=False)
    axes.set_ylabel("$p_S$")


# ---- the claims ---------------------------------------------------------------------------------
def first_step(name):
    facts = RUNS[name][0]

    def measured(run):
        rows = run.stage(1)
        moved = at_step(rows, 1, rows.a) - at_step(rows, 0, rows.a)
        return f"{moved:.4g}", abs(moved / facts["first"] - 1) <= 0.02

    return Claim(f"the first step moves a by the published {facts['first']:g} within 2 %", measured,
                 only=name)


def end(name, what, band, relative=False):
    facts = RUNS[name][0]
    expected = facts[what][-1]

    def measured(run):
        rows = run.stage(1)
        values = {"a": rows.a, "loss": rows.train_loss}.get(what)
        found = at_step(rows, facts["epoch"][-1],
                        run.p(rows, what.removeprefix("p_")) if values is None else values)
        off = found / expected - 1 if relative else found - expected
        return f"{found:.4g}", abs(off) <= band

    within = f"{100 * band:g} %" if relative else f"{band:g}"
    return Claim(f"{name} ends with {what} within {within} of the published {expected:g}", measured,
                 only=name)


def claims(name):
    return (first_step(name), end(name, "loss", 0.005), end(name, "a", 0.05, relative=True),
            *(end(name, f"p_{code}", 0.05) for code in GROWING))


def make(folder):
    runs = [runfile.Run(folder / f"{name}.h5") for name in RUNS]
    style.save(draw(runs), folder, "released_full")
    return report([claim for name in RUNS for claim in claims(name)], runs, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
