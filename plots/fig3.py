"""Figure 3: three stages of training, from RESULTS_FOLDER/seed*.h5.

(a) p_S over stage 1 for every subset S, (b) RPE weights before and after stage 2, (c) a over
stage 3, (d) losses over the three stages. Curves are those of the first run, bands around them the
range over all runs. Writes fig3.png, fig3.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

import runfile
import style
from verdict import Claim, NotReached, at_step, report


# ---- the figure ---------------------------------------------------------------------------------
def draw(runs):
    figure = plt.figure(figsize=(style.WIDTH, 0.82 * style.WIDTH))
    left, right = figure.subfigures(1, 2, width_ratios=(1.05, 1))
    selection, growth = left.subplots(2, 1)
    copying, losses = right.subfigures(2, 1)
    draw_selection(selection, runs)
    draw_copying(copying, runs)
    draw_growth(growth, runs)
    draw_losses(losses, runs)
    return figure


def draw_selection(axes, runs):
    axes.set_title("(a) stage 1: subsets" +
                   (f" ({runs[0].name}; bands: all {len(runs)} runs)" if len(runs) > 1 else ""))
    rows = runs[0].stage(1)
    if not len(rows):
        return style.absent(axes, "stage 1 not reached")
    axes.set_ylabel("$p_S$")
    style.draw_p(axes, rows.step, rows.p, runs[0].subsets)
    for index, code in enumerate(runs[0].subsets):
        draw_band(axes, runs, 1, lambda rows: rows.p[:, index], style.subset_style(code)["color"])
    axes.set_xlabel("epoch of stage 1")
    style.subset_legend(axes, runs[0].subsets, loc="center right")


def draw_copying(figure, runs):
    rows = runs[0].stage(2)
    before, after = figure.subplots(1, 2, sharey=True)
    if not len(rows):
        before.set_title("(b) stage 2: RPE weights")
        style.absent(after, "")
        return style.absent(before, "stage 2 not reached")
    limit = np.abs(rows.w[[0, -1]]).max()
    style.draw_weights(before, rows.w[0], limit, "(b) stage 2: epoch 0")
    style.draw_weights(after, rows.w[-1], limit, f"epoch {rows.step[-1]:,}")
    before.set_ylabel("lag")
    figure.colorbar(style.weight_colours(limit), ax=[before, after], location="bottom", shrink=0.7,
                    aspect=30, pad=0.08, label="weight $w^{(h)}$ at the lag")
    for axes in (before, after):
        axes.set_anchor("N")


def draw_growth(axes, runs):
    axes.set_title("(c) stage 3: $a$")
    rows = runs[0].stage(3)
    if not len(rows):
        return style.absent(axes, "stage 3 not reached")
    axes.set_xlabel("epoch of stage 3")
    axes.set_ylabel("$a$")
    inset = axes.inset_axes((0.42, 0.2, 0.55, 0.46))
    inset.set_title("same, logarithmic epochs", fontsize=7)
    for each in (axes, inset):
        each.plot(rows.step, rows.a, color=style.FIRST)
        draw_band(each, runs, 3, lambda rows: rows.a, style.FIRST)
        each.set_ylim(0)
    axes.set_xlim(0, rows.step[-1])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    inset.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    style.log_epochs(inset, rows.step[-1])


def draw_losses(figure, runs):
    panels = figure.subplots(1, 3, sharey=True)
    figure.supxlabel("epoch of the stage", fontsize=8)
    panels[0].set_ylabel("loss")
    for number, axes in enumerate(panels, 1):
        axes.set_title(f"(d) stage {number}" if number == 1 else f"stage {number}")
        rows = runs[0].stage(number)
        if not len(rows):
            style.absent(axes, "not\nreached")
            continue
        axes.plot(rows.step, rows.train_loss, color=style.FIRST, label="train")
        axes.plot(rows.step, rows.validation_loss, color=style.SECOND, linestyle=(0, (4, 1.5)),
                  label="validation")
        draw_band(axes, runs, number, lambda rows: rows.train_loss, style.FIRST)
        draw_band(axes, runs, number, lambda rows: rows.validation_loss, style.SECOND)
        style.log_epochs(axes, rows.step[-1])
        for label in axes.get_xticklabels()[1::2]:
            label.set_visible(False)
    panels[0].legend(handlelength=1.4, borderaxespad=0.2)


def draw_band(axes, runs, number, values, colour):
    """The range of a quantity over the runs, when they log the same steps of the stage."""
    rows = [run.stage(number) for run in runs]
    if all(np.array_equal(rows[0].step, other.step) for other in rows):
        stacked = np.array([values(other) for other in rows])
        axes.fill_between(rows[0].step, stacked.min(0), stacked.max(0), color=colour, alpha=0.2,
                          linewidth=0)


# ---- the claims ---------------------------------------------------------------------------------
def selected(step, bound):
    def measured(run):
        rows = run.stage(1)
        p = run.p(rows, "110")
        done = rows.step <= step
        if not len(p) or rows.step[-1] < step:
            raise NotReached
        value = p[done][-1]  # the nearest logged epoch at or before
        return f"{value:.6f}", value > bound

    return Claim(f"stage 1: p_110 > {bound} after {step} epochs", measured)


def weights(run):
    """w at the beginning and the end of a finished stage 2."""
    rows = run.stage(2)
    if not len(rows) or not len(run.stage(3)) or rows.w.shape[1:] != (3, 3):
        raise NotReached
    return rows.w[0], rows.w[-1]


def copies(head, expected):
    def measured(run):
        w = weights(run)[1][head - 1]
        return (" ".join(f"{entry:.2f}" for entry in w),
                np.abs(w - expected).max() <= 0.4)

    shown = ", ".join(f"{entry:.1f}" for entry in expected)
    return Claim(f"stage 2: w^({head}) ends within 0.4 of ({shown})", measured)


def unmoved(head, bound):
    def measured(run):
        before, after = weights(run)
        moved = np.abs(after - before)[head - 1].max()
        return f"{moved:.1e}", moved <= bound

    return Claim(f"stage 2: w^({head}) moves by at most {bound}", measured)


def grown(step, expected):
    def measured(run):
        rows = run.stage(3)
        value = at_step(rows, step, rows.a)
        return f"{value:.2f}", abs(value / expected - 1) <= 0.15

    return Claim(f"stage 3: a within 15 % of {expected} at epoch {step}", measured)


# The two regimes of growth: a first rises in proportion to the epoch, then to its logarithm. A
# single power of the epoch, a logarithm from the start, or a plateau each fails one of the three.
def rises_fast(run):
    rows = run.stage(3)
    first = at_step(rows, 1, rows.a) - at_step(rows, 0, rows.a)
    tenth = at_step(rows, 10, rows.a) - at_step(rows, 0, rows.a)
    return f"{tenth / (10 * first):.2f}", tenth > 0.75 * 10 * first > 0


def slows_down(run):
    rows = run.stage(3)
    last = rows.step[-1] if len(rows) else 0
    early = (at_step(rows, 10, rows.a) - at_step(rows, 0, rows.a)) / 10
    late = (rows.a[-1] - at_step(rows, 0.9 * last, rows.a)) / (0.1 * last)
    return f"{early:.2g} and {late:.2g}", early > 100 * late > 0


def rises_slowly(run):
    rows = run.stage(3)
    if not len(rows) or rows.step[-1] < 1000:
        raise NotReached
    decade = rows.step >= 0.1 * rows.step[-1]
    x, a = np.log(rows.step[decade]), rows.a[decade]
    slope = np.polyfit(x, a, 1)[0]
    straight = np.corrcoef(x, a)[0, 1] ** 2
    return f"slope {slope:.2f}, R^2 {straight:.4f}", slope > 0.1 and straight > 0.99


CLAIMS = (
    selected(20, 0.99),
    selected(200, 0.9999),
    copies(1, (4.8, -1.0, -0.8)),
    copies(2, (-0.9, 5.0, -1.0)),
    unmoved(3, 1e-2),
    grown(50, 3.9),
    grown(500, 6.7),
    grown(5000, 9.0),
    Claim("stage 3: over ten epochs a keeps more than 0.75 of its first rate", rises_fast),
    Claim("stage 3: a's rate in the first ten epochs is over 100 times that in the last tenth",
          slows_down),
    Claim("stage 3: over the last decade of epochs a is straight in their logarithm, R^2 > 0.99",
          rises_slowly),
)


def make(folder):
    runs = runfile.read_runs(folder, "seed*")
    style.save(draw(runs), folder, "fig3")
    return report(CLAIMS, runs, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
