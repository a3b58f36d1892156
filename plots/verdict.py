"""Claims that a figure makes, each measured on the run files and judged."""

import dataclasses
import json
import typing

import numpy as np


#: What counts as equal where theory says equal: the tolerance of `gih verify`. Sums of some hundred
#: weights miss 1 by 1e-15 and more.
EXACT = 1e-10


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
    """Prints and writes one line a claim, and the same in parts to verdicts.json beside it; true when
    every claim holds for each of its runs."""
    found = [_judge(claim, [run for run in runs if claim.only in (None, run.name)])
             for claim in claims]
    text = "\n".join(
        "  ".join((verdict["verdict"], verdict["statement"], "|",
                   *(f"{value['run']}: {value['text']}" for value in verdict["values"])))
        for verdict in found)
    print(text)
    path.write_text(text + "\n")
    (path.parent / "verdicts.json").write_text(json.dumps(found, indent=1) + "\n")
    return all(verdict["verdict"] == "PASS" for verdict in found)


def _judge(claim, runs):
    values = []
    for run in runs:
        try:
            text, good = claim.measured(run)
        except NotReached:
            text, good = "not reached", False
        values.append({"run": run.name, "text": text, "holds": bool(good)})
    holds = all(value["holds"] for value in values)
    return {"verdict": "PASS" if holds else "FAIL", "statement": claim.statement, "values": values}
