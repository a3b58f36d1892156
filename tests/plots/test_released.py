"""Figures of the authors' published runs, on synthetic run files and archives."""

import json
import unittest

import numpy as np

import sample_run
from figure_case import FigureCase
from sample_run import facts_published as published


class Released(FigureCase):
    def simplified(self, **changed):
        for seed in range(1, 6):
            sample_run.published(self.folder / f"seed{seed}.h5", published.SIMPLIFIED, **changed)

    def test_simplified(self):
        self.simplified()
        verdicts = self.draw("released_simplified", 0)
        self.assertEqual(len(verdicts.splitlines()), 9)
        self.assertIn("epoch 50,000 within 5 % of the published 11.351  |  5 runs: 11.35", verdicts)

    def test_simplified_judges_the_median(self):
        self.simplified(a=1.04)
        self.draw("released_simplified", 0)
        self.simplified(a=1.06)
        self.assertEqual(len(self.failed(self.draw("released_simplified", 1))), 6)
        self.simplified(loss=0.006)
        self.assertEqual(len(self.failed(self.draw("released_simplified", 1))), 2)
        self.simplified()
        sample_run.published(self.folder / "seed3.h5", published.SIMPLIFIED, a=2.0, loss=0.1)
        self.draw("released_simplified", 0)
        sample_run.published(self.folder / "seed3.h5", published.SIMPLIFIED, swap=True)
        self.assertIn("of 110 from epoch", self.failed(self.draw("released_simplified", 1))[0])

    def test_simplified_shows_an_unfinished_run(self):
        self.simplified(steps=np.arange(0, 200))
        self.assertIn("not reached", self.draw("released_simplified", 1))

    def full(self, **changed):
        """Good runs, but for `changed`: by the beginning of a run's name, keywords of published()."""
        for name, facts in (("epochs10000", published.FULL_10000),
                            *((f"epochs2500_seed{seed}", published.FULL_2500) for seed in (1, 2, 3))):
            side = {"1": 0.05, "2": -0.05}.get(name[-1], 0)
            keywords = next((changed[start] for start in changed if name.startswith(start)), {})
            sample_run.published(self.folder / f"{name}.h5", sample_run.aside(facts, side), full=True,
                                 **keywords)

    def test_full(self):
        self.full()
        self.assertEqual(len(self.draw("released_full", 0).splitlines()), 12)

    def test_full_fails_off_the_band(self):
        for name in ("epochs10000", "epochs2500"):
            for changed, count in (({"a": 1.06}, 2), ({"loss": -0.006}, 1), ({"swap": True}, 2)):
                with self.subTest(name=name, changed=changed):
                    self.full(**{name: changed})
                    failed = self.failed(self.draw("released_full", 1))
                    self.assertEqual(len(failed), count, failed)
                    self.assertTrue(all(f"{name}" in line for line in failed), failed)

    def test_full_takes_the_range_of_the_seeds(self):
        self.full(epochs2500_seed3={"a": 1.2, "loss": 0.1})
        failed = self.failed(self.draw("released_full", 1))
        self.assertEqual(len(failed), 1)  # of the seeds' first steps, not of their medians
        self.assertIn("first step", failed[0])

    def test_fig5(self):
        sample_run.published(self.folder / "full.h5", published.FULL_10000, full=True)
        self.assertEqual(len(self.draw("fig5", 0).splitlines()), 8)
        sample_run.published(self.folder / "full.h5", published.FULL_10000, full=True, swap=True)
        failed = self.failed(self.draw("fig5", 1))
        self.assertEqual([line.split("  ")[1][:12] for line in failed],
                         ["at first a w", "at the end p", "p_110 ends w", "p_011 ends w"])

    def test_fig6(self):
        sample_run.published(self.folder / "full.h5", published.FULL_10000, full=True)
        self.assertEqual(len(self.draw("fig6", 0).splitlines()), 4)
        sample_run.published(self.folder / "full.h5", published.FULL_10000, full=True,
                             steps=np.arange(3))
        self.assertIn("0.07", self.failed(self.draw("fig6", 1))[0])
        sample_run.published(self.folder / "full.h5", published.FULL_10000)
        self.assertIn("word matrices", self.draw("fig6", 2))


class Conventions(FigureCase):
    def runs(self, loss=0.0, **swapped):
        for name in ("simplified", "simplified_norm", "simplified_loss", "full", "full_text"):
            sample_run.published(self.folder / f"{name}.h5", published.SIMPLIFIED, loss=loss,
                                 swap=name in swapped)
            tv = {"mean": 0.03, "error": 0.001}
            (self.folder / f"{name}.json").write_text(json.dumps(
                {"measures": {"model": {"tv": tv}, "gih": {"tv": tv}}}))

    def test_passes(self):
        self.runs()
        self.draw("paper_and_code", 0)
        rows = (self.folder / "table.md").read_text().splitlines()
        self.assertEqual(len(rows), 2 + 5)
        self.assertIn("| full | all as in the text | 11.4 | 110 1.000 | 0.0300 ± 0.0010 |", rows)

    def test_fails(self):
        self.runs(full_text=True)
        self.assertIn("at the parents", self.failed(self.draw("paper_and_code", 1))[0])
        self.runs(loss=-0.1)
        self.assertIn("0.5514", self.failed(self.draw("paper_and_code", 1))[0])

    def test_names_what_is_missing(self):
        self.runs()
        (self.folder / "full_text.json").write_text("{}")
        self.assertIn("full_text.json", self.draw("paper_and_code", 2))
        (self.folder / "full_text.h5").unlink()
        (self.folder / "full.h5").unlink()
        self.assertIn("full.h5", self.draw("paper_and_code", 2))


class Archive(FigureCase):
    def setUp(self):
        super().setUp()
        self.run_file = self.folder / "seed1.h5"
        sample_run.published(self.run_file, published.SIMPLIFIED)
        codes = sample_run.codes(3, 2)
        self.arrays = {
            "C_list": np.full((11, 7), 0.01, dtype="f4"), "a_list": np.linspace(0.01, 1, 11),
            "alphas": np.array(["0" + code for code in codes]), "W_after": np.ones((1, 100, 3)),
            "train_loss_list_1": np.full(10, 1e-4)}

    def compare(self, **changed):
        archive = self.folder / "theirs.npz"
        np.savez(archive, **{name: values for name, values in (self.arrays | changed).items()
                             if values is not None})
        return self.script("compare_released", self.run_file, archive, "-o", self.folder / "out")

    def refused(self, done, part):
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertFalse((self.folder / "out.pdf").exists() and not (self.folder / "out.png").exists())

    def test_draws_once(self):
        done = self.compare()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.pictured(self.folder / "out")
        self.refused(self.compare(), "exists")

    def test_refuses_what_is_no_archive_of_theirs(self):
        for name in self.arrays:
            with self.subTest(name):
                self.refused(self.compare(**{name: None}), "train_loss" if "loss" in name else name)
        self.refused(self.compare(W_after=np.ones((100, 2))), "heads")
        self.refused(self.script("compare_released", self.run_file, self.run_file, "-o",
                                 self.folder / "out"), "not an archive")
        self.refused(self.script("compare_released", self.folder / "none.h5", self.run_file, "-o",
                                 self.folder / "out"), "no such run file")


if __name__ == "__main__":
    unittest.main()
