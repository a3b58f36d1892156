#!/usr/bin/python3 -B
"""Does to the program what befalls programs: kills, full disks, damaged files, two at once. Prints a
line for each fault with what came of it, then how many rows were lost, how many wrong numbers went
unnoticed and how many processes crashed; exit status 0 only if that is none and nothing else was
unlike what is promised. GIH names the program. `faults.py NAME...` tries those alone.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py

GIH = os.environ.get("GIH", "gih")
SEED = 20240607  # of all random moments, places and bytes

# Three stages, descent and flow, about half a second.
TRAIN = """\
[data]
length = 50
train = 600
validation = 100
[stage.1]
train = c
epochs = 3000
[stage.2]
train = w
method = flow
time = 300
[stage.3]
train = c+w+a
epochs = 9000
[run]
threads = 1
checkpoint = 0.1
"""
SWEEP = TRAIN.replace("validation = 100", "validation = 100\nseed = 1..4")


class Unlike(Exception):
    """What is unlike the promise, in one line."""


class Skipped(Exception):
    """Why a fault cannot be made here."""


class Scene:
    """One fault: a folder, the program, and what went wrong so far."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.random = random.Random(f"{SEED} {name}")
        self.lost = self.wrong = self.crashes = 0
        self.put("train.ini", TRAIN)
        self.put("sweep.ini", SWEEP)

    def put(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def start(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   "errors": "replace", "cwd": self.folder, **options}
        return subprocess.Popen([GIH, *map(str, arguments)], **options)

    def finish(self, process, allowed=(0,)):
        """(status, stdout, stderr) of a process that must end by itself, with one of these."""
        out, err = process.communicate(timeout=300)
        status = process.returncode
        if status < 0 or status >= 128:
            self.crashes += 1
            raise Unlike(f"a process ended with signal {-status if status < 0 else status - 128}")
        if status not in allowed:
            raise Unlike(f"status {status} in place of {allowed}: {err.strip()[-200:]}")
        if status in (2, 4) and (len(err.splitlines()) != 1 or not err.startswith("gih: ")):
            raise Unlike(f"not one line of error: {err.strip()[-300:]!r}")
        return status, out, err

    def gih(self, *arguments, allowed=(0,), **options):
        return self.finish(self.start(*arguments, **options), allowed)

    def kill_after(self, seconds, *arguments, **options):
        """Whether the process lived until it was killed."""
        process = self.start(*arguments, **options)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return True
        if process.returncode != 0:
            raise Unlike(f"status {process.returncode} before the kill")
        return False

    def same_numbers(self, path, wanted):
        found = numbers(path)
        if found == wanted:
            return
        rows = [len(of.get("log/step", b"")) for of in (found, wanted)]
        if rows[0] < rows[1]:
            self.lost += (rows[1] - rows[0]) // 8
        else:
            self.wrong += 1
        raise Unlike(f"{path.name}: other numbers than the run that nothing befell")


def numbers(path):
    """Bytes of everything in a run file that its configuration determines."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and name.split("/")[0] in ("log", "final", "state"):
            found[name] = item[()].tobytes()

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def timed(scene, *arguments):
    begin = time.monotonic()
    scene.gih(*arguments)
    return time.monotonic() - begin


def faults():
    import damage
    import inputs
    import kills
    import machine
    return {**kills.FAULTS, **damage.FAULTS, **machine.FAULTS, **inputs.FAULTS}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--list", action="store_true", help="name the faults and end")
    arguments = parser.parse_args()
    table = faults()
    if arguments.list:
        print(*table, sep="\n")
        return 0
    if unknown := [name for name in arguments.names if name not in table]:
        parser.error(f"no fault {unknown[0]}; there are: {', '.join(table)}")
    totals = {"lost rows": 0, "silent wrong numbers": 0, "crashes": 0}
    unlike = skipped = 0
    print(f"seed {SEED}")
    for name in arguments.names or table:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="gih-fault-") as folder:
            scene = Scene(name, pathlib.Path(folder))
            try:
                verdict, said = "held", table[name](scene)
            except Skipped as reason:
                verdict, said = "SKIPPED", str(reason)
                skipped += 1
            except (Unlike, subprocess.TimeoutExpired) as what:
                verdict, said = "BROKEN", str(what)
                unlike += 1
        for kind, count in zip(totals, (scene.lost, scene.wrong, scene.crashes)):
            totals[kind] += count
        print(f"{verdict:7}  {name:22}  {time.monotonic() - begin:5.1f} s  {said}", flush=True)
    print("; ".join(f"{count} {kind}" for kind, count in totals.items()) +
          f"; {unlike} of {len(arguments.names or table)} promises broken, {skipped} skipped")
    return 1 if unlike or any(totals.values()) else 0


if __name__ == "__main__":
    sys.modules["faults"] = sys.modules["__main__"]
    sys.exit(main())
