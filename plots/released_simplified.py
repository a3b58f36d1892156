"""The authors' published joint run, repeated by their conventions, from RESULTS_FOLDER/seed*.h5.

(a) a, (b) training loss, (c) p_S over all runs, with what was published as points; (d) of each run the
subset that comes second at the end, on a logarithmic scale.
Writes released_simplified.png, released_simplified.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import published
import runfile
import style
from verdict import Claim, NotReached, at_step, report

PUBLISHED = published.SIMPLIFIED
SELECTED = "110"


def draw(runs):
    figure, ((growth, loss), (selection, late)) = plt.subplots(
        2, 2, figsize=(style.WIDTH, 0.72 * style.WIDTH))
    series(growth, runs, lambda rows: rows.a, "a", f"(a) $a$, {len(runs)} runs")
    growth.set_ylabel("$a$")
    growth.set_ylim(0)
    series(loss, runs, lambda rows: rows.train_loss, "loss", "(b) training loss (softmax of logits)")
    loss.set_ylabel("loss [nats]")
    loss.legend(loc="upper right")
    draw_selection(selection, runs)
    draw_late(late, runs)
    return figure


def series(axes, runs, values, name, title):
    axes.set_title(title)
    for run in runs:
        rows = run.stage(1)
        axes.plot(rows.step, values(rows), color=style.FIRST, linewidth=0.8,
                  label="each run" if run is runs[0] else None)
    axes.plot(PUBLISHED["epoch"], PUBLISHED[name], "o", color=style.SECOND, markersize=4,
              label="published", zorder=4, clip_on=False)
    style.log_epochs(axes, runs[0].stage(1).step[-1])
    axes.set_xlabel("epoch")


def draw_selection(axes, runs):
    axes.set_title("(c) subsets: all runs, and published")
    for code in runs[0].subsets:
        look = style.subset_style(code)
        for run in runs:
            rows = run.stage(1)
            axes.plot(rows.step, run.p(rows, code), color=look["color"], linestyle=look["linestyle"],
                      linewidth=0.9, label=code if run is runs[0] else None)
        if f"p_{code}" in PUBLISHED:
            axes.plot(PUBLISHED["epoch"], PUBLISHED[f"p_{code}"], "o", color=look["color"],
                      markersize=4, clip_on=False, zorder=4)
    axes.set_ylim(0, 1)
    axes.set_ylabel("$p_S$")
    axes.set_xlabel("epoch")
    axes.legend(title="subset $S$", title_fontsize=7, loc="center")
    style.log_epochs(axes, runs[0].stage(1).step[-1])


def draw_late(axes, runs):
    axes.set_title("(d) what comes second at the end")
    for run in runs:
        rows = run.stage(1)
        second = np.argsort(rows.p[-1])[-2]
        look = style.subset_style(run.subsets[second])
        axes.plot(rows.step, rows.p[:, second], color=look["color"], linestyle=look["linestyle"],
                  label=f"{run.name}: {run.subsets[second]}")
        back = np.flatnonzero((rows.p[:, second] > 1e-30) & (rows.step > 1000))
        if len(back):
            axes.annotate(run.name.removeprefix("seed"), (rows.step[back[0]], 1e-30), (-7, 0),
                          textcoords="offset points", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(1e-60, 1)
    axes.set_xlim(0, runs[0].stage(1).step[-1])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("$p_S$")
    axes.set_xlabel("epoch")
    axes.legend(loc="lower right")


# ---- the claims ---------------------------------------------------------------------------------
class Seeds:
    """All runs as one thing that claims are about."""

    def __init__(self, runs):
        self.runs = [run.stage(1) for run in runs]
        self.subsets = runs[0].subsets
        self.name = f"{len(runs)} runs"


def selects(seeds):
    leaders = set()
    for rows in seeds.runs:
        if rows.step[-1] < 5000:
            raise NotReached
        within = (rows.step >= 10) & (rows.step <= 5000)
        leaders |= {seeds.subsets[i] for i in rows.p[within].argmax(1)}
    return " ".join(sorted(leaders)), leaders == {SELECTED}


def median_a(epoch, expected):
    def measured(seeds):
        found = np.median([at_step(rows, epoch, rows.a) for rows in seeds.runs])
        off = found / expected - 1
        return f"{found:.4g}, {100 * off:+.1f} %", abs(off) <= 0.05

    return Claim(f"median of a at epoch {epoch:,} within 5 % of the published {expected:.5g}", measured)


def median_loss(epoch, expected):
    def measured(seeds):
        found = np.median([at_step(rows, epoch, rows.train_loss) for rows in seeds.runs])
        return f"{found:.4f}", abs(found - expected) <= 0.005

    return Claim(f"median training loss at epoch {epoch:,} within 0.005 of the published {expected}",
                 measured)


def claims():
    epochs = [int(epoch) for epoch in PUBLISHED["epoch"]]
    return (
        Claim(f"the largest p_S is that of {SELECTED} from epoch 10 to 5,000 in every run", selects),
        *(median_a(epoch, a) for epoch, a in zip(epochs[1:], PUBLISHED["a"][1:])),
        median_loss(epochs[0], PUBLISHED["loss"][0]),
        median_loss(epochs[-1], PUBLISHED["loss"][-1]),
    )


def make(folder):
    runs = runfile.read_runs(folder, "seed*")
    style.save(draw(runs), folder, "released_simplified")
    return report(claims(), [Seeds(runs)], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
