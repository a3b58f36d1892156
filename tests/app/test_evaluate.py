"""gih evaluate against an independent autograd program, and on the program's own files."""
import json
import os
import pathlib
import unittest

import h5py
import numpy as np

import app.cli as cli

CASES = pathlib.Path(os.environ["GIH_SOURCE"]) / "tests/data/transformer_cases.json"


class Evaluate(cli.Folder):
    def evaluate(self, *arguments):
        return json.loads(self.gih("evaluate", *arguments, "--json")[0])

    def close(self, found, expected, tolerance=1e-12):
        found, expected = np.asarray(found), np.asarray(expected)
        self.assertEqual(found.shape, expected.shape)
        self.assertLessEqual(np.abs(found - expected).max(), tolerance * np.abs(expected).max())

    def test_reference_cases(self):
        cases = json.loads(CASES.read_text())["simple"]
        self.assertGreaterEqual(len(cases), 3)
        for case in cases:
            self.put("tokens.json", json.dumps({"vocab": case["vocab"], "tokens": case["tokens"]}))
            self.put("parameters.json", json.dumps(
                {key: case[key] for key in ("window", "degree", "mask", "eps", "w", "c", "a")}))
            for engine in ("table", "reference"):
                with self.subTest(case=case["name"], engine=engine):
                    found = self.evaluate("--data", "tokens.json", "--parameters", "parameters.json",
                                          "--gradient", "--engine", engine)
                    self.close(found["loss"], case["loss"])
                    for block in ("w", "c", "a"):
                        self.close(found["gradient"][block], case["grad_" + block])
                    self.close(found["predictions"][0], case["prediction_first"])
                    self.assertEqual(len(found["predictions"]), len(case["tokens"]))
                    self.close(np.sum(found["predictions"], axis=1), np.ones(len(case["tokens"])))

    def test_run_and_data_file(self):
        for mask in ("false", "true"):
            keys = ("--model.mask", mask, "--data.train", "50", "--data.validation", "0")
            self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q", "--overwrite", *keys)
            self.train("run.h5", "-q", "--overwrite", *keys)
            with h5py.File(self.folder / "run.h5") as run:
                loss = run["log/train_loss"][-1]
            answers = [self.evaluate("--data", "data.h5", "--parameters", "run.h5", "--gradient",
                                     "--engine", engine) for engine in ("table", "reference")]
            for answer in answers:
                self.close(answer["loss"], loss)
            for block in ("w", "c", "a"):
                self.close(answers[0]["gradient"][block], answers[1]["gradient"][block], 1e-11)
            text = self.gih("evaluate", "--data", "data.h5", "--parameters", "run.h5", "--gradient")[0]
            self.assertIn(f"loss {loss:.12f}"[:17], text)
            self.assertIn("dL/dc_110", text)

    def test_the_data_of_the_run_may_be_gone(self):
        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q")
        self.put("K.json", '{"vocab": 3, "parents": [1], "pi": [[0.5, 0.25, 0.25], [0, 1, 0], [0, 0.5, 0.5]]}')
        for key, path in (("--data.file", "used.h5"), ("--data.kernels", "K.json")):
            if key == "--data.file":
                (self.folder / path).write_bytes((self.folder / "data.h5").read_bytes())
            self.gih("train", "-o", "run.h5", "-q", "--overwrite", "--data.train", "20", key, path)
            os.remove(self.folder / path)
            answer = self.evaluate("--data", "data.h5", "--parameters", "run.h5")
            self.assertTrue(0.0 < answer["loss"] < 5.0)

    def test_vocabularies_must_agree(self):
        self.train("run.h5", "-q")
        self.put("t.json", '{"vocab": 2, "tokens": [[0, 1, 1, 0, 1]]}')
        line = self.line("evaluate", "--data", "t.json", "--parameters", "run.h5", status=2)
        self.assertIn("t.json: vocabulary 2: must be 3, as in run.h5", line)


if __name__ == "__main__":
    unittest.main()
