#!/usr/bin/env python3
"""Breaks one line at a time in a copy of the tree and demands that a test notices.

Each *.patch here is one mutation: a wrong sign, a lost factor, a forgotten term. Before its diff
stands
  # killed-by: test_model --test-case="..." test_theory
the test programs, each with its arguments, that are built and run in this order until one fails.
A mutation that does not apply, does not compile, or that no program notices, is a failure; so is a
program that fails, or has no assertion, before anything was changed.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
HEADER = "# killed-by:"
PATIENCE = 300  # seconds for one test program: what has not ended by then is noticed as well


class Failure(Exception):
    """Why a mutation counts as a failure; `detail` is what a program had to say about it."""

    def __init__(self, why, detail=""):
        super().__init__(why)
        self.detail = detail


class Mutation:
    def __init__(self, path):
        self.name = path.stem
        lines = path.read_text().splitlines()
        words = []
        for line in lines:
            if line.startswith(HEADER):
                words += shlex.split(line[len(HEADER):])
        self.commands = []  # each a test program and its arguments
        for word in words:
            if word.startswith("-") and self.commands:
                self.commands[-1].append(word)
            else:
                self.commands.append([word])
        if not self.commands:
            raise Failure(f"no line \"{HEADER} PROGRAM ...\"")
        self.file, self.old, self.new = parse(lines)

    @property
    def programs(self):
        return [command[0] for command in self.commands]

    def applied(self, text):
        """`text` with the lines of the diff replaced; they may have moved, but not changed."""
        lines = text.splitlines()
        size = len(self.old)
        places = [i for i in range(len(lines) - size + 1) if lines[i:i + size] == self.old]
        if len(places) != 1:
            raise Failure(f"does not apply: its lines stand {len(places)} times in {self.file}")
        at = places[0]
        return "\n".join(lines[:at] + self.new + lines[at + size:]) + "\n"


def parse(lines):
    """File, old lines and new lines of a unified diff with one file and one hunk."""
    starts = [i for i, line in enumerate(lines) if line.startswith("@@ ")]
    files = [line[len("+++ b/"):] for line in lines if line.startswith("+++ b/")]
    if len(starts) != 1 or len(files) != 1:
        raise Failure("must change one place of one file")
    old, new = [], []
    for line in lines[starts[0] + 1:]:
        mark, text = line[:1] or " ", line[1:]
        if mark in " -":
            old.append(text)
        if mark in " +":
            new.append(text)
    if old == new:
        raise Failure("changes nothing")
    return files[0], old, new


def read_mutations(only):
    paths = sorted(HERE.glob("*.patch"))
    names = [path.stem for path in paths]
    unknown = [name for name in only if name not in names]
    if unknown or not paths:
        sys.exit(f"mutations: unknown: {', '.join(unknown) or 'all'} (see --list)")
    mutations = []
    for path in paths:
        if only and path.stem not in only:
            continue
        try:
            mutations.append(Mutation(path))
        except Failure as failure:
            sys.exit(f"mutations: {path.name}: {failure}")
    # Those of one file in a row: a file that is mended is then compiled only for the next one.
    return sorted(mutations, key=lambda mutation: (mutation.file, mutation.name))


def files_of_tree():
    """What git tracks, or without git everything but builds and results."""
    tracked = None
    if (SOURCE / ".git").exists() and shutil.which("git"):
        tracked = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z"], capture_output=True)
    if tracked is not None and tracked.returncode == 0:
        names = [pathlib.Path(name) for name in tracked.stdout.decode().split("\0") if name]
    else:
        names = [path.relative_to(SOURCE) for path in SOURCE.rglob("*")]
        names = [name for name in names
                 if not re.match(r"build|results$|\.git$", name.parts[0])
                 and "__pycache__" not in name.parts]
    return {name for name in names if (SOURCE / name).is_file()}


def copy_tree(to):
    """Copies the tree, or what has changed since it was copied."""
    names = files_of_tree()
    for old in [path for path in to.rglob("*") if path.is_file()]:
        if old.relative_to(to) not in names:
            old.unlink()
    for name in names:
        text = (SOURCE / name).read_bytes()
        if (to / name).is_file() and (to / name).read_bytes() == text:
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(text)
        shutil.copymode(SOURCE / name, to / name)


def call(command, cwd=None, timeout=None):
    """Exit status and output; None where it did not end in time."""
    try:
        done = subprocess.run(command, cwd=cwd, timeout=timeout, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as expired:
        return None, str(expired)
    return done.returncode, done.stdout


class Build:
    def __init__(self, folder, jobs):
        self.tree, self.folder, self.jobs = folder / "tree", folder / "build", jobs

    def configure(self):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        # No build type, because Release would say -O3.
        status, output = call(
            ["cmake", "-S", str(self.tree), "-B", str(self.folder), *generator, *launcher,
             "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG", "-DGIH_NATIVE=OFF",
             "-DGIH_TESTS=ON", "-DGIH_BENCHMARKS=OFF"])
        if status != 0:
            raise Failure("the copy cannot be configured", output)

    def make(self, programs):
        status, output = call(["cmake", "--build", str(self.folder), "--parallel", str(self.jobs),
                               "--target", *programs])
        if status != 0:
            raise Failure("does not compile", output)

    def fails(self, command):
        """Whether a test program fails, with its output."""
        program = self.folder / "tests" / command[0]
        status, output = call([str(program), *command[1:]], self.folder, PATIENCE)
        return status != 0, output


def try_mutation(mutation, build):
    """The command that noticed."""
    path = build.tree / mutation.file
    before = path.read_bytes()
    path.write_text(mutation.applied(before.decode()))
    try:
        for command in mutation.commands:
            build.make([command[0]])
            if build.fails(command)[0]:
                return command
        raise Failure("survived: no test noticed")
    finally:
        path.write_bytes(before)


def unharmed(mutations, build):
    """Builds the copy as it is; every command must pass."""
    build.configure()
    build.make(sorted({program for mutation in mutations for program in mutation.programs}))
    commands = {tuple(command) for mutation in mutations for command in mutation.commands}
    for command in sorted(commands):
        failed, output = build.fails(command)
        if failed:
            raise Failure(f"{shlex.join(command)} fails before anything was changed", output)


def run(mutations, folder, jobs):
    """Status; prints a line a mutation as it comes and the table at the end."""
    build = Build(folder, jobs)
    start = time.monotonic()
    copy_tree(build.tree)
    try:
        unharmed(mutations, build)
    except Failure as failure:
        print(failure.detail[-4000:])
        print(f"mutations: {failure}")
        return 1
    print(f"built and tested the copy in {time.monotonic() - start:.0f} s", flush=True)
    rows = []
    for number, mutation in enumerate(mutations, 1):
        began = time.monotonic()
        try:
            command = try_mutation(mutation, build)
            good, what = True, shlex.join(command)
        except Failure as failure:
            good, what = False, f"FAILURE: {failure}"
            print(failure.detail[-4000:], end="")
        rows.append((mutation.name, good, what, time.monotonic() - began))
        print(f"[{number}/{len(mutations)}] {mutation.name}: {what}", flush=True)
    width = max(len(row[0]) for row in rows)
    print(f"\n{'mutation':{width}}  seconds  killed by")
    for name, _, what, seconds in sorted(rows):
        print(f"{name:{width}}  {seconds:7.1f}  {what}")
    bad = [row[0] for row in rows if not row[1]]
    print(f"\n{len(rows)} mutations, {len(bad)} failures, {time.monotonic() - start:.0f} s"
          + "".join(f"\n  {name}" for name in bad))
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="this mutation alone; may be given again")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1,
                        help="processes that compile (default: all processors)")
    parser.add_argument("--list", action="store_true", help="name the mutations and end")
    parser.add_argument("--folder", metavar="DIR", type=pathlib.Path,
                        help="copy and build here, and keep both for the next time (default: a "
                             "temporary folder)")
    options = parser.parse_args()
    mutations = read_mutations(options.only)
    if options.list:
        for mutation in mutations:
            print(f"{mutation.name}  {mutation.file}  {' '.join(mutation.programs)}")
        return 0
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return run(mutations, options.folder.resolve(), options.jobs)
    with tempfile.TemporaryDirectory(prefix="gih-mutations-") as folder:
        return run(mutations, pathlib.Path(folder), options.jobs)


if __name__ == "__main__":
    sys.exit(main())
