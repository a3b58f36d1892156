"""Data and run files as other programs read them."""
import json
import re
import subprocess
import unittest

import h5py
import numpy as np

import app.cli as cli


class Data(cli.Folder):
    def sample(self, name, *options):
        self.gih("sample", "--config", "small.ini", "-o", name, "-q", "--overwrite", *options)
        with h5py.File(self.folder / name) as file:
            return {key: file[key][()] for key in file}, dict(file.attrs)

    def test_contents(self):
        data, attributes = self.sample("data.h5", "--kernels", "--data.alpha", "0.5")
        self.assertEqual(attributes["format"], "gih-data")
        self.assertEqual(attributes["vocab"], 3)
        self.assertEqual(list(attributes["parents"]), [1, 2])
        self.assertIn("alpha = 0.5", attributes["config"])
        tokens, kernels, conditional = data["tokens"], data["kernels"], data["conditional"]
        self.assertEqual((tokens.shape, tokens.dtype), ((80, 21), np.uint8))
        self.assertEqual((kernels.shape, kernels.dtype), ((80, 9, 3), np.float64))
        self.assertEqual(conditional.shape, (80, 3))
        self.assertEqual(set(np.unique(tokens)), {0, 1, 2})
        self.assertLess(np.abs(kernels.sum(axis=2) - 1).max(), 1e-14)
        # A row's code: the nearest parent is the most significant digit.
        codes = 3 * tokens[:, -2].astype(int) + tokens[:, -3]
        self.assertTrue(np.array_equal(conditional, kernels[np.arange(80), codes]))
        self.assertGreater(len(np.unique(conditional[:, 0])), 50)
        self.assertEqual(self.sample("plain.h5")[0].keys(), {"tokens", "conditional"})

    def test_longer_extends_and_more_appends(self):
        tokens = self.sample("a.h5")[0]["tokens"]
        longer = self.sample("b.h5", "--data.length", "50")[0]["tokens"]
        self.assertTrue(np.array_equal(longer[:, :21], tokens))
        # Training sequences first, then validation sequences: neither moves the other.
        more = self.sample("c.h5", "--data.train", "90", "--data.validation", "30")[0]["tokens"]
        self.assertTrue(np.array_equal(more[:60], tokens[:60]))
        self.assertTrue(np.array_equal(more[90:110], tokens[60:]))
        other = self.sample("d.h5", "--data.seed", "2")[0]["tokens"]
        self.assertFalse(np.array_equal(other, tokens))

    def test_large_vocabulary_has_wider_tokens(self):
        data = self.sample("data.h5", "--data.vocab", "300", "--data.parents", "1")[0]
        self.assertEqual(data["tokens"].dtype, np.uint16)
        self.assertGreater(data["tokens"].max(), 255)

    def test_threads(self):
        for threads in (1, 2, 3, 8):
            self.sample("data.h5", "--data.train", "5000", "--run.threads", threads)
            with h5py.File(self.folder / "data.h5") as file:
                seen = file["tokens"][()].tobytes() + file["conditional"][()].tobytes()
            if threads == 1:
                first = seen
            self.assertEqual(seen, first)

    def test_training_on_the_file_is_training_on_the_draws(self):
        self.sample("plain.h5")
        self.sample("kernels.h5", "--kernels")
        tokens = self.sample("json.h5")[0]["tokens"]
        self.put("tokens.json", json.dumps({"vocab": 3, "tokens": tokens.tolist()}))
        schedule = cli.SMALL[cli.SMALL.index("[stage.1]"):]
        self.put("schedule.ini", schedule)
        for target, files in (("sampled", ("plain.h5", "kernels.h5", "tokens.json")),
                              ("conditional", ("plain.h5", "kernels.h5"))):
            self.train("direct.h5", "-q", "--overwrite", "--data.target", target)
            for file in files:
                with self.subTest(target=target, file=file):
                    self.train("run.h5", "-q", "--overwrite", "--data.file", file, "--data.train",
                               "60", "--data.target", target, config="schedule.ini")
                    self.assertEqual(cli.results(self.folder / "run.h5"),
                                     cli.results(self.folder / "direct.h5"))

    def test_show(self):
        self.sample("data.h5", "--kernels")
        answer = json.loads(self.gih("show", "data.h5", "--json")[0])
        self.assertEqual(answer, {"file": "data.h5", "format": "gih-data", "rows": 80, "columns": 21,
                                  "vocab": 3, "kernels": True, "conditional": True})
        self.assertIn("80 sequences of 20 + 1 tokens", self.gih("show", "data.h5")[0])


class Run(cli.Folder):
    """Two heads, three lags, nothing symmetric."""

    def setUp(self):
        super().setUp()
        self.train("run.h5", "-q", "--model.heads", "2", "--init.w-off", "-0.25", "--init.w-diagonal",
                   "2", "--data.validation", "0", "--stage.2.epochs", "200")
        self.shown = json.loads(self.gih("show", "run.h5", "--json")[0])

    def test_untransposed(self):
        w = np.array(self.shown["w"])
        self.assertEqual(w.shape, (2, 3))
        self.assertEqual(len(np.unique(w)), 6)
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual([s.decode() for s in file["subsets"]], self.shown["subsets"])
            self.assertEqual(self.shown["subsets"], ["00", "10", "01", "11"])
            self.assertTrue(np.array_equal(file["final/w"][()], w))
            rows = self.shown["rows"]
            self.assertEqual(file["log/w"].shape, (rows, 2, 3))
            self.assertTrue(np.array_equal(file["log/w"][-1], w))
            self.assertTrue(np.array_equal(file["log/w"][0], [[2, -0.25, -0.25], [-0.25, 2, -0.25]]))
            for name in ("c", "p"):
                self.assertEqual(file["log/" + name].shape, (rows, 4))
                self.assertTrue(np.array_equal(file["final/" + name][()], self.shown[name]))
            for name in ("a", "C_D"):
                self.assertEqual(file["log/" + name].shape, (rows,))
                self.assertEqual(file["final/" + name][()], self.shown[name])
            self.assertEqual(file["log/train_loss"][-1], self.shown["train_loss"])
            self.assertTrue(np.isnan(file["log/validation_loss"][()]).all())
            self.assertIsNone(self.shown["validation_loss"])
            self.assertEqual(list(np.unique(file["log/stage"])), [1, 2, 3])
            self.assertEqual(file["log/step"][-1], 10)
            self.assertEqual(file.attrs["config"], self.shown["config"])

    def test_h5dump(self):
        dump = subprocess.run(["h5dump", "-m", "%.17g", "-d", "/final/w", self.folder / "run.h5"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("( 2, 3 )", dump)
        values = [float(x) for line in re.findall(r"\(\d,\d\): (.*)", dump) for x in line.split(",") if x]
        self.assertEqual(values, [x for row in self.shown["w"] for x in row])

    def test_show(self):
        text = self.gih("show", "run.h5")[0]
        self.assertIn("run.h5: run file, finished", text)
        for stage, step in ((1, 30), (2, 200), (3, 10)):
            self.assertIn(f"stage {stage}: to step {step}, train loss ", text)
        self.assertIn("heads = 2\n", text)


if __name__ == "__main__":
    unittest.main()
