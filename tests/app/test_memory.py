"""gih memory: a grid of memories measured, trained, and their loss split."""
import math
import unittest

import h5py
import numpy as np

import app.cli as cli

GRID = """\
[data]
alpha = 0.3
length = 80
train = 200
validation = 100
[model]
window = 2
heads = 2
[memory]
segment = 10
slots = 10
compressor = drop mean group
multiplicity = true
scale = 2 inf
"""


class Memory(cli.Folder):
    def setUp(self):
        super().setUp()
        self.put("grid.ini", GRID)

    def table(self, name="t.h5"):
        with h5py.File(self.folder / name, "r") as file:
            return file["points"][()]

    def memory(self, action, *arguments, grid="grid.ini", status=0):
        return self.gih("memory", action, grid, "-o", "t.h5", "-q", *arguments, status=status)

    def test_run(self):
        out, _ = self.memory("run")
        self.assertEqual(len(out.splitlines()), 7)
        self.assertIn("memory.compressor", out.splitlines()[0])
        table = self.table()
        self.assertEqual(len(table), 6)
        at = {(row["memory.compressor"].decode(), row["memory.scale"]): row for row in table}
        for scale in (2.0, math.inf):
            self.assertLess(abs(at["group", scale]["kl_unc"]), 1e-12)
            self.assertGreater(at["drop", scale]["kl_unc"], at["group", scale]["kl_unc"] + 0.01)
            self.assertEqual(at["mean", scale]["kl_unc_count"], 100)
        # In the limit what content stores say is the induction head.
        self.assertLess(at["group", math.inf]["kl_gih"], 1e-12)
        masses = sum(at["mean", 2.0][f"mass_{part}_{age}"]
                     for part in ("compressed", "memory", "current") for age in range(1, 7))
        self.assertAlmostEqual(masses, 1.0, 12)
        self.assertEqual(at["mean", 2.0]["memory.rate"], 4)  # a default is told too

    def test_threads(self):
        self.memory("run", "--run.threads", 1, "--memory.train", "ar", "--memory.steps", 5,
                    "--memory.compressor", "conv", "--memory.scale", "2")
        one = self.table()
        self.memory("run", "--run.threads", 3, "--overwrite", "--memory.train", "ar",
                    "--memory.steps", 5, "--memory.compressor", "conv", "--memory.scale", "2")
        many = self.table()
        for name in one.dtype.names:
            if name != "run.threads":
                np.testing.assert_array_equal(one[name], many[name], name)
        self.assertTrue(math.isfinite(one["trained_loss"][0]))

    def test_train(self):
        out, _ = self.memory("train", "--memory.compressor", "conv-kv", "--memory.scale", "4",
                             "--memory.train", "ar ce", "--memory.steps", 120, "--memory.learning-rate", 0.02)
        self.assertIn("->", out)
        table = self.table()
        self.assertEqual(len(table), 240)
        for by in (b"ar", b"ce"):
            loss = table[table["memory.train"] == by]["loss"]
            self.assertLess(loss[-30:].mean(), loss[:30].mean())

    def test_split(self):
        self.memory("split", "--memory.compressor", "drop mean", "--memory.scale", "4",
                    "--data.vocab", 2, "--data.length", 30, "--kernels", 4)
        table = self.table()
        for row in table:
            self.assertAlmostEqual(row["total"], row["information"] + row["reading"], 12)
        at = {row["memory.compressor"]: row for row in table}
        self.assertGreater(at[b"drop"]["information"], at[b"mean"]["information"])

    def test_snaptra(self):
        snap = ("-o", "t.h5", "-q", "--memory.compressor", "drop", "--memory.multiplicity", "false",
                "--memory.snap-count", 9, "--memory.snap-log-z", "true", "--memory.scale", "3")
        self.gih("snaptra", "run", "grid.ini", *snap, "--memory.snap-queries", "mean oracle")
        mean, oracle = self.table()
        self.assertEqual(mean["memory.system"], b"snaptra")
        self.assertLess(abs(oracle["kl_unc"]), 1e-12)  # one snapshot a pattern loses nothing
        self.assertGreater(mean["kl_unc"], 0.05)
        self.assertEqual(mean["segments"], 8)
        self.assertLessEqual(mean["patterns"], 9)
        self.assertLessEqual(mean["floor_free"], mean["floor_softmax"] + 1e-12)
        self.gih("snaptra", "train", "grid.ini", *snap, "--overwrite", "--memory.snap-queries",
                 "trained", "--memory.steps", 80, "--memory.learning-rate", 0.05)
        loss = self.table()["loss"]
        self.assertEqual(len(loss), 80)
        self.assertLess(loss[-20:].mean(), loss[:20].mean())

    def test_trained_features(self):
        self.train("run.h5", "-q")
        self.memory("run", "--memory.features", "trained", "--memory.scale", "trained",
                    "--init.file", str(self.folder / "run.h5"), "--memory.compressor", "mean",
                    "--model.window", 3, "--model.heads", 3)
        self.assertTrue(0 <= self.table()["kl_unc"][0] < 1)

    def test_runs_do_not_hear_of_memory(self):
        self.train("one.h5", "-q")
        self.train("two.h5", "-q", "--memory.rate", 8)
        self.assertEqual(cli.results(self.folder / "one.h5"), cli.results(self.folder / "two.h5"))
        self.assertNotIn("memory.", self.gih("sweep", "expand", "grid.ini", "--index", 0,
                                             "--memory.segment", 20, "--memory.slots", 20,
                                             "--memory.compressor", "mean", "--memory.scale", 8,
                                             "--memory.multiplicity", "false")[0])

    def test_refusals(self):
        for arguments, words in [
                (("run", "grid.ini", "--memory.rate", 0), ("memory.rate = 0", "from 1")),
                (("run", "grid.ini", "--memory.compressor", "median"), ("median",)),
                (("run", "grid.ini", "--memory.lags", "3"), ("memory.lags = 3", "window = 2")),
                (("run", "grid.ini", "--data.length", "inf"), ("data.length = inf",)),
                (("run", "grid.ini", "--memory.scale", "-1"), ("-1",)),
                (("run", "grid.ini", "--memory.slope", 1), ("memory.slope = 1", "distance")),
                (("run", "grid.ini", "--memory.joint", "true"), ("memory.joint", "trained")),
                (("run", "grid.ini", "--memory.leftover", "floor", "--memory.rate", 40),
                 ("40", "10")),
                (("train", "grid.ini"), ("nothing is trained",)),
                (("train", "grid.ini", "--memory.train", "ce", "--memory.compressor", "conv"),
                 ("memory.train = ce", "conv-kv")),
                (("run", "grid.ini", "--kernels", 3), ("--kernels = 3", "split")),
                (("split", "grid.ini", "--memory.compressor", "group"), ("group", "drop, mean")),
                (("run", "grid.ini", "--memory.system", "snaptra", "--memory.snap-overlap", 10),
                 ("overlap of segments = 10", "10 tokens")),
                (("run", "grid.ini", "--data.validation", 1), ("data.validation = 1", "at least 2")),
                (("walk", "grid.ini"), ("memory walk", "run, train, split")),
                (("run", "none.ini"), ("none.ini",))]:
            line = self.line("memory", *arguments, "-o", "t.h5", status=2)
            for word in words:
                self.assertIn(word, line)
            self.assertEqual(self.names(), ["grid.ini", "small.ini"])


if __name__ == "__main__":
    unittest.main()
