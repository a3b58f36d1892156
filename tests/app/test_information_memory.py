"""gih information --lag, --delta and --conditions, against the worked examples."""
import json
import math
import unittest

import app.cli as cli

ORDER_2 = {"vocab": 2, "parents": [1, 2],
           "pi": [[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.8, 0.2]]]}
KERNEL = ("--kernel", "K.json")
DIRICHLET = ("--data.vocab", 2, "--data.parents", "1", "--data.alpha", 0.5)


class InformationMemory(cli.Folder):
    def setUp(self):
        super().setUp()
        self.put("K.json", json.dumps(ORDER_2))

    def json(self, *arguments):
        return json.loads(self.gih("information", "--json", *arguments)[0])

    def near(self, found, wanted, error=1e-12):
        for x, y in zip(found, wanted):
            self.assertLess(abs(x - y), error, found)

    def test_lags(self):
        found = self.json("--lag", 6, *KERNEL)
        self.assertEqual(len(found["mutual"]), 6)
        self.near(found["mutual"], [0.015472057406, 0.032773138397, 0.043843495760, 0.007652392020,
                                    0.008946740366, 0.006030387274])
        self.near(found["chi_square"], [0.031887755102, 0.067971938776, 0.091074617347])
        self.assertAlmostEqual(found["lambda_2"], 0.767715645067, 12)
        # By the end the slope is that of the second eigenvalue.
        far = self.json("--lag", 80, *KERNEL)
        self.assertLess(abs(far["slope"] / (2 * math.log(far["lambda_2"])) - 1), 0.02)
        several = self.json("--lag", 4, "--kernels", 50)
        self.assertIsNone(several["slope"])
        self.assertGreater(several["plateau"], 0)
        text, _ = self.gih("information", "--lag", 6, *KERNEL)
        self.assertIn("     3     0.0438434958     0.0910746173", text)

    def test_snapshots(self):
        for options, wanted in [
                ((8, "--snapshot", "full", *KERNEL), [0.156342153895, 0.140870096489, 0]),
                ((8, *KERNEL), [0.055594216468, 0.055370645030, 0]),
                ((8, "--snapshot", "blocks", *KERNEL), [0.096237209840, 0.092655656256, 0]),
                ((50, "--local", 1, *KERNEL), [0.005964994150, 0.006112966712]),
                ((8, "--snapshot", "full", *DIRICHLET), [0.253138606740, 0.215939013237,
                                                         0.087240132174]),
                ((8, "--snapshot", "table", *DIRICHLET), [0.234167009382, 0.215939013237,
                                                          0.087240132174]),
                ((8, *DIRICHLET), [0.164566563946, 0.156477489234, 0.055096966517])]:
            self.near(self.json("--delta", *options)["delta"], wanted)
        self.assertEqual(self.json("--delta", 50, "--local", 1, *KERNEL)["method"], "token counts")
        text, _ = self.gih("information", "--delta", 8, *KERNEL)
        self.assertIn("0.055594216468", text)
        self.assertNotIn("-0.0", text)
        mixed, _ = self.gih("information", "--delta", 5, "--kernels", 3)
        self.assertIn("mixture of 3 kernels", mixed)

    def test_conditions(self):
        found = self.json("--conditions", 3, *KERNEL)
        self.assertLess(found["coherence_boundary"], 1e-12)  # r tokens screen what is before them
        self.assertLess(found["overlap_r"], 1e-12)
        self.assertGreater(found["overlap_one"], 1e-3)  # one token does not
        self.assertGreater(found["coherence_printed"], 1e-3)
        self.assertTrue(0 < found["representativeness"] < 1)
        text, _ = self.gih("information", "--conditions", 2, *DIRICHLET)
        self.assertIn("Dirichlet(0.5) mixture, first token uniform", text)

    def test_refusals(self):
        for arguments, words in [
                (("--delta", 80), ("2.03e+25 states", "length 15 is feasible")),
                (("--delta", 1), ("--delta = 1", "at least 3")),
                (("--conditions", 5), ("--conditions = 5", "3^15", "at most 4")),
                (("--local", 2), ("--local = 2", "--delta N")),
                (("--lag", 0), ("--lag = 0", "from 1 to 100000")),
                (("--lag", 2, "--delta", 5), ("exclude each other",)),
                (("--delta", 9, "--local", 9), ("--local = 9", "from 0 to 8")),
                (("--delta", 9, "--snapshot", "half"), ("--snapshot = half", "full, counts")),
                (("--delta", 9, "--block", 0), ("--block = 0",)),
                (("--delta", 9, "--data.floor", 0.1), ("data.floor = 0.1", "--kernels")),
                (("--lag", 100000, "--data.vocab", 20, "--kernels", 100), ("is feasible",))]:
            line = self.line("information", *arguments, status=2)
            for word in words:
                self.assertIn(word, line)


if __name__ == "__main__":
    unittest.main()
