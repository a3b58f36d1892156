"""Tables of `gih memory`, and what its figures have in common."""

import numpy as np

import runfile
import style

# Compressors by their names in memory.compressor: label, colour, marker.
COMPRESSORS = {
    "drop": ("drop", style.GREY, "x"),
    "mean": ("mean", "#0072B2", "o"),
    "sum": ("sum", "#CC79A7", "v"),
    "max": ("max", "#E69F00", "^"),
    "decimate": ("decimate", "#56B4E9", "D"),
    "most-used": ("most-used", "#009E73", "s"),
    "conv": ("conv, by AR", "#D55E00", "P"),
    "group": ("group", "#000000", "*"),
}


class Table:
    """The rows of RESULTS_FOLDER/NAME.h5 that are as wanted: of(rate=4) is memory.rate = 4."""

    def __init__(self, path, fields=None):
        self.path = path
        self.fields = runfile.read_table(path) if fields is None else fields

    def __getitem__(self, field):
        for name in (f"memory.{field}", field):
            if name in self.fields:
                return self.fields[name]
        raise runfile.RunFileError(f"{self.path}: no field {field}")

    def of(self, **wanted):
        chosen = np.ones(len(self["index"]), dtype=bool)
        for name, value in wanted.items():
            chosen &= self[name.replace("_", "-")] == value
        if not chosen.any():
            raise runfile.RunFileError(f"{self.path}: no row with {wanted}")
        return Table(self.path, {name: values[chosen] for name, values in self.fields.items()})

    def one(self, field, **wanted):
        found = self.of(**wanted)[field]
        if len(found) != 1:
            raise runfile.RunFileError(f"{self.path}: {len(found)} rows with {wanted}")
        return found[0]

    def sorted(self, *names):
        """Those fields in ascending order of the first."""
        order = np.argsort(self[names[0]], kind="stable")
        return [self[name][order] for name in names]


def curve(axes, table, x, y, label, colour, marker="o", **keywords):
    """y over x with the standard errors of y."""
    places, values, errors = table.sorted(x, y, f"{y}_error")
    axes.errorbar(places, values, errors, label=label, color=colour, marker=marker, markersize=3.5,
                  elinewidth=0.8, linewidth=1.1, **keywords)


def tick(axes, values, numbers=None):
    """An axis x of few values, each with its tick."""
    axes.set_xticks(values, numbers or [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


class Measured:
    """What verdicts are about: the tables of one folder, as one run."""

    def __init__(self, name, folder, tables):
        self.name = name
        self.folder = folder
        for table in tables:
            setattr(self, table, Table(folder / f"{table}.h5"))
