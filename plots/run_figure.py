"""A figure of any one run: losses, p_S and a over each of its stages, w at both ends and c at the end."""

import matplotlib.pyplot as plt
import numpy as np

import fig9
import style

BARS = 16  # more subsets cannot be named beside each other


def draw(run):
    """That of Figure 9 for a run that trained nothing."""
    if not run.stages:
        return fig9.draw(run)
    width = max(style.WIDTH, 0.9 * len(run.stages))
    figure = plt.figure(figsize=(width, 1.02 * style.WIDTH))
    curves, ends = figure.subfigures(2, 1, height_ratios=(2.1, 1))
    grid = curves.subplots(3, len(run.stages) + 1, sharey="row", squeeze=False,
                           width_ratios=(*[1] * len(run.stages), 0.02 + 0.12 * len(run.stages)))
    for axes in grid[:, -1]:
        axes.set_axis_off()
    for number, panels in zip(run.stages, grid.T):
        draw_stage(panels, run, number)
    for axes, name in zip(grid[:, 0], ("loss", "$p_S$", "$a$")):
        axes.set_ylabel(name)
    legend(grid[0, 0], grid[0, -1])
    style.subset_legend(grid[1, 0], run.subsets, grid[1, -1], loc="center left", borderaxespad=0)
    draw_ends(ends, run)
    return figure


def draw_stage(panels, run, number):
    rows = run.stage(number)
    losses, subsets, growth = panels
    trained = run.config.get(f"stage.{number}.train", "")
    losses.set_title(f"stage {number}" + (f": {trained}" if trained else ""))
    flow = run.config.get(f"stage.{number}.method") == "flow"
    x = rows.time if flow else rows.step
    losses.plot(x, rows.train_loss, color=style.FIRST, label="train")
    if np.isfinite(rows.validation_loss).any():
        losses.plot(x, rows.validation_loss, color=style.SECOND, linestyle=(0, (4, 1.5)),
                    label="validation")
    style.draw_p(subsets, x, rows.p, run.subsets)
    growth.plot(x, rows.a, color=style.FIRST)
    growth.set_xlabel("time" if flow else "epoch")
    for axes in panels:
        if flow:
            first = x[x > 0].min(initial=1)
            axes.set_xscale("symlog", linthresh=first)
            axes.set_xlim(0, max(x[-1], first))
        else:
            style.log_epochs(axes, x[-1])
        labels = axes.get_xticklabels()
        for label in labels[1::2] if len(labels) > 4 or len(run.stages) > 3 else ():
            label.set_visible(False)


def legend(axes, place):
    place.legend(*axes.get_legend_handles_labels(), loc="center left", borderaxespad=0)


def draw_ends(figure, run):
    left, right = figure.subfigures(1, 2, width_ratios=(1.5, 1))
    panels = left.subplots(1, 2, sharey=True)
    limit = max(np.abs(run.first["w"]).max(), np.abs(run.last["w"]).max()) or 1
    for axes, w, title in zip(panels, (run.first["w"], run.last["w"]),
                              ("$w$ at the beginning", "$w$ at the end")):
        style.draw_weights(axes, w, limit, title)
        axes.set_anchor("N")
    panels[0].set_ylabel("lag")
    left.colorbar(style.weight_colours(limit), ax=list(panels), location="right", shrink=0.8)
    bars, c = right.subplots(), run.last["c"]
    largest = np.sort(np.argsort(-np.abs(c), kind="stable")[:BARS])
    fig9.draw_bars(bars, c[largest], [run.subsets[index] for index in largest])
    bars.set_title("$c$ at the end" + (f", largest of {len(c)}" if len(c) > BARS else ""))
