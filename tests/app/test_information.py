"""gih information: the worked example, priors, and refusals."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

GIH = os.environ["GIH"]
WORKED = {"vocab": 2, "parents": [1, 2],
          "pi": [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]]]}
CODES = ["000", "100", "010", "110", "001", "101", "011"]


class Information(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gih-information-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.put("worked.json", WORKED)

    def put(self, name, value):
        (self.folder / name).write_text(json.dumps(value))

    def gih(self, *arguments, status=0):
        done = subprocess.run([GIH, "information", *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def json(self, *arguments):
        out, err = self.gih(*arguments, "--json", "--quiet")
        self.assertEqual(err, "")

        def never(name):
            raise AssertionError(f"{name} is not JSON")
        return json.loads(out, parse_constant=never)

    def refusal(self, *arguments):
        before = sorted(p.name for p in self.folder.iterdir())
        out, err = self.gih(*arguments, status=2)
        self.assertEqual(out, "", arguments)
        self.assertRegex(err, r"\Agih: [^\n]+\n\Z", arguments)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before)
        return err

    def close(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertLess(abs(one - other), tolerance)


class OneKernel(Information):
    def test_the_worked_example(self):
        found = self.json("--kernel", "worked.json", "--window", 3, "--degree", 2)
        self.assertEqual(found["subsets"], CODES)
        self.assertEqual(found["kernels"], 1)
        self.close(found["modified"], [0, 16 / 225, 841 / 5625, 43 / 375, 6241 / 140625,
                                       551 / 9375, 943 / 9375], 1e-12)
        self.close(found["standard"], [0, 0.16, 0.3364, 0.37, 0.099856, 0.170664451827, 0.3448], 1e-12)
        self.close(found["weighted"], [0, 0.072679281885, 0.139234834879, 0.109397152561,
                                       0.048959175681, 0.061845803879, 0.097036484590], 1e-12)
        for name in ("modified_error", "standard_error", "weighted_error"):
            self.assertEqual(found[name], [0.0] * 7)
        self.assertEqual((found["S_star"], found["runner_up"]), ("010", "110"))
        self.assertEqual((found["weighted_S_star"], found["weighted_decided"]), ("010", True))
        self.assertLess(abs(found["gap"] - 196 / 5625), 1e-12)
        self.assertEqual((found["gap_error"], found["decided"], found["tie"]), (0.0, True, False))
        self.assertEqual((found["gamma"], found["classes"], found["periods"]), (0.1, 1, [1]))
        self.assertLess(abs(found["lambda"] - 0.814142842854), 1e-12)
        self.assertLess(abs(found["Lambda"] - 5.755613837239), 1e-11)
        self.close(found["rho"][:5], [1, 1, 0.672015325446, 0.602547462651, 0.450679486901], 1e-12)
        self.close(found["stationary"], [8 / 15, 2 / 15, 2 / 15, 1 / 5], 1e-12)
        self.assertIs(found["assumption_holds"], True)

    def test_the_table_says_what_json_says(self):
        out, _ = self.gih("--kernel", "worked.json", "--window", 3, "--degree", 2)
        rows = [line.split()[0] for line in out.splitlines() if line[:3] in CODES]
        self.assertEqual(rows, ["010", "110", "011", "100", "101", "001", "000"])  # by modified
        self.assertIn("S* = 010, ahead of 110 by 0.034844444444: decided", out)
        self.assertIn("5.755613837239", out)

    def test_weights_come_from_keys(self):
        sharp = self.json("--kernel", "worked.json", "--init.w-diagonal", 60)
        self.close(sharp["weighted"], sharp["modified"], 1e-14)
        self.assertNotEqual(self.json("--kernel", "worked.json")["weighted"], sharp["weighted"])

    def test_subsets_of_one_size(self):
        found = self.json("--kernel", "worked.json", "--window", 3, "--degree", 2, "--subsets", "exactly")
        self.assertEqual(found["subsets"], ["110", "101", "011"])
        self.assertEqual(found["S_star"], "110")
        alone = self.json("--kernel", "worked.json", "--window", 3, "--degree", 3, "--subsets", "exactly")
        self.assertEqual((alone["S_star"], alone["runner_up"], alone["gap"]), ("111", None, None))

    def test_a_tie_is_said(self):
        self.put("uniform.json", {"vocab": 3, "parents": [1], "pi": [[1 / 3] * 3] * 3})
        found = self.json("--kernel", "uniform.json", "--window", 3, "--degree", 2)
        self.assertEqual((found["S_star"], found["gap"], found["decided"], found["tie"]),
                         ("000", 0.0, False, True))
        out, _ = self.gih("--kernel", "uniform.json", "--window", 3, "--degree", 2)
        self.assertIn("S* = tie of 000, 100", out)

    def test_kernels_that_do_not_mix(self):
        self.put("identity.json", {"vocab": 2, "parents": [1], "pi": [[1, 0], [0, 1]]})
        found = self.json("--kernel", "identity.json", "--window", 2)
        self.assertEqual((found["classes"], found["assumption_holds"]), (2, False))
        self.assertEqual((found["Lambda"], found["rho"]), (None, []))
        self.assertEqual(found["stationary"], [0.5, 0.5])
        out, _ = self.gih("--kernel", "identity.json", "--window", 2)
        self.assertIn("mixture", out)
        self.assertIn("is broken", out)
        self.put("flip.json", {"vocab": 2, "parents": [1], "pi": [[0, 1], [1, 0]]})
        self.assertEqual(self.json("--kernel", "flip.json", "--window", 2)["periods"], [2])

    def test_long_windows(self):
        found = self.json("--kernel", "worked.json", "--window", 12, "--degree", 1)
        self.assertEqual(len(found["modified"]), 13)
        self.assertEqual(found["S_star"], "01" + "0" * 10)


class Priors(Information):
    def test_several_kernels_are_averaged(self):
        other = {"vocab": 2, "parents": [1, 2],
                 "pi": [[[0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.9, 0.1]]]}
        self.put("other.json", other)
        self.put("both.json", {"kernels": [WORKED, other]})
        one = self.json("--kernel", "worked.json")
        two = self.json("--kernel", "other.json")
        both = self.json("--kernel", "both.json")
        self.assertEqual(both["kernels"], 2)
        for name in ("modified", "standard", "weighted"):
            self.close(both[name], [(x + y) / 2 for x, y in zip(one[name], two[name])], 1e-15)
            self.close(both[name + "_error"],
                       [abs(x - y) / 2 for x, y in zip(one[name], two[name])], 1e-15)
        self.assertEqual(both["gamma"], 0.1)
        self.assertEqual(both["lambda"], max(one["lambda"], two["lambda"]))
        self.assertIsNone(both["Lambda"])
        self.assertIsNone(both["rho"])
        self.assertIsNone(both["stationary"])

    def test_a_drawn_prior(self):
        arguments = ("--data.alpha", 0.1, "--data.floor", 1e-9, "--kernels", 300)
        found = self.json(*arguments)
        self.assertEqual((found["kernels"], found["S_star"], found["decided"]), (300, "110", True))
        at = dict(zip(found["subsets"], range(7)))
        gap = found["modified"][at["110"]] - found["modified"][at[found["runner_up"]]]
        self.assertLess(abs(gap - found["gap"]), 1e-12)
        # Paired: far below the error of either value.
        self.assertLess(found["gap_error"], 0.5 * found["modified_error"][at["110"]])
        self.assertTrue(0 < found["lambda_median"] < found["lambda"] <= 1 + 1e-9)
        self.assertTrue(0 < found["share_lambda_above_0.99"] < 1)
        self.assertEqual(found["share_breaking_assumption"], 0.0)
        for threads in (1, 2, 3):
            self.assertEqual(self.json(*arguments, "--run.threads", threads), found)
        out, _ = self.gih(*arguments, "--quiet")
        self.assertIn("S* = 110, ahead of", out)

    def test_few_kernels_decide_nothing(self):
        found = self.json("--data.alpha", 0.01, "--kernels", 10)
        self.assertFalse(found["decided"])
        out, _ = self.gih("--data.alpha", 0.01, "--kernels", 10, "--quiet")
        self.assertIn("UNDECIDED", out)

    def test_a_configuration_file(self):
        (self.folder / "C.ini").write_text("[data]\nvocab = 2\nalpha = 0.5\n[model]\nwindow = 4\nheads = 4\n")
        found = self.json("--config", "C.ini", "--kernels", 50)
        self.assertEqual(len(found["subsets"]), 1 + 4 + 6)
        self.assertEqual(self.json("--config", "C.ini", "--kernels", 50, "--data.alpha", 0.5), found)

    def test_finite_length_predicts_what_is_selected(self):
        arguments = ("--data.alpha", 0.01, "--kernels", 50, "--finite", "--data.train", 27000)
        soft = self.json(*arguments)
        self.assertEqual((soft["finite_S_star"], soft["finite_decided"]), ("001", True))
        self.assertEqual(soft["finite_sequences"], 27000)
        lead = soft["finite"][4] - soft["finite"][3]
        self.assertLess(abs(lead - 0.0034), 4 * (soft["finite_gap_error"] ** 2 + 0.0005 ** 2) ** 0.5)
        sharp = self.json(*arguments, "--init.w-diagonal", 4)
        self.assertEqual((sharp["finite_S_star"], sharp["finite_decided"]), ("110", True))
        self.assertEqual(len(sharp["finite_error"]), 7)


class Refusals(Information):
    def test_bad_input(self):
        self.put("rows.json", {"vocab": 2, "parents": [1], "pi": [[0.5, 0.6], [0.5, 0.5]]})
        self.put("negative.json", {"vocab": 2, "parents": [1], "pi": [[1.5, -0.5], [0.5, 0.5]]})
        worked = ("--kernel", "worked.json")
        for arguments, words in [
                (("--kernel", "rows.json"), "row 0 sums to 1.1"),
                (("--kernel", "negative.json"), "-0.5"),
                (("--kernel", "none.json"), "none.json"),
                ((*worked, "--window", 26), "M must be at most 25"),
                ((*worked, "--window", 1), "at least the largest lag"),
                ((*worked, "--window", 0), "from 1 to 31"),
                ((*worked, "--window", 3, "--degree", 4), "at most"),
                ((*worked, "--subsets", "all"), "at-most or exactly"),
                ((*worked, "--kernels", 5), "from 1 to 1"),
                ((*worked, "--data.vocab", 3), "must be 2, as in worked.json"),
                (("--kernels", 0), "from 1"),
                (("--kernels", 1.5), "whole number"),
                (("--kernels", "nan"), "whole number"),
                (("--kernels", 1e9), "run.max-memory"),
                (("--kernels", 1e9, "--window", 6), "feasible"),
                (("--data.vocab", 10, "--window", 9), "M must be at most 6"),
                (("--finite", "--data.length", "inf"), "must be a finite length"),
                (("--finite", "--data.train", 1e9), "run.max-memory"),
                (("--windows", 3), "nearest is --window"),
                (("--kernel",), "kernel"),
                (("extra",), "extra")]:
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_costly_weights_are_left_out_and_said(self):
        arguments = ("--kernel", "worked.json", "--window", 18, "--degree", 17, "--subsets", "exactly")
        found = self.json(*arguments)
        self.assertEqual(len(found["modified"]), 18)
        self.assertIsNone(found["weighted"])
        self.assertNotIn("weighted_S_star", found)
        self.assertIn("weighted information left out", self.gih(*arguments)[0])


if __name__ == "__main__":
    unittest.main()
