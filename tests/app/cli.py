"""Runs the program as its users do, each test in a folder of its own."""
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import h5py

GIH = os.environ["GIH"]

# A run of three stages that takes a few hundredths of a second.
SMALL = """\
[data]
length = 20
train = 60
validation = 20
[stage.1]
train = c
epochs = 30
[stage.2]
train = w
epochs = 20
[stage.3]
train = a
epochs = 10
[run]
threads = 1
"""


class Folder(unittest.TestCase):
    """A test with a folder of its own, in which the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gih-app-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "small.ini").write_text(SMALL)

    def put(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def listing(self):
        """Every file with its content."""
        return {p.name: p.read_bytes() if p.is_file() else None for p in self.folder.iterdir()}

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())

    def start(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder,
                   "text": True, "encoding": "utf-8",
                   "errors": "replace", **options}
        return subprocess.Popen([GIH, *map(str, arguments)], **options)

    def gih(self, *arguments, status=0, **options):
        """stdout and stderr of the program, which must end with `status`."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, f"{arguments}\n{out}\n{err}")
        return out, err

    def line(self, *arguments, status, **options):
        """The one line on stderr with which the program must end, having printed nothing else."""
        out, err = self.gih(*arguments, status=status, **options)
        self.assertFalse(out, arguments)
        self.assertRegex(err, r"\Agih: [^\n]+\n\Z", arguments)
        return err[len("gih: "):-1]

    def train(self, output, *arguments, config="small.ini", status=0, **options):
        return self.gih("train", "--config", config, "-o", output, *arguments, status=status,
                        **options)

    def wait_for(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}")
            time.sleep(0.005)


def results(path):
    """Bytes of everything in a run file that its configuration determines."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, str(item.dtype), item[()].tobytes())

    with h5py.File(path, "r") as file:
        for group in ("log", "final", "state"):
            file[group].visititems(lambda name, item, at=group: visit(f"{at}/{name}", item))
    assert len(found) == 23, sorted(found)
    return found
