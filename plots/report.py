#!/usr/bin/python3 -B
"""One HTML page about runs and experiments, which opens without any other file and without network.

A RUN.h5 becomes a section with its figure, the verdicts that `gih verify --run` left in it, and what
its stages ended with. A folder RESULTS/NAME, as experiments/reproduce.sh makes it, becomes a section
with figure and verdicts of experiment NAME. Configurations and versions of runs stand side by side,
and each section says how to repeat it.
"""

import argparse
import os
import pathlib
import platform
import shlex
import sys

import h5py
import matplotlib
import numpy as np

import runfile
from page import element, page, table
from sections import ExperimentSection, RunSection, compare, unique


def make(inputs, title):
    sections = [(ExperimentSection if path.is_dir() else RunSection)(path) for path in inputs]
    names = unique([section.name for section in sections])
    timed = any(section.seconds is not None for section in sections)
    rows = [(element("a", name, href=f"#s{index}"), tally([section]),
             *["\N{EN DASH}" if section.seconds is None else f"{section.seconds:,}"] * timed)
            for index, (section, name) in enumerate(zip(sections, names))]
    content = [element("p", tally(sections)),
               table("contents", ["section", "verdicts", *["seconds"] * timed], rows)]
    for index, (section, name) in enumerate(zip(sections, names)):
        shown = name if section.title == section.name else f"{section.title} ({name})"
        content.append(element("section", element("h2", shown, id=f"s{index}"),
                               *section.content(f"s{index}")))
    runs = [section.run for section in sections if isinstance(section, RunSection)]
    if runs:
        content.append(element("section", element("h2", "Versions and configuration"),
                               compare(runs)))
    return page(title or f"gih: {', '.join(names)}", *content, footer(inputs))


def tally(sections):
    """How many verdicts are PASS, and what else there is."""
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    failures = sum(section.failure is not None for section in sections)
    others = [(verdicts.count(name), name) for name in ("FAIL", "UNDECIDED", "SKIPPED")]
    others.append((failures, "unfinished"))
    parts = [f"{verdicts.count('PASS')} of {len(verdicts)} PASS"] if verdicts else []
    parts += [f"{count} {name}" for count, name in others if count]
    if not parts:
        return element("span", "no verdicts", class_="verdict")
    good = not failures and "FAIL" not in verdicts
    return element("span", ", ".join(parts), class_=f"verdict {'pass' if good else 'fail'}")


def footer(inputs):
    versions = {"Python": platform.python_version(), "numpy": np.__version__,
                "matplotlib": matplotlib.__version__, "h5py": h5py.__version__}
    names = " ".join(shlex.quote(path.name) for path in inputs)
    return element("footer", "Made by ", element("code", f"plots/report.py {names} -o report.html"),
                   " with ", ", ".join(" ".join(pair) for pair in versions.items()), ".")


def write(path, text):
    """The whole file or none."""
    part = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit status: 0 the page is written, 2 wrong use or an unusable file; then nothing is.")
    parser.add_argument("inputs", metavar="RUN.h5|RESULTS/NAME", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", metavar="FILE.html", type=pathlib.Path, required=True)
    parser.add_argument("--title", help="of the page (default: gih and the names)")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE.html")
    options = parser.parse_args()
    output = options.output
    try:
        if output.exists() and not options.overwrite:
            raise runfile.RunFileError(f"{output}: exists; --overwrite replaces it")
        if not output.parent.is_dir():
            raise runfile.RunFileError(f"{output}: no folder {output.parent}")
        write(output, make(options.inputs, options.title))
        print(f"report {output}")
    except (runfile.RunFileError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
