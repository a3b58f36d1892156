#!/usr/bin/python3 -B
"""Draws a table of `gih sweep collect`: lines with seed bands, or a heat map.

  sweep.py all.h5 --x data.alpha --value selected_p                  one line over alpha
  sweep.py all.h5 --x data.alpha --lines init.w-diagonal --value a   a line for each w-diagonal
  sweep.py all.h5 --x data.alpha --y init.w-diagonal --value selected   a heat map

Points that differ in data.seed alone are one point: a line shows their mean and the band from least
to largest, a heat map their mean, or, of words such as subsets, the most frequent, with a cross where
seeds disagree. Only finished points count.
"""

import argparse
import difflib
import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

import runfile
import style

SECTIONS = ("data.", "model.", "loss.", "init.", "stage.", "log.", "memory.")
SEED = "data.seed"


class Sweep:
    """The finished points of a table that are as wanted: {"data.length": "100"}."""

    def __init__(self, path, wanted=None):
        self.path = path
        self.fields = runfile.read_table(path)
        chosen = self.fields["status"] == "finished"
        for name, text in (wanted or {}).items():
            values = self.values(name)
            try:
                chosen &= values == (text if is_text(values) else float(text))
            except ValueError:
                raise runfile.RunFileError(f"--where {name}={text}: must be a number") from None
        if not chosen.any():
            raise runfile.RunFileError(f"{path}: no finished point" + " as wanted" * bool(wanted))
        self.fields = {name: values[chosen] for name, values in self.fields.items()}

    def values(self, name):
        if name not in self.fields:
            near = difflib.get_close_matches(name, self.fields, 3, 0.5)
            raise runfile.RunFileError(f"{self.path}: no field {name}" +
                                       (f"; nearest: {', '.join(near)}" if near else
                                        "; gih show lists them"))
        return self.fields[name]

    def drawable(self, name):
        values = self.values(name)
        if not is_text(values) and np.isnan(values).all():
            raise runfile.RunFileError(f"{self.path}: {name} is NaN at every point")
        return values

    def check_alone(self, *names):
        """An error when the points differ in another key than these and the seed."""
        for name in names:
            self.values(name)
        for name, values in self.fields.items():
            if name.startswith(SECTIONS) and name not in (*names, SEED) and varies(values):
                found = sorted(set(values.tolist()))[:8]
                raise runfile.RunFileError(
                    f"{self.path}: {name} differs among the points ({', '.join(map(str, found))}): "
                    f"choose one with --where {name}=VALUE, or draw over it")


def is_text(values):
    return values.dtype.kind == "U"


def varies(values):
    """Whether they differ; NaN, where a point has no such key, is one value."""
    return len({str(value) for value in values.tolist()}) > 1


def order(values):
    """Distinct values in the order of an axis."""
    return sorted(set(values.tolist()))


def is_log(values):
    """Whether positive values spread over more than a decade and a half."""
    return not isinstance(values[0], str) and values[0] > 0 and np.isfinite(values[-1]) \
        and values[-1] / values[0] > 30


def places(values):
    """Where the values of an axis stand, and what is written there; None for numbers that stand for
    themselves."""
    if isinstance(values[0], str) or not np.isfinite(values).all():
        return np.arange(len(values), dtype=float), [f"{v:g}" if not isinstance(v, str) else v
                                                     for v in values]
    return np.array(values, dtype=float), None


def edges(at, logarithmic):
    """Borders of cells around these places."""
    if len(at) == 1:
        return np.array([at[0] / 1.5, at[0] * 1.5] if logarithmic else [at[0] - 0.5, at[0] + 0.5])
    at = np.log(at) if logarithmic else at
    middle = (at[1:] + at[:-1]) / 2
    found = np.concatenate(([2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]))
    return np.exp(found) if logarithmic else found


def set_axis(axis, values):
    """Scale and ticks of an x or y axis (axes.xaxis, axes.yaxis)."""
    at, words = places(values)
    if words:
        axis.set_ticks(at, words)
    elif is_log(values):
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")


# ---- lines --------------------------------------------------------------------------------------
def draw_lines(axes, sweep, x, value, lines=None):
    sweep.check_alone(x, *([lines] if lines else []))
    values = sweep.drawable(value)
    if is_text(values):
        raise runfile.RunFileError(f"--value {value}: holds words; give --y for a heat map")
    xs = order(sweep.values(x))
    at, _ = places(xs)
    groups = order(sweep.values(lines)) if lines else [None]
    for number, group in enumerate(groups):
        here = sweep.values(lines) == group if lines else np.ones(len(values), bool)
        spread = [values[here & (sweep.values(x) == one)] for one in xs]
        there = np.array([len(found) > 0 for found in spread])
        mean, least, most = ([f(found) for found in spread if len(found)]
                             for f in (np.mean, np.min, np.max))
        shade = plt.get_cmap("viridis")(0.9 * number / max(1, len(groups) - 1))
        colour = style.FIRST if len(groups) == 1 else shade
        axes.plot(at[there], mean, color=colour, marker="o", markersize=3,
                  label=None if group is None else f"{group:g}" if not isinstance(group, str) else group)
        axes.fill_between(at[there], least, most, color=colour, alpha=0.25, linewidth=0)
    set_axis(axes.xaxis, xs)
    axes.set_xlabel(x)
    axes.set_ylabel(value)
    if lines:
        axes.legend(title=lines, title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


# ---- heat map -----------------------------------------------------------------------------------
def most_frequent(found):
    """The word that stands there most often (of several, the first in order), and whether others do
    too."""
    words, counts = np.unique(found, return_counts=True)
    return words[np.argmax(counts)], len(words) > 1


def word_colours(words):
    """Colours of words; subsets have theirs wherever they appear."""
    if all(set(word) <= set("01") for word in words):
        return {word: style.subset_style(word)["color"] if word else "white" for word in words}
    return dict(zip(words, style.SERIES * len(words)))


def draw_heat(axes, sweep, x, y, value):
    """A cell for each pair of values; returns the number of cells where seeds disagree."""
    sweep.check_alone(x, y)
    values = sweep.drawable(value)
    xs, ys = order(sweep.values(x)), order(sweep.values(y))
    cells = {}
    for i, one in enumerate(ys):
        for j, other in enumerate(xs):
            found = values[(sweep.values(y) == one) & (sweep.values(x) == other)]
            if len(found):
                cells[i, j] = found
    (at_x, _), (at_y, _) = places(xs), places(ys)
    borders = edges(at_x, is_log(xs)), edges(at_y, is_log(ys))
    split = []
    if is_text(values):
        chosen = {}
        for cell, found in cells.items():
            chosen[cell], differs = most_frequent(found)
            if differs:
                split.append(cell)
        words = order(np.array(list(chosen.values())))
        colours = word_colours(words)
        picture = np.full((len(ys), len(xs)), np.nan)
        for cell, word in chosen.items():
            picture[cell] = words.index(word)
        axes.pcolormesh(*borders, picture, cmap=ListedColormap([colours[word] for word in words]),
                        vmin=-0.5, vmax=len(words) - 0.5, rasterized=True)
        axes.legend([Patch(facecolor=colours[word], edgecolor="none" if word else style.GREY)
                     for word in words], [word or "(empty)" for word in words], title=value,
                    title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), handlelength=1.2)
    else:
        picture = np.full((len(ys), len(xs)), np.nan)
        for cell, found in cells.items():
            picture[cell] = found.mean()
        mesh = axes.pcolormesh(*borders, picture, cmap="viridis", rasterized=True)
        axes.figure.colorbar(mesh, ax=axes, label=value)
    for i, j in split:
        axes.plot(at_x[j], at_y[i], marker="x", color="white", markersize=3, markeredgewidth=0.9)
    set_axis(axes.xaxis, xs)
    set_axis(axes.yaxis, ys)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(False)
    return len(split)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", metavar="TABLE.h5", type=pathlib.Path)
    parser.add_argument("--x", required=True, metavar="KEY", help="field along the horizontal axis")
    parser.add_argument("--y", metavar="KEY", help="field along the vertical axis of a heat map")
    parser.add_argument("--lines", metavar="KEY", help="field with one line for each of its values")
    parser.add_argument("--value", required=True, metavar="FIELD", help="what is drawn")
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE",
                        help="only points with this value; may be repeated")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="NAME",
                        help="NAME.png, NAME.pdf and NAME.svg are written (default: beside the table, "
                             "TABLE_VALUE)")
    parser.add_argument("--overwrite", action="store_true", help="replace figures that are there")
    options = parser.parse_args()
    try:
        if options.y and options.lines:
            raise runfile.RunFileError("--lines is not for a heat map: leave out --y or --lines")
        wanted = {}
        for text in options.where:
            name, equals, value = text.partition("=")
            if not equals:
                raise runfile.RunFileError(f"--where {text}: must be KEY=VALUE")
            if name in wanted:
                raise runfile.RunFileError(f"--where {name}: given twice")
            wanted[name] = value
        sweep = Sweep(options.table, wanted)
        figure, axes = plt.subplots(figsize=(0.75 * style.WIDTH, 0.5 * style.WIDTH))
        if options.y:
            draw_heat(axes, sweep, options.x, options.y, options.value)
        else:
            draw_lines(axes, sweep, options.x, options.value, options.lines)
        output = options.output or options.table.with_name(f"{options.table.stem}_{options.value}")
        if output.suffix in (".png", ".pdf", ".svg"):
            output = output.with_suffix("")
        for kind in ("png", "pdf", "svg"):
            there = output.with_name(f"{output.name}.{kind}")
            if there.exists() and not options.overwrite:
                raise runfile.RunFileError(f"{there}: exists; --overwrite replaces it")
        style.save(figure, output.parent, output.name)
    except (runfile.RunFileError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
