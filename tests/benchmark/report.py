#!/usr/bin/python3 -B
"""Runs the benchmarks and reports them: one table, scaling plots and the roofline of an epoch.

  report.py BUILD/tests/benchmark/gih_benchmark -o FOLDER          about four minutes
  report.py benchmark.json -o FOLDER        the same from a run that google-benchmark has written
  report.py ... --peer "python3 another_program.py 9000 100 10 2"  a program to compare with, which
                                                                   prints seconds an epoch

Writes benchmark.json, table.md, scaling.png and roofline.png into FOLDER, which must not hold them
yet. Times are of whatever else the machine does, too: compare numbers of one run.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "plots"))

import matplotlib.pyplot as plt
import numpy as np

import style

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
FILES = ("benchmark.json", "table.md", "scaling.png", "roofline.png")
SIZES = {  # what stays fixed while a size grows
    "N": "sequences N (L = 100)", "L": "prompt length L (N = 1,000)",
    "d": "vocabulary d (N = 1,000)", "M": "window M (H = 3, D = 2)",
    "H": "heads H (M = 8, D = 2)", "D": "degree D (M = H = 8)"}


class Results:
    """Rows of google-benchmark by name, without the suffixes that say how they were run."""

    def __init__(self, data):
        self.rows = {re.sub(r"/(real_time|iterations:\d+)", "", row["name"]): row
                     for row in data["benchmarks"]}

    def seconds(self, name):
        row = self.rows[name]
        return row["real_time"] * SECONDS[row["time_unit"]]

    def counter(self, name, counter):
        return self.rows[name][counter]

    def scaling(self, size):
        """Sizes, and the names of their rows."""
        found = [(int(name.split(":")[1]), name) for name in self.rows
                 if name.startswith(f"epoch_by_{size}/")]
        return [value for value, _ in found], [name for _, name in found]


def roofline(results):
    """(what, seconds) of one joint epoch by one thread at 9,000 x 100: its layout's needs over what
    the machine did in the same run, and the epoch itself.

    A pass goes over the entries twice: for the sums of the planes, then for those of the classes,
    which need the first. Each phase takes at least as long as what it needs most of."""
    layout = "machine_pass"
    entries = results.counter(layout, "entries")
    read = results.counter(layout, "bytes") / results.counter("machine_read", "bytes/s")
    flops = results.counter(layout, "flops") / results.counter("machine_multiply_add", "flops/s")
    store = entries / results.counter("machine_store", "entries/s")
    return [
        ("read the layout", read),
        ("multiply and add", flops),
        ("add into the classes' sums", store),
        ("two phases, each its slowest", max(read, flops / 2) + max(flops / 2, store)),
        ("read, widen, multiply, add, store", entries / results.counter(layout, "entries/s")),
        ("epoch of stage 1", results.seconds("epoch_c/threads:1")),
    ]


def table(results, peer):
    lines = ["| case | time | |", "|---|---|---|"]
    for name, row in results.rows.items():
        rates = ", ".join(f"{row[key]:.3g} {key}" for key in row if key.endswith("/s"))
        lines.append(f"| {name} | {row['real_time']:.4g} {row['time_unit']} | {rates} |")
    lines += ["", "| roofline of an epoch, 9,000 x 100, one thread | us | epoch / this |", "|---|---|---|"]
    parts = roofline(results)
    for what, seconds in parts:
        lines.append(f"| {what} | {seconds * 1e6:.1f} | {parts[-1][1] / seconds:.2f} |")
    lines += ["", "| ratio | |", "|---|---|"]
    for stage in "cwa":
        one, two = (results.seconds(f"epoch_{stage}/threads:{n}") for n in (1, 2))
        lines.append(f"| two threads against one, stage that trains {stage} | {one / two:.2f} |")
    flow = results.seconds("stages_gd") / results.seconds("stages_flow")
    lines.append(f"| the three stages, gd against flow | {flow:.1f} |")
    if peer:
        for n in (1, 2):
            ratio = peer / results.seconds(f"epoch_joint/threads:{n}")
            lines.append(f"| peer ({peer:.3g} s an epoch) against a joint epoch, {n} threads | {ratio:.0f} |")
    return "\n".join(lines) + "\n"


def draw_scaling(results, path):
    figure, axes = plt.subplots(2, 3, figsize=(style.WIDTH, 0.62 * style.WIDTH))
    for axis, (size, label) in zip(axes.flat, SIZES.items()):
        values, names = results.scaling(size)
        times = np.array([results.seconds(name) for name in names])
        axis.loglog(values, times * 1e6, "o-", color=style.FIRST, markersize=3.5)
        work = np.array([results.counter(name, "entries") for name in names])
        axis.loglog(values, work * (times[0] / work[0]) * 1e6, "--", color=style.GREY)
        axis.set_xlabel(label)
        if size not in "NL":
            axis.set_xticks(values, [str(value) for value in values])
            axis.minorticks_off()
        axis.set_ylim(min(times.min() * 1e6 / 2, 5), max(times.max() * 1e6 * 2, 100))
    for axis in axes[:, 0]:
        axis.set_ylabel("joint epoch, µs")
    axes[0, 0].legend(axes[0, 0].lines, ["measured", "as the layout's entries"], loc="upper left")
    figure.savefig(path)


def draw_roofline(results, path):
    parts = roofline(results)
    figure, axis = plt.subplots(figsize=(style.WIDTH, 0.3 * style.WIDTH))
    colours = [style.GREY] * 4 + [style.SECOND, style.FIRST]
    names = [what for what, _ in parts]
    micros = [seconds * 1e6 for _, seconds in parts]
    bars = axis.barh(names, micros, color=colours)
    axis.bar_label(bars, [f" {value:.0f}" for value in micros], fontsize=7)
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("µs, one epoch of 9,000 × 100 by one thread: the machine (grey, red), gih (blue)")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--peer", metavar="COMMAND")
    arguments = parser.parse_args()
    there = [name for name in FILES if (arguments.output / name).exists()]
    if there:
        parser.error(f"{arguments.output / there[0]} exists: choose another folder")
    if not arguments.benchmark.is_file():
        parser.error(f"{arguments.benchmark} is not there: build with -DGIH_BENCHMARKS=ON")
    peer = None
    if arguments.peer:
        said = subprocess.run(shlex.split(arguments.peer), check=True, capture_output=True, text=True)
        numbers = re.findall(r"\d+\.\d+(?:e-?\d+)?", said.stdout)
        if not numbers:
            parser.error(f"the peer printed no number: {said.stdout.strip()!r}")
        peer = float(numbers[0])
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.benchmark
    if path.suffix != ".json":
        path = arguments.output / "benchmark.json"
        subprocess.run([arguments.benchmark, "--benchmark_min_time=0.3", f"--benchmark_out={path}",
                        "--benchmark_out_format=json"], check=True)
    results = Results(json.loads(path.read_text()))
    text = table(results, peer)
    (arguments.output / "table.md").write_text(text)
    draw_scaling(results, arguments.output / "scaling.png")
    draw_roofline(results, arguments.output / "roofline.png")
    print(text)


if __name__ == "__main__":
    main()
