"""What tests of figure scripts share."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PLOTS = pathlib.Path(os.environ["GIH_SOURCE"]) / "plots"


class FigureCase(unittest.TestCase):
    """A folder of results, and a figure script run on it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, name, *arguments):
        return subprocess.run(["/usr/bin/python3", "-B", PLOTS / f"{name}.py", *arguments],
                              capture_output=True, text=True)

    def draw(self, name, status):
        """Runs plots/NAME.py on the folder; its output, after checking status and pictures."""
        done = self.script(name, self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status == 2:
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            return done.stderr
        self.assertEqual(done.stderr, "")
        self.pictured(self.folder / name)
        self.assertIn(str(self.folder / f"{name}.png"), done.stdout)
        verdicts = (self.folder / "verdict.txt").read_text()
        self.assertTrue(done.stdout.endswith(verdicts))
        parts = json.loads((self.folder / "verdicts.json").read_text())
        self.assertEqual([f"{part['verdict']}  {part['statement']}  |  " + "  ".join(
            f"{value['run']}: {value['text']}" for value in part["values"]) for part in parts],
            verdicts.splitlines())
        return verdicts

    def pictured(self, stem):
        png, pdf = (stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "pdf"))
        self.assertEqual(png.read_bytes()[:4], b"\x89PNG")
        self.assertGreater(png.stat().st_size, 10_000)
        self.assertEqual(pdf.read_bytes()[:5], b"%PDF-")
        self.assertGreater(pdf.stat().st_size, 5_000)
        self.assertIn("<svg", stem.with_name(f"{stem.name}.svg").read_text())

    def failed(self, verdicts):
        return [line for line in verdicts.splitlines() if line.startswith("FAIL")]
