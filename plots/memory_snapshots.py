"""Snapshots of segments of 20 tokens, from RESULTS_FOLDER/local.h5, overlap.h5, spread.h5,
count.h5 and tuned.h5.

(a) Singular values of attention as a map from the queries of all patterns to positions; (b) least squared
error of one snapshot and the last k items as such a map, any weights and softmax, and KL from the
uncompressed answer, over k; (c) KL over the tokens that segments share; (d) over the variation of their
sizes; (e) of snapshots with trained queries over their number; (f) how many segments a query uses.
Writes memory_snapshots.png, memory_snapshots.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import Measured, curve, tick
from verdict import Claim, report

SCALES = {3.0: (style.FIRST, "o"), 8.0: (style.SECOND, "s")}


def draw(found):
    figure, panels = plt.subplots(3, 2, figsize=(style.WIDTH, 1.15 * style.WIDTH))
    axes = panels[0, 0]
    for scale, (colour, marker) in SCALES.items():
        rows = found.local.of(scale=scale, snap_k=0)
        values, errors = ([rows[f"sigma_{j}{ending}"][0] for j in range(1, 10)]
                          for ending in ("", "_error"))
        axes.errorbar(range(1, 10), values, errors, color=colour, marker=marker, markersize=4,
                      elinewidth=0.8, label=f"$a$ = {scale:g}")
    axes.set_yscale("log")
    axes.set_xticks(range(1, 10))
    axes.set_xlabel("singular value")
    axes.set_title("(a) attention from 9 patterns to 198 positions")
    axes.legend()
    axes = panels[0, 1]
    for scale, (colour, marker) in SCALES.items():
        rows = found.local.of(scale=scale)
        curve(axes, rows, "snap-k", "floor_free", f"floor, $a$ = {scale:g}", colour, "",
              linestyle=(0, (4, 1.5)))
        curve(axes, rows, "snap-k", "floor_softmax", "softmax floor", colour, "",
              linestyle=(0, (1, 1.2)))
        curve(axes, rows, "snap-k", "kl_unc", "KL in nats", colour, marker)
    axes.set_xscale("symlog", linthresh=1)
    tick(axes, np.unique(found.local["snap-k"]))
    axes.set_ylim(0, 1.65)
    axes.set_xlabel("local items $k$")
    axes.set_title("(b) of means: KL, and floors of error$^2$")
    axes.legend(ncols=2, loc="upper right", columnspacing=1)
    for axes, table, x, title, label in (
            (panels[1, 0], found.overlap, "snap-overlap", "(c) overlap", "tokens shared $|O|$"),
            (panels[1, 1], found.spread.of(multiplicity="true"), "size_variation",
             "(d) sizes that vary, $\\log n$ added", "Var / mean$^2$ of the sizes"),
            (panels[2, 0], found.count, "snap-count", "(e) trained queries",
             "snapshots $R$ a segment")):
        for scale, (colour, marker) in SCALES.items():
            curve(axes, table.of(scale=scale), x, "kl_unc", f"$a$ = {scale:g}", colour, marker)
        axes.set_ylim(0, 1.25 * table["kl_unc"].max())
        axes.set_xlabel(label)
        axes.set_ylabel("KL in nats")
        axes.set_title(title)
        axes.legend()
    tick(panels[1, 0], np.unique(found.overlap["snap-overlap"]))
    tick(panels[2, 0], np.unique(found.count["snap-count"]))
    axes = panels[2, 1]
    for scale, (colour, marker) in SCALES.items():
        rows = found.local.of(scale=scale)
        curve(axes, rows, "snap-k", "participation", fr"$1/\sum\beta^2$, $a$ = {scale:g}", colour,
              marker)
        curve(axes, rows, "snap-k", "segments_above_0.01", "above 0.01", colour, "",
              linestyle=(0, (1, 1.2)))
    axes.set_xscale("symlog", linthresh=1)
    tick(axes, np.unique(found.local["snap-k"]))
    axes.set_ylim(0, 14)
    axes.set_xlabel("local items $k$")
    axes.set_title("(f) segments that a query attends to, of 10")
    axes.legend(ncols=2, columnspacing=1)
    return figure


def floors_fall(found):
    worst = max(np.diff(found.local.of(scale=scale).sorted("snap-k", "floor_free")[1]).max()
                for scale in SCALES)
    return f"largest step {worst:+.1e}", worst <= 0


def floors_are_ordered(found):
    gap = (found.local["floor_softmax"] - found.local["floor_free"]).min()
    return f"at least {gap:.1e} above", gap >= -1e-12


def local_may_hurt(found):
    k, values = found.local.of(scale=8).sorted("snap-k", "kl_unc")
    worst = int(np.argmax(values))
    return f"{values[0]:.2f} without, {values[worst]:.2f} at k = {k[worst]:.0f}, {values[-1]:.2f} at " \
           f"k = {k[-1]:.0f}", 0 < worst < len(values) - 1


def overlap_is_idle(found):
    ranges = [np.ptp(found.overlap.of(scale=scale)["kl_unc"]) /
              found.overlap.of(scale=scale)["kl_unc"].mean() for scale in SCALES]
    return f"within {max(ranges):.1%}", max(ranges) < 0.03


def sizes_are_idle(found):
    rows = found.spread.of(multiplicity="true")
    shares = [np.ptp(rows.of(scale=scale)["kl_unc"]) / rows.of(scale=scale)["kl_unc"].mean()
              for scale in SCALES]
    return f"within {max(shares):.0%}", max(shares) < 0.15


def few_ranks(found):
    rows = found.local.of(scale=8, snap_k=0)
    values = np.array([rows[f"sigma_{j}"][0] for j in range(1, 10)])
    share = 1 - values[0] ** 2 / (values ** 2).sum()
    return f"{share:.0%} at a = 8", share > 0.5


def training_helps(found):
    text, good = [], True
    for scale in SCALES:
        values = found.count.of(scale=scale).sorted("snap-count", "kl_unc")[1]
        mean = found.local.of(scale=scale).one("kl_unc", snap_k=0)
        text.append(f"a = {scale:g}: {mean:.2f} of the mean, {values[0]:.2f} of one, {values[-1]:.3f} "
                    f"of nine")
        good = good and mean > values[0] and (np.diff(values) < 0).all()
    return "; ".join(text), good


def attention_suffices(found):
    rows = found.tuned.of(snap_queries="trained")
    alone, everything = (rows.of(snap_tune=tune) for tune in ("attention", "all"))
    mean = found.tuned.of(snap_queries="mean", snap_tune="attention")["cross_entropy"][0]
    values = [one["cross_entropy"][0] for one in (alone, everything)]
    error = np.hypot(*(one["cross_entropy_error"][0] for one in (alone, everything)))
    return (f"{values[0]:.3f} alone, {values[1]:.3f} with everything, {mean:.3f} of means",
            values[0] < mean and values[0] < values[1] + 2 * error)


CLAIMS = (
    Claim("most of the squared attention of nine patterns is beyond the first singular value at a = 8",
          few_ranks),
    Claim("the floor of free weights never rises with k", floors_fall),
    Claim("a softmax cannot be below it", floors_are_ordered),
    Claim("with means a few local items are worse than none at a = 8, and many are better",
          local_may_hurt),
    Claim("segments that overlap, each item counted once, answer alike", overlap_is_idle),
    Claim("so do segments of unequal sizes", sizes_are_idle),
    Claim("trained queries are better than means, and more of them better than fewer",
          training_helps),
    Claim("in a trained transformer training the queries alone is as good as training everything, after "
          "as many steps: cross-entropy within two standard errors", attention_suffices),
)


def make(folder):
    found = Measured("memory_snapshots", folder, ("local", "overlap", "spread", "count", "tuned"))
    style.save(draw(found), folder, "memory_snapshots")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
