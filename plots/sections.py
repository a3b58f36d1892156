"""The parts of a report: one about a run, one about an experiment."""

import ast
import json
import pathlib
import re
import shlex

import matplotlib.pyplot as plt
import numpy as np

import run_figure
import runfile
import style
from inline_svg import inline_svg
from page import badge, commands, compared, element, figure, folded, table

HERE = pathlib.Path(__file__).parent
WIDE = 4  # so many runs have a column each in a table of verdicts


class RunSection:
    """A run file: its figure, what the theorem says of it, its ends."""

    def __init__(self, path):
        self.run = runfile.Run(path)
        self.name = self.title = self.run.path.name
        self.verdicts = [check.verdict for check in self.run.checks.values()]
        self.runs = [self.run]
        self.seconds = self.failure = None

    def content(self, anchor):
        run, name = self.run, self.name.removesuffix(".part")
        if run.made_by.get("complete") != "1" or run.path.suffix == ".part":
            yield element("p", "This run is not finished.", class_="failure")
        drawn = run_figure.draw(run)
        svg = style.svg(drawn)
        plt.close(drawn)
        yield figure(inline_svg(svg, anchor, f"{name}: its curves and parameters"),
                     "p_S is the weight of subset S, which has a 1 for each head in it; w are the weights "
                     "of the heads on their lags, c the coefficients of the subsets, a the scale of "
                     "the second attention.")
        yield element("h3", "What the theorem says of it")
        verify = f"gih verify --run {shlex.quote(name)}"
        if run.checks:
            yield table(f"verdicts of {name}", ["claim", "verdict", "left", "right"],
                        [(f"{check.statement} [{key}]" if check.statement else key,
                          badge(check.verdict), *sides(check))
                         for key, check in run.checks.items()], "claims")
        else:
            yield element("p", "Nothing yet: ", element("code", verify),
                          " leaves its verdicts in the file.")
        yield element("h3", "Where each stage ended")
        yield ends({"stage": [(stage, run, stage) for stage in run.stages or [0]]})
        yield element("h3", "Repeat it")
        again = shlex.quote(f"{run.name}_again.h5")
        yield commands(f"gih train --config {shlex.quote(name)} -o {again}",
                       *([f"gih verify --run {again}"] if run.checks else []))
        yield folded(f"its configuration as INI text, for --config where {name} is not at hand",
                     commands(run.ini.strip()))


class ExperimentSection:
    """A results folder of experiments/reproduce.sh: its figures, its verdicts, its runs."""

    def __init__(self, folder):
        self.folder, self.name = folder, folder.resolve().name
        self.title, self.text = about(HERE / f"{self.name}.py")
        failed = folder / "failed.txt"
        self.failure = failed.read_text().strip() if failed.exists() else None
        self.seconds = read_seconds(folder / "seconds.txt")
        self.claims, self.runs = [], []
        if self.failure is None:
            self.claims = read_verdicts(folder / "verdicts.json")
            self.runs = [runfile.Run(ini.with_suffix(".h5")) for ini in sorted(
                folder.glob("*.ini"), key=lambda ini: (len(ini.name), ini.name))]
        self.verdicts = [claim["verdict"] for claim in self.claims]

    def content(self, anchor):
        if self.failure is not None:
            yield element("p", f"This experiment did not come to its end: {self.failure}",
                          class_="failure")
        else:
            for index, path in enumerate(sorted(self.folder.glob("*.svg"))):
                yield figure(inline_svg(path.read_text(), f"{anchor}-{index}",
                                        f"{self.title}. {self.text}"), self.text if index == 0 else "")
            yield element("h3", "Verdicts")
            yield self.verdict_table()
            yield element("h3", "Runs")
            yield ends({"run, stage": [(f"{run.name}, {stage}", run, stage) for run in self.runs
                                       for stage in run.stages or [0]]})
            yield element("h3", "Versions and configuration")
            yield compare(self.runs)
        yield element("h3", "Repeat it")
        yield commands(f"experiments/reproduce.sh --again {self.name}")

    def verdict_table(self):
        names = list(dict.fromkeys(value["run"] for claim in self.claims for value in claim["values"]))
        if len(names) > WIDE:
            rows = [["; ".join(f"{value['run']}: {value['text']}" for value in claim["values"])]
                    for claim in self.claims]
            names = ["measured"]
        else:
            shown = [{value["run"]: value["text"] for value in claim["values"]}
                     for claim in self.claims]
            rows = [[values.get(name, "") for name in names] for values in shown]
        return table(f"verdicts of {self.name}", ["claim", "verdict", *names],
                     [(claim["statement"], badge(claim["verdict"]), *row)
                      for claim, row in zip(self.claims, rows)], "claims")


def ends(groups):
    """A table of where stages ended, from {head: [(name, run, stage), ...]}."""
    (head, rows), = groups.items()
    return table("where each stage ended",
                 [head, "trained", "steps", "time", "training loss", "validation loss",
                  "largest p_S", "a"], [end(*row) for row in rows])


def end(name, run, stage):
    rows = run.stage(stage)
    best = int(np.argmax(rows.p[-1]))
    trained = run.config.get(f"stage.{stage}.train", "") if stage else "nothing"
    return (name, trained, f"{rows.step[-1]:,}", number(rows.time[-1]), number(rows.train_loss[-1]),
            number(rows.validation_loss[-1]), f"{rows.p[-1][best]:.6f} ({run.subsets[best]})",
            number(rows.a[-1]))


def compare(runs):
    """Versions and configurations of runs, side by side."""
    names = unique([run.path.name for run in runs])
    return compared("versions and configuration", {
        name: {**{key.replace("_", " "): value for key, value in run.made_by.items()
                  if key not in ("format", "complete")},
               **run.config} for name, run in zip(names, runs)})


def unique(names):
    """The names, with a number behind those that stand there before."""
    return [name if name not in names[:index] else f"{name} ({index + 1})"
            for index, name in enumerate(names)]


def about(script):
    """Title and text of a figure script: the first paragraph of its docstring up to what it reads, and
    the others up to what it needs or writes."""
    if not script.exists():
        raise runfile.RunFileError(f"{script}: missing, so there is no such experiment")
    first, *others = (ast.get_docstring(ast.parse(script.read_text())) or script.stem).split("\n\n")
    text = " ".join(" ".join(others).split())
    return (" ".join(first.split()).partition(", from ")[0].rstrip("."),
            re.split(r" (?:Needs|Writes) ", text)[0])


def read_verdicts(path):
    try:
        claims = json.loads(path.read_text())
        for claim in claims:
            claim["statement"], claim["verdict"]
            [(value["run"], value["text"]) for value in claim["values"]]
        return claims
    except FileNotFoundError:
        raise runfile.RunFileError(f"{path}: missing; experiments/reproduce.sh makes it") from None
    except (ValueError, KeyError, TypeError) as error:
        raise runfile.RunFileError(f"{path}: not the verdicts of a figure: {error}") from None


def read_seconds(path):
    try:
        return int(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        raise runfile.RunFileError(f"{path}: not a whole number of seconds") from None


def sides(check):
    return ("", "") if check.verdict == "SKIPPED" else (number(check.left), number(check.right))


def number(value):
    if np.isnan(value):
        return "\N{EN DASH}"
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")
