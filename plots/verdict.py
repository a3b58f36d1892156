"""Claims that a figure makes, each measured on the run files and judged."""

import dataclasses
import typing

import numpy as np


class NotReached(Exception):
    """The runs do not hold what a claim is about."""


@dataclasses.dataclass
class Claim:
    statement: str
    #: measured(run) -> (text that shows the value, whether the claim holds)
    measured: typing.Callable
    #: name of the run that the claim is about; None means every run
    only: str | None = None


def at_step(rows, step, values):
    """The value at an epoch; between two logged ones it is interpolated in log(step)."""
    if not len(values) or rows.step[-1] < step:
        raise NotReached
    return np.interp(np.log1p(step), np.log1p(rows.step), values)


def report(claims, runs, path):
    """Prints and writes one line a claim; true when every claim holds for each of its runs."""
    lines = []
    passed = True
    for claim in claims:
        shown = []
        holds = True
        for run in (run for run in runs if claim.only in (None, run.name)):
            try:
                text, good = claim.measured(run)
            except NotReached:
                text, good = "not reached", False
            shown.append(f"{run.name}: {text}")
            holds = holds and bool(good)
        lines.append(f"{'PASS' if holds else 'FAIL'}  {claim.statement}  |  {'  '.join(shown)}")
        passed = passed and holds
    text = "\n".join(lines)
    print(text)
    path.write_text(text + "\n")
    return passed
