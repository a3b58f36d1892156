"""The phase diagram, and tables of sweeps in general, from synthetic tables."""

import pathlib
import sys
import unittest

import numpy as np

import sample_run
from figure_case import PLOTS, FigureCase

sys.path.insert(0, str(PLOTS))
import sweep


class Phase(FigureCase):
    # ---- phase ----
    def test_phase(self):
        for name in ("finite", "limit"):
            sample_run.phase(self.folder / f"{name}.h5")
        verdicts = self.draw("phase", 0)
        self.assertEqual(len(verdicts.splitlines()), 4)
        self.assertIn("L = 100: 6 of 6  L = inf: 6 of 6", verdicts)

    def test_phase_fails_where_theory_does_not_hold(self):
        sample_run.phase(self.folder / "limit.h5")
        sample_run.phase(self.folder / "finite.h5",
                         selected=lambda alpha, lead, seed: "011" if lead > 5 and seed == 2 else "110")
        failed = self.failed(self.draw("phase", 1))
        self.assertEqual(len(failed), 3)  # both forms of (3.6), and the turn at alpha = 0.01
        self.assertIn("3 of 6", failed[0])
        self.assertIn("110 at 3, 110 at 3.5", failed[2])

    def test_phase_without_a_table(self):
        sample_run.phase(self.folder / "finite.h5")
        self.assertIn("limit.h5: no such table", self.draw("phase", 2))
        sample_run.trained(self.folder / "limit.h5")
        self.assertIn("not a table of gih sweep", self.draw("phase", 2))

    # ---- sweep ----
    def sweep(self, *options, status=0):
        done = self.script("sweep", self.folder / "t.h5", *options)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
            return done.stderr
        self.assertEqual(done.stderr, "")
        return pathlib.Path(done.stdout.splitlines()[0].removeprefix("figure "))

    def test_sweep(self):
        sample_run.phase(self.folder / "t.h5",
                         selected=lambda alpha, lead, seed: "110" if seed + lead > 4.2 else "001")
        heat = ("--x", "data.alpha", "--y", "init.w-diagonal")
        for options, name in (((*heat, "--value", "selected"), "t_selected"),
                              ((*heat, "--value", "selected_p"), "t_selected_p"),
                              (("--x", "data.alpha", "--lines", "init.w-diagonal", "--value",
                                "selected_p", "-o", self.folder / "lines"), "lines"),
                              (("--x", "data.alpha", "--value", "selected_p", "--where",
                                "init.w-diagonal=3.5", "-o", self.folder / "one"), "one"),
                              (("--x", "S_star", "--y", "data.alpha", "--value", "selected", "--where",
                                "init.w-diagonal=0", "-o", self.folder / "words"), "words")):
            with self.subTest(name):
                self.assertEqual(self.sweep(*options), self.folder / f"{name}.png")
                self.pictured(self.folder / name)

    def test_sweep_refuses_what_would_mislead(self):
        sample_run.phase(self.folder / "t.h5")
        over = ("--x", "data.alpha", "--value", "selected_p")
        for options, part in ((over, "init.w-diagonal differs among the points"),
                              ((*over, "--where", "init.w-diagonal=9"), "no finished point as wanted"),
                              ((*over, "--where", "init.w-diagonal=x"), "must be a number"),
                              ((*over, "--where", "init.w-diagonal"), "must be KEY=VALUE"),
                              ((*over, "--where", "init.w=1"), "no field init.w"),
                              (("--x", "data.alfa", "--value", "selected_p"), "nearest: data.alpha"),
                              ((*over, "--where", "init.w-diagonal=3", "--where",
                                "init.w-diagonal=4"), "given twice"),
                              ((*over, "--y", "init.w-diagonal", "--lines", "S_star"), "--lines"),
                              (("--x", "data.alpha", "--value", "selected", "--where",
                                "init.w-diagonal=3"), "holds words")):
            with self.subTest(options):
                self.assertIn(part, self.sweep(*options, status=2))

    def test_sweep_replaces_no_figure_unasked(self):
        sample_run.phase(self.folder / "t.h5")
        options = ("--x", "data.alpha", "--y", "init.w-diagonal", "--value", "selected", "-o",
                   self.folder / "heat.png")
        self.assertEqual(self.sweep(*options), self.folder / "heat.png")
        self.assertIn("heat.png: exists", self.sweep(*options, status=2))
        self.assertEqual(self.sweep(*options, "--overwrite"), self.folder / "heat.png")

    def test_sweep_of_words_that_are_not_everywhere(self):
        self.assertEqual(sweep.word_colours(["", "110"])[""], "white")

    def test_sweep_cells(self):
        np.testing.assert_allclose(sweep.edges(np.array([0.0, 1.0, 3.0]), False), [-0.5, 0.5, 2, 4])
        np.testing.assert_allclose(sweep.edges(np.array([0.01, 1.0]), True), [1e-3, 0.1, 10])
        self.assertEqual(sweep.most_frequent(np.array(["b", "a", "b"])), ("b", True))
        self.assertEqual(sweep.most_frequent(np.array(["a", "a"])), ("a", False))
        self.assertTrue(sweep.is_log([0.005, 0.1, 2.0]))
        self.assertFalse(sweep.is_log([0.0, 1.0, 100.0]))
        self.assertFalse(sweep.is_log([100.0, np.inf]))


if __name__ == "__main__":
    unittest.main()
