"""How large memory and compressed memory should be, and what compressors cost, from
RESULTS_FOLDER/total.h5, reach.h5, both.h5 and cost.h5; c = 4, a = 8, log n added to the logits.

(a) KL from the uncompressed answer over n_m, n_m + n_c = 40 slots; (b) the same for one reach, n_m + 4
n_c = 160 positions; (c) over both, mean pooling; (d) loss against bytes and multiply-adds of each
compressor.
Writes memory_sizes.png, memory_sizes.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import COMPRESSORS, Measured, curve, tick
from verdict import Claim, report

SHOWN = ("mean", "decimate")


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.82 * style.WIDTH))
    for axes, table, title in (
            (panels[0, 0], found.total, "(a) 40 slots in all: $n_m + n_c$ = 40"),
            (panels[0, 1], found.reach, "(b) one reach: $n_m + 4 n_c$ = 160")):
        for name in SHOWN:
            label, colour, marker = COMPRESSORS[name]
            curve(axes, table.of(compressor=name), "slots", "kl_unc", label, colour, marker)
        tick(axes, np.unique(table["slots"]))
        axes.set_ylim(0)
        axes.set_xlabel("slots of memory $n_m$, the rest compressed")
        axes.set_ylabel("KL in nats")
        axes.set_title(title)
        axes.legend()
    draw_both(panels[1, 0], found.both)
    draw_cost(panels[1, 1], found.cost)
    return figure


def draw_both(axes, table):
    memory, compressed = np.unique(table["slots"]), np.unique(table["compressed-slots"])
    grid = np.array([[table.one("kl_unc", slots=m, compressed_slots=c) for m in memory]
                     for c in compressed])
    errors = np.array([[table.one("kl_unc_error", slots=m, compressed_slots=c) for m in memory]
                       for c in compressed])
    style.draw_table(axes, grid, grid.max())
    for (row, column), error in np.ndenumerate(errors):
        axes.text(column, row - 0.32, f"\N{PLUS-MINUS SIGN}{error:.3f}", ha="center", va="center",
                  fontsize=5, color="white" if grid[row, column] > 0.6 * grid.max() else "black")
    axes.invert_yaxis()
    axes.set_xticks(range(len(memory)), [f"{value:g}" for value in memory])
    axes.set_yticks(range(len(compressed)), [f"{value:g}" for value in compressed])
    axes.set_xlabel("slots of memory $n_m$")
    axes.set_ylabel("of compressed memory $n_c$")
    axes.set_title("(c) KL in nats, mean pooling")


def draw_cost(axes, table):
    order = np.argsort(table["kl_unc"], kind="stable")[::-1]
    names = table["compressor"][order]
    flops = np.maximum(table["compressor_flops"][order], 1)
    axes.barh(range(len(names)), flops, color="#56B4E9")
    for place, index in enumerate(order):
        loss, held = table["kl_unc"][index], table["bytes"][index] / 1000
        axes.text(1.3, place, f"{max(loss, 0):.3f} nats, {held:.1f} kB", fontsize=6.5, va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_xscale("log")
    axes.set_xlim(1, 3e5)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("multiply-adds of compressing 200 tokens")
    axes.set_title("(d) cost; KL and what is held")


def more_is_better(found):
    rows = found.both.of(slots=40)
    values = rows.sorted("compressed-slots", "kl_unc")[1]
    return " > ".join(f"{value:.3f}" for value in values), (np.diff(values) < 0).all()


def raw_is_better(found):
    text, good = [], True
    for name in SHOWN:
        values = found.reach.of(compressor=name).sorted("slots", "kl_unc")[1]
        text.append(f"{name} {values[0]:.2f} to {values[-1]:.3f}")
        good = good and (np.diff(values) < 0).all()
    return ", ".join(text), good


def mean_mixes(found):
    slots, values = found.total.of(compressor="mean").sorted("slots", "kl_unc")
    best = int(np.argmin(values))
    return (f"n_m = {slots[best]:.0f}: {values[best]:.3f}, all raw {values[-1]:.3f}, none "
            f"{values[0]:.3f}"), 0 < best < len(values) - 1


def cheap_is_good(found):
    flops = dict(zip(found.cost["compressor"], found.cost["compressor_flops"]))
    loss = dict(zip(found.cost["compressor"], found.cost["kl_unc"]))
    return (f"decimate {loss['decimate']:.3f} at {flops['decimate']:.0f}, conv {loss['conv']:.3f} at "
            f"{flops['conv']:.0f}"), (loss["decimate"] < loss["conv"] and
                                      flops["decimate"] < flops["conv"])


def matrix_is_small(found):
    held = dict(zip(found.cost["compressor"], found.cost["bytes"]))
    loss = dict(zip(found.cost["compressor"], found.cost["kl_unc"]))
    return (f"{held['matrix']:.0f} bytes and {loss['matrix']:.0e}, mean {held['mean']:.0f} bytes"), (
        abs(loss["matrix"]) < 1e-12 and held["matrix"] < held["mean"])


CLAIMS = (
    Claim("beside 40 slots of memory, more compressed slots lose less", more_is_better),
    Claim("for one reach, raw slots lose less than compressed ones all the way", raw_is_better),
    Claim("for one number of slots, mean pooling is best with some of both", mean_mixes),
    Claim("choosing an item of four costs less than an untrained convolution, and loses less",
          cheap_is_good),
    Claim("the matrix memory loses nothing and holds less than mean pooling", matrix_is_small),
)


def make(folder):
    found = Measured("memory_sizes", folder, ("total", "reach", "both", "cost"))
    style.save(draw(found), folder, "memory_sizes")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
