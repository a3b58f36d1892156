"""gih evaluate beside estimators that are written here once more, in another language."""
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

GIH = os.environ["GIH"]
D, M, L, ALPHA = 3, 3, 40, 0.4
PARAMETERS = {"window": M, "degree": 2, "mask": True, "eps": 0.1, "w": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
              "c": [0.1, 0.1, 0.1, 0.6, 0.1, 0.1, 0.1], "a": 2}


def gih_law(x, S):
    """(3.3); x is the prompt, positions count from 0."""
    counts, every = [0] * D, [0] * D
    for l in range(M, len(x)):
        every[x[l]] += 1
        counts[x[l]] += all(x[l - s] == x[len(x) - s] for s in S)
    counts = counts if sum(counts) else every
    return [n / sum(counts) for n in counts]


def bayes_law(x, parents):
    counts = [ALPHA] * D
    for l in range(max(parents), len(x)):
        counts[x[l]] += all(x[l - r] == x[len(x) - r] for r in parents)
    return [n / sum(counts) for n in counts]


class Evaluate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "p.json").write_text(json.dumps(PARAMETERS))
        draw = random.Random(4)
        self.rows = [[draw.randrange(D) for _ in range(L + 1)] for _ in range(20)]
        (self.folder / "t.json").write_text(json.dumps({"vocab": D, "tokens": self.rows}))

    def run_gih(self, *arguments):
        return subprocess.run([GIH, *arguments], cwd=self.folder, capture_output=True, text=True)

    def evaluate(self, data, *options):
        run = self.run_gih("evaluate", "--data", data, "--parameters", "p.json", "--json", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def assertLaws(self, laws, expected):
        self.assertEqual(len(laws), len(expected))
        for law, other in zip(laws, expected):
            for a, b in zip(law, other, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-12)

    def test_predictions_and_measures_of_json_tokens(self):
        answer = self.evaluate("t.json", "--alpha", str(ALPHA), "--parents", "1,3")
        self.assertEqual(answer["gih_subset"], "110")
        gih = [gih_law(x[:-1], [1, 2]) for x in self.rows]
        bayes = [bayes_law(x[:-1], [1, 3]) for x in self.rows]
        self.assertLaws(answer["estimators"]["gih"], gih)
        self.assertLaws(answer["estimators"]["bayes"], bayes)
        self.assertEqual(list(answer["refused"]), ["conditional"])
        self.assertAlmostEqual(answer["measures"]["model"]["loss"]["mean"], answer["loss"], delta=1e-12)
        losses = [-math.log(y[x[-1]] + 0.1) for x, y in zip(self.rows, bayes)]
        mean = sum(losses) / len(losses)
        error = math.sqrt(sum((v - mean) ** 2 for v in losses) / (len(losses) - 1) / len(losses))
        self.assertAlmostEqual(answer["measures"]["bayes"]["loss"]["mean"], mean, delta=1e-12)
        self.assertAlmostEqual(answer["measures"]["bayes"]["loss"]["error"], error, delta=1e-12)
        self.assertAlmostEqual(answer["differences"]["bayes"]["loss"]["mean"], answer["loss"] - mean,
                               delta=1e-12)
        zeros = sum(y[x[-1]] == 0 for x, y in zip(self.rows, gih))
        self.assertGreater(zeros, 0)
        self.assertEqual(answer["measures"]["gih"]["cross_entropy"],
                         {"mean": None, "error": None, "count": 20, "infinite": zeros})
        self.assertNotIn("kl", answer["measures"]["bayes"])

    def test_a_subset_may_be_chosen_and_unknown_things_are_said(self):
        answer = self.evaluate("t.json", "--subset", "101")
        self.assertLaws(answer["estimators"]["gih"], [gih_law(x[:-1], [1, 3]) for x in self.rows])
        self.assertEqual(set(answer["refused"]), {"bayes", "bayes-mixture", "conditional"})

    def test_a_data_file_tells_parents_prior_and_truth(self):
        run = self.run_gih("sample", "-o", "d.h5", "-q", "--data.train", "300", "--data.validation", "20",
                           "--data.length", str(L), "--data.alpha", str(ALPHA), "--data.parents", "1,3",
                           "--data.floor", "0.01")
        self.assertEqual(run.returncode, 0, run.stderr)
        answer = self.evaluate("d.h5")
        self.assertEqual(answer["refused"], {})
        told = self.evaluate("d.h5", "--parents", "1,3", "--alpha", str(ALPHA), "--floor", "0.01")
        self.assertEqual(answer, told)
        other = self.evaluate("d.h5", "--floor", "0.1")
        self.assertNotEqual(answer["estimators"]["bayes"], other["estimators"]["bayes"])
        kl = {name: measures["kl"]["mean"] for name, measures in answer["measures"].items()}
        self.assertEqual(kl["conditional"], 0.0)
        self.assertTrue(all(kl[name] is None or kl[name] > kl["bayes"] for name in kl
                            if name not in ("bayes", "bayes-mixture", "conditional")), kl)

    def test_any_predictor_may_be_the_one_that_others_are_compared_with(self):
        known = ("--alpha", str(ALPHA), "--parents", "1,3")
        model = self.evaluate("t.json", *known)
        answer = self.evaluate("t.json", *known, "--against", "bayes")
        self.assertEqual((model["against"], answer["against"]), ("model", "bayes"))
        self.assertEqual(set(answer["differences"]), set(answer["measures"]) - {"bayes"})
        self.assertEqual(set(answer["distances"]), set(answer["differences"]))
        ours, theirs = answer["differences"]["model"]["loss"], model["differences"]["bayes"]["loss"]
        self.assertEqual((ours["mean"], ours["error"]), (-theirs["mean"], theirs["error"]))
        gih = [gih_law(x[:-1], [1, 2]) for x in self.rows]
        bayes = [bayes_law(x[:-1], [1, 3]) for x in self.rows]
        apart = [sum(abs(a - b) for a, b in zip(*laws)) for laws in zip(gih, bayes)]
        self.assertAlmostEqual(answer["distances"]["gih"]["mean"], sum(apart) / len(apart), delta=1e-12)
        self.assertEqual(answer["distances"]["model"], model["distances"]["bayes"])

    def test_some_estimators_may_be_left_out(self):
        whole = self.evaluate("t.json", "--summary")
        some = self.evaluate("t.json", "--summary", "--only", "bigram,gih")
        self.assertEqual(set(some["measures"]), {"model", "gih", "bigram"})
        self.assertEqual(some["refused"], {})
        for name, measures in some["measures"].items():
            self.assertEqual(measures, whole["measures"][name])

    def test_a_summary_has_no_predictions_and_epsilon_may_be_told(self):
        whole = self.evaluate("t.json", "--alpha", str(ALPHA))
        short = self.evaluate("t.json", "--alpha", str(ALPHA), "--summary")
        self.assertEqual(set(whole) - set(short), {"predictions", "estimators"})
        self.assertEqual({key: whole[key] for key in short}, short)
        other = self.evaluate("t.json", "--epsilon", "0.3")
        losses = [-math.log(y[x[-1]] + 0.3) for x, y in zip(self.rows, other["predictions"])]
        self.assertAlmostEqual(other["loss"], sum(losses) / len(losses), delta=1e-12)
        self.assertAlmostEqual(other["measures"]["model"]["loss"]["mean"], other["loss"], delta=1e-12)
        self.assertEqual(other["predictions"], whole["predictions"])
        length = self.evaluate("t.json", "--epsilon", "auto")
        self.assertEqual(length, self.evaluate("t.json", "--epsilon", repr(L ** -0.5)))
        run = self.run_gih("evaluate", "--data", "t.json", "--parameters", "p.json", "--summary")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("y of prompt", run.stdout)
        self.assertNotIn("more with", run.stdout)

    def test_wrong_options_are_refused_with_status_2(self):
        for options, words in ((["--parents", "2,1"], "--parents 2,1"), (["--subset", "11"], "--subset 11"),
                               (["--floor", "0.1"], "needs --alpha"), (["--alpha", "0"], "alpha = 0"),
                               (["--against", "bais"], "--against bais: must be one of model, gih"),
                               (["--only", "gih,bais"], "--only gih,bais: bais is not one of gih,"),
                               (["--only", ""], "--only : "),
                               (["--only", "gih", "--against", "bigram"], "must be one of model, gih"),
                               (["--against", "bayes"], "--against bayes: "),
                               (["--epsilon", "1.5"], "--epsilon 1.5: must be auto, for L^(-1/2), or a number from 0 to 1"),
                               (["--epsilon", "nan"], "--epsilon nan")):
            run = self.run_gih("evaluate", "--data", "t.json", "--parameters", "p.json", *options)
            self.assertEqual(run.returncode, 2)
            self.assertIn(words, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1)
            self.assertEqual(run.stdout, "")


if __name__ == "__main__":
    unittest.main()
