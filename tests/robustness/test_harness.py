"""The fault log itself: what is broken must come out as broken."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import h5py

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import faults


class Harness(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gih-harness-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scene = faults.Scene("harness", self.folder)

    def run_of(self, script):
        return subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_a_crash_counts(self):
        for number in (signal.SIGSEGV, signal.SIGABRT):
            with self.assertRaisesRegex(faults.Unlike, f"signal {int(number)}"):
                self.scene.finish(self.run_of(f"kill -{int(number)} $$"))
        self.assertEqual(self.scene.crashes, 2)

    def test_a_status_or_an_error_of_another_kind(self):
        for script, words in (("exit 1", "status 1"), ("exit 2", "one line"),
                              ("echo gih: a >&2; echo gih: b >&2; exit 2", "one line"),
                              ("echo Traceback >&2; exit 4", "one line")):
            with self.assertRaisesRegex(faults.Unlike, words):
                self.scene.finish(self.run_of(script), allowed=(0, 2, 4))
        self.scene.finish(self.run_of("echo gih: a >&2; exit 2"), allowed=(2,))

    def test_lost_rows_and_other_numbers(self):
        def write(name, rows, loss):
            with h5py.File(self.folder / name, "w") as file:
                file["log/step"] = list(range(rows))
                file["log/train_loss"] = [loss] * rows
            return self.folder / name

        wanted = faults.numbers(write("whole.h5", 5, 0.5))
        self.scene.same_numbers(write("same.h5", 5, 0.5), wanted)
        with self.assertRaises(faults.Unlike):
            self.scene.same_numbers(write("short.h5", 3, 0.5), wanted)
        self.assertEqual((self.scene.lost, self.scene.wrong), (2, 0))
        with self.assertRaises(faults.Unlike):
            self.scene.same_numbers(write("other.h5", 5, 0.25), wanted)
        self.assertEqual((self.scene.lost, self.scene.wrong), (2, 1))

    def test_a_program_that_believes_everything(self):
        """One that answers every question is found out by whatever must be refused."""
        program = self.folder / "gih"
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        names = ["foreign-files", "sizes-and-names", "folder-in-use"]
        done = subprocess.run([sys.executable, "-B", HERE / "faults.py", *names],
                              env={**os.environ, "GIH": str(program)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("3 of 3 promises broken", done.stdout)

    def test_names(self):
        listed = subprocess.run([sys.executable, "-B", HERE / "faults.py", "--list"],
                                capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(len(listed), 20)
        self.assertEqual(len(listed), len(set(listed)))
        page = (pathlib.Path(os.environ["GIH_SOURCE"]) / "docs" / "reliability.md").read_text()
        for name in listed:
            self.assertIn(f"`{name}`", page)

    def test_compiler_for_the_shim(self):
        self.assertTrue(shutil.which("cc"))


if __name__ == "__main__":
    unittest.main()
