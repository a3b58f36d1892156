"""gih evaluate against an independent autograd program, and on the program's own files."""
import json
import os
import pathlib
import unittest

import h5py
import numpy as np

import app.cli as cli
from support.by_hand import by_hand, softmax

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

    # ---- --attention ----
    def attention_case(self, full, mask, seed):
        """Files with random tokens and parameters, and what was put there."""
        rng = np.random.default_rng(seed)
        d, H, M, L = 3, 3, 4, 15
        codes = [format(m, f"0{H + full}b")[::-1] for m in range(2 ** (H + full))]
        subsets = [code for code in codes if code.count("1") <= 2]
        model = {"window": M, "degree": 2, "mask": mask, "eps": 0.1, "a": 4.5,
                 "w": rng.normal(0, 2, (H, M)).tolist(), "c": rng.normal(0, 1, len(subsets)).tolist()}
        if full:
            model.update({name: rng.normal(0, 1, (H, d, d)).tolist() for name in ("W_Q", "W_K", "W_V")})
        tokens = rng.integers(0, d, (8, L + 1)).tolist()
        tokens[-1] = [0, 1] * (L // 2) + [2, 0]  # its last token is new: no lag-1 match
        self.put("tokens.json", json.dumps({"vocab": d, "tokens": tokens}))
        self.put("parameters.json", json.dumps(model))
        return tokens, {**model, "vocab": d}, subsets

    def test_attention_is_that_of_the_formulas(self):
        without_match = 0
        for full in (False, True):
            for mask in (False, True):
                tokens, model, subsets = self.attention_case(full, mask, 5)
                answer = self.evaluate("--data", "tokens.json", "--parameters", "parameters.json",
                                       "--attention", "--subset", "1010")
                table = self.evaluate("--data", "tokens.json", "--parameters", "parameters.json")
                found = answer["attention"]
                self.assertEqual(answer["engine"], "reference")
                self.assertNotIn("attention", table)
                self.assertEqual(found["subsets"], subsets)
                self.assertEqual(found["lags"], [[1, 2, 3, 4]] * 3)
                c = np.array(model["c"])
                self.close(found["p"], c ** 2 / (c ** 2).sum())
                self.assertEqual(len(found["prompts"]), len(tokens))
                for row, prompt, y, law in zip(tokens, found["prompts"], table["predictions"],
                                               answer["estimators"]["gih"]):
                    with self.subTest(full=full, mask=mask, row=row):
                        x = np.array(row[:-1])
                        L, M = len(x), 4
                        self.assertEqual(prompt["tokens"], row[:-1])
                        heads, s, sigma, by_formula = by_hand(x, model, mask, subsets)
                        self.close(prompt["heads"], heads)
                        self.close(np.sum(prompt["heads"], axis=2)[:, 1:], np.ones((3, L)))
                        hidden = M if mask else 0
                        self.assertEqual(prompt["s"][:hidden], [None] * hidden)
                        self.close(prompt["s"][hidden:], s)
                        self.close(prompt["sigma"], sigma)
                        self.close(np.sum(prompt["sigma"]), 1)
                        self.close(prompt["y"], by_formula)
                        self.close(prompt["y"], y)
                        matches = [l + 1 for l in range(M, L)
                                   if x[l - 1] == x[L - 1] and x[l - 3] == x[L - 3]]
                        self.assertEqual(prompt["matches"], matches)
                        weights = np.zeros(L)
                        if matches:
                            weights[np.array(matches) - 1] = 1 / len(matches)
                        else:
                            weights[M:] = 1 / (L - M)
                            without_match += 1
                        self.close(prompt["gih"], weights)
                        self.close(np.bincount(x, weights, 3), law)
                        self.assertAlmostEqual(prompt["on_matches"],
                                               sum(sigma[l - 1] for l in matches), delta=1e-12)
        self.assertGreaterEqual(without_match, 4)

    def test_attention_of_runs_with_other_conventions(self):
        # Columns are the lags of the head, and last the position itself.
        self.gih("train", "-o", "run.h5", "-q", "--data.train", "5", "--data.validation", "0",
                 "--data.length", "20", "--model.variant", "full", "--model.head-window", "shifted",
                 "--model.self-attention", "1.5", "--model.head-norm", "layer")
        self.gih("sample", "--config", "run.h5", "-o", "data.h5", "-q")
        answer = self.evaluate("--data", "data.h5", "--parameters", "run.h5", "--attention")
        found = answer["attention"]
        self.assertEqual(found["lags"], [[1, 2, 3, 0], [2, 3, 4, 0], [3, 4, 5, 0]])
        with h5py.File(self.folder / "run.h5") as run:
            w = run["final/w"][()]
        for prompt, y in zip(found["prompts"], answer["predictions"]):
            heads = np.array(prompt["heads"])
            self.assertEqual(heads.shape, (3, 21, 4))
            self.close(heads.sum(2), np.ones((3, 21)))
            for h in range(3):  # the first position of each head is its own, the query sees no content
                self.close(heads[h, 0], [0, 0, 0, 1])
                self.close(heads[h, -1], softmax(np.append(w[h], 1.5)))
            self.assertEqual(prompt["y"], y)

    def test_attention_in_words(self):
        self.attention_case(False, True, 5)
        options = ("--data", "tokens.json", "--parameters", "parameters.json", "--attention")
        text = self.gih("evaluate", *options, "--subset", "1010")[0]
        prompt = self.evaluate(*options, "--subset", "1010")["attention"]["prompts"][0]
        self.assertIn(f"attention of prompt 1: {len(prompt['matches'])} of 11 positions match on 1010 and "
                      f"hold {prompt['on_matches']:.6f}\n", text)
        most = int(np.argmax(prompt["sigma"]))
        lines = text[text.index("attention of prompt 1"):].splitlines()
        self.assertEqual(lines[3].split()[:2], [str(most + 1), str(prompt["tokens"][most])])
        self.assertEqual(lines[3].split()[3], f"{prompt['sigma'][most]:.6f}")
        self.assertEqual(text.count("attention of prompt"), 8)
        self.assertIn(f"head 2 attends from the query to  lag 1 {prompt['heads'][1][-1][0]:.6f}  lag 2",
                      text)

    def test_attention_where_it_does_not_apply(self):
        self.attention_case(False, False, 5)
        options = ("--data", "tokens.json", "--parameters", "parameters.json", "--attention")
        for more, part in ((("--engine", "table"), "--engine table: must be reference with --attention"),
                           (("--engine", "tabel"), "--engine tabel: must be table or reference"),
                           (("--subset", "110"), "--subset 110: must be 4 characters"),
                           (("--subset", "11111"), "--subset 11111: must be 4 characters")):
            with self.subTest(more):
                self.assertIn(part, self.line("evaluate", *options, *more, status=2))
        self.put("short.json", '{"vocab": 3, "tokens": [[0, 1, 2, 0, 1]]}')
        line = self.line("evaluate", "--data", "short.json", *options[2:], status=2)
        self.assertIn("short.json: sequences of length 4: must be above the window 4", line)
        self.line("train", "--attention", "-o", "run.h5", status=2)
        self.assertNotIn("run.h5", self.names())

    def test_vocabularies_must_agree(self):
        self.train("run.h5", "-q")
        self.put("t.json", '{"vocab": 2, "tokens": [[0, 1, 1, 0, 1]]}')
        line = self.line("evaluate", "--data", "t.json", "--parameters", "run.h5", status=2)
        self.assertIn("t.json: vocabulary 2: must be 3, as in run.h5", line)


if __name__ == "__main__":
    unittest.main()
