"""Reads what gih writes: run files, finished ones (RUN.h5) and those under way (RUN.h5.part), data
files, tables of sweeps, and the JSON of `gih evaluate --attention`."""

import configparser
import json
import os
import pathlib
import sys
import typing

# A run file is replaced whole, never written in place, so reading needs no lock; network file
# systems refuse them.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

import h5py
import numpy as np


class RunFileError(Exception):
    """What is wrong with the file, in one line."""


class Rows:
    """Log rows of one stage: step, time, train_loss, validation_loss, c, p, w, a, all of them
    arrays with one entry a row (c and p: rows x subsets; w: rows x heads x lags)."""

    names = ("step", "time", "train_loss", "validation_loss", "c", "p", "w", "a")
    #: rows x heads x d x d, in runs of the full model
    word_matrices = ("W_Q", "W_K", "W_V")

    def __init__(self, log, chosen):
        for name, values in log.items():
            setattr(self, name, values[chosen])

    def __len__(self):
        return len(self.step)


class Check(typing.NamedTuple):
    """One line of `gih verify --run`: a comparison left <= right (or left = right)."""
    statement: str
    verdict: str  # PASS, FAIL, UNDECIDED or SKIPPED
    left: float
    right: float


class Run:
    """subsets: codes such as "110"; stage(k): the rows of stage k, none when it is not reached;
    stages: the k that are reached; first, last: {"c", "p", "w", "a", and W_Q, W_K, W_V of a full
    model} at the beginning and at the end; checks: by id, none unless `gih verify --run` has seen the
    run; made_by: the root attributes but `config`, which is in `config` as {"data.vocab": "3", ...},
    and as it stands in `ini`."""

    def __init__(self, path):
        path = pathlib.Path(path)
        if not path.exists():
            path = path.with_name(path.name + ".part")
        if not path.exists():
            raise RunFileError(f"{path.with_suffix('')}: no such run file")
        self.path = path
        self.name = path.name.split(".h5")[0]
        try:
            with h5py.File(path, "r") as file:
                if _text(file.attrs.get("format", "")) != "gih-run":
                    raise RunFileError(f"{path}: an HDF5 file, but not a run file of gih")
                self.made_by = {name: _text(value) for name, value in file.attrs.items()}
                self.ini = self.made_by.pop("config", "")
                self.subsets = [_text(code) for code in file["subsets"][()]]
                self._stage = file["log/stage"][()]
                names = Rows.names + tuple(name for name in Rows.word_matrices
                                           if f"log/{name}" in file)
                self._log = {name: file[f"log/{name}"][()] for name in names}
                stored = file["checks"][()] if "checks" in file else ()
        except OSError as error:
            raise RunFileError(f"{path}: cannot be read: {error}") from None
        except KeyError as error:
            raise RunFileError(f"{path}: incomplete run file: {error.args[0]}") from None
        self.config = _keys(self.ini, path)
        self.stages = [int(number) for number in np.unique(self._stage) if number > 0]
        self.checks = {_text(row["id"]): Check(_text(row["statement"]), _text(row["verdict"]),
                                               float(row["left"]), float(row["right"]))
                       for row in stored}
        if not len(self._stage):
            raise RunFileError(f"{path}: a run without log rows")
        self.first, self.last = (
            {name: values[row] for name, values in self._log.items()} for row in (0, -1))

    def stage(self, number):
        return Rows(self._log, self._stage == number)

    def p(self, rows, code):
        """p_S over rows for one subset, named by its code; none when the run lacks the subset."""
        if code not in self.subsets:
            return np.empty(0)
        return rows.p[:, self.subsets.index(code)]


class Data:
    """A data file: tokens, sequences x (L+1); conditional, sequences x d; kernels, sequences x
    parent codes x d, none unless they were stored; vocab; parents."""

    def __init__(self, path):
        if not path.exists():
            raise RunFileError(f"{path}: no such data file")
        self.path = path
        self.name = path.stem
        try:
            with h5py.File(path, "r") as file:
                if _text(file.attrs.get("format", "")) != "gih-data":
                    raise RunFileError(f"{path}: an HDF5 file, but not a data file of gih")
                self.vocab = int(file.attrs["vocab"])
                self.parents = file.attrs["parents"].tolist()
                self.tokens = file["tokens"][()].astype(int)
                self.conditional = file["conditional"][()]
                self.kernels = file["kernels"][()] if "kernels" in file else None
        except OSError as error:
            raise RunFileError(f"{path}: cannot be read: {error}") from None
        except KeyError as error:
            raise RunFileError(f"{path}: incomplete data file: {error.args[0]}") from None


class Prompt:
    """One prompt of `gih evaluate --attention`; positions count from 0 here. heads: heads x
    positions (the query last) x lags."""

    def __init__(self, stored, estimators):
        self.tokens = np.array(stored["tokens"])
        self.heads = np.array(stored["heads"])
        self.sigma = np.array(stored["sigma"])
        self.y = np.array(stored["y"])
        self.gih = np.array(stored["gih"])
        self.matches = np.array(stored["matches"], dtype=int) - 1
        self.on_matches = float(stored["on_matches"])
        self.estimators = {name: np.array(law) for name, law in estimators.items()}


class Attention:
    """What `gih evaluate --attention --json` says. subset: code of S of the GIH; subsets, p; lags:
    of each head; prompts."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        try:
            answer = json.loads(path.read_text())
            attention = answer["attention"]
            self.subset = answer["gih_subset"]
            self.subsets = attention["subsets"]
            self.p = np.array(attention["p"])
            self.lags = attention["lags"]
            laws = answer["estimators"]
            self.prompts = [Prompt(stored, {name: laws[name][i] for name in laws})
                            for i, stored in enumerate(attention["prompts"])]
        except OSError:
            raise RunFileError(f"{path}: no such answer of gih evaluate") from None
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise RunFileError(
                f"{path}: not an answer of gih evaluate --attention: {error}") from None


def read_runs(folder, pattern):
    """The runs of a results folder, by name, or an error when there are none."""
    folder = pathlib.Path(folder)
    names = {path.name.removesuffix(".part") for path in
             (*folder.glob(f"{pattern}.h5"), *folder.glob(f"{pattern}.h5.part"))}
    if not names:
        raise RunFileError(f"{folder}: no run file {pattern}.h5 there")
    return [Run(folder / name) for name in sorted(names, key=lambda name: (len(name), name))]


class Answer(dict):
    """A JSON object of `path`; a key that is not there is an error of the file."""

    def __init__(self, path, pairs):
        super().__init__(pairs)
        self.path = path

    def __missing__(self, key):
        raise RunFileError(f"{self.path}: not the expected answer of gih: no {key} there")


def read_json(path):
    """The JSON object that a command of gih printed into a file of the results folder."""
    try:
        found = json.loads(path.read_text(), object_pairs_hook=lambda pairs: Answer(path, pairs))
    except (OSError, ValueError) as error:
        raise RunFileError(f"{path}: not an answer of gih: {error}") from None
    if not isinstance(found, Answer):
        raise RunFileError(f"{path}: not an answer of gih: no JSON object")
    return found


def read_table(path):
    """The fields of a table of `gih sweep collect`, by name: arrays with one entry a point, of str
    or numbers."""
    path = pathlib.Path(path)
    if not path.exists():
        raise RunFileError(f"{path}: no such table")
    try:
        with h5py.File(path, "r") as file:
            if _text(file.attrs.get("format", "")) != "gih-sweep":
                raise RunFileError(f"{path}: an HDF5 file, but not a table of gih sweep collect")
            rows = file["points"][()]
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error}") from None
    return {name: np.array([_text(value) for value in rows[name]])
            if rows.dtype[name].hasobject else rows[name] for name in rows.dtype.names}


def main(description, make):
    """The command line of every figure script: make(folder) draws and returns whether all verdicts
    are PASS."""
    import argparse

    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit status: 0 all verdicts PASS, 1 some FAIL, 2 no usable run file.")
    parser.add_argument("folder", metavar="RESULTS_FOLDER", type=pathlib.Path,
                        help="folder with the run files; the figure is written there")
    folder = parser.parse_args().folder
    try:
        sys.exit(0 if make(folder) else 1)
    except (RunFileError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(2)


def _keys(ini, path):
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=False)
    parser.optionxform = str
    try:
        parser.read_string(ini)
    except configparser.Error as error:
        raise RunFileError(f"{path}: its configuration is no INI text: "
                           f"{str(error).splitlines()[0]}") from None
    return {f"{section}.{key}": value for section in parser.sections()
            for key, value in parser.items(section)}


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)
