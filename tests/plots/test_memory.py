"""Figures of compressed memories: their tables made of few sequences by the program, drawn, and their
verdicts held against tables that say otherwise."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

from plots.figure_case import FigureCase

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])
NAMES = sorted(path.name for path in (SOURCE / "experiments").glob("memory_*") if path.is_dir())
FEW = """#!/bin/sh
case $1 in
  memory) exec "{gih}" "$@" -q --data.validation 40 --memory.steps 6 ;;
  *) exec "{gih}" "$@" ;;
esac
"""


class MemoryFigures(FigureCase):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.made = pathlib.Path(made.name)
        few = cls.made / "few"
        few.write_text(FEW.format(gih=os.environ["GIH"]))
        few.chmod(0o755)
        for name in NAMES:
            (cls.made / name).mkdir()
            for ini in (SOURCE / "experiments" / name).glob("*.ini"):
                subprocess.run([os.environ["GIH"], "train", "--config", ini, "--data.train", "200", "-q",
                                "-o", cls.made / name / f"{ini.stem}.h5"], check=True)
            subprocess.run(["bash", SOURCE / "experiments" / name / "after.sh", few, cls.made / name,
                            "no"], check=True, capture_output=True)

    def copy(self, name):
        shutil.copytree(self.made / name, self.folder, dirs_exist_ok=True)

    def change(self, table, field, change):
        """Puts change(values) into a field of a table."""
        path = self.folder / f"{table}.h5"
        with h5py.File(path, "r") as file:
            rows = file["points"][()]
        rows[field] = change(rows[field])
        path.unlink()
        with h5py.File(path, "w") as file:
            file["points"] = rows
            file.attrs["format"] = "gih-sweep"

    def draw_any(self, name):
        """Verdicts, whatever they are: few sequences need not show what many do."""
        done = self.script(name, self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return self.draw(name, done.returncode)

    def test_every_figure_is_drawn(self):
        self.assertEqual(len(NAMES), 7)
        for name in NAMES:
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.copy(name)
                verdicts = self.draw_any(name)
                self.assertGreaterEqual(len(verdicts.splitlines()), 5)

    def sees(self, name, words, *changes):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            self.copy(name)
            for change in changes:
                self.change(*change)
            failed = "\n".join(self.failed(self.draw_any(name)))
            for word in words:
                self.assertIn(word, failed, name)

    def test_verdicts_see_what_does_not_hold(self):
        shifted, reverse = (lambda x: x + 0.5), (lambda x: x[::-1])
        self.sees("memory_rates", ["loses nothing, at any rate", "rate 1", "reference table"],
                  ("rates", "kl_unc", shifted), ("plain", "kl_unc", shifted))
        self.sees("memory_sizes", ["raw slots", "matrix memory"],
                  ("reach", "kl_unc", reverse), ("cost", "kl_unc", shifted))
        self.sees("memory_theory", ["closed form", "Jensen", "freeze", "matches wholly"],
                  ("pooled", "kl_pooled", shifted), ("mass", "jensen", lambda x: x + 9),
                  ("freezing", "match_mass", lambda x: 1.6 - x))
        self.sees("memory_training", ["after two segments", "stays bounded"],
                  ("depth", "gradient_norm", lambda x: 50 * (np.arange(len(x)) + 1.0)))
        self.sees("memory_information", ["sum of its two parts", "next to no information"],
                  ("split", "information", shifted))
        self.sees("memory_snapshots", ["never rises", "answer alike"],
                  ("local", "floor_free", lambda x: -x),
                  ("overlap", "kl_unc", lambda x: x * np.linspace(1, 2, len(x))))
        self.sees("memory_positions", ["two distances agree"],
                  ("slopes", "kl_pi", lambda x: x + 0.01 * np.arange(len(x))))

    def test_answers_about_information(self):
        self.copy("memory_information")
        self.assertEqual(len(self.failed(self.draw_any("memory_information"))), 0)
        answer = json.loads((self.folder / "chain_full.json").read_text())
        answer["delta"][2] = 0.1
        (self.folder / "chain_full.json").write_text(json.dumps(answer))
        (failed,) = self.failed(self.draw_any("memory_information"))
        self.assertIn("beside r tokens", failed)

    def test_without_its_tables(self):
        for name in NAMES:
            self.assertIn(str(self.folder), self.draw(name, 2))


if __name__ == "__main__":
    unittest.main()
