"""The figures of rates, joint and one_parent on synthetic results."""

import json
import unittest

import sample_studies
from figure_case import FigureCase


class Dynamics(FigureCase):
    def put(self, name, document):
        (self.folder / name).write_text(json.dumps(document))

    def verdict(self, verdicts, part):
        """PASS or FAIL of the only claim with this text."""
        found = [line.split()[0] for line in verdicts.splitlines() if part in line]
        self.assertEqual(len(found), 1, (part, verdicts))
        return found[0]

    # ---- rates ----
    def rates(self, change={}, **keywords):
        for name in sample_studies.RATES:
            sample_studies.rates_run(self.folder / f"{name}.h5", **change.get(name, {}))
            self.put(f"{name}.rates.json", sample_studies.rates(name, **keywords))

    def test_rates(self):
        self.rates()
        verdicts = self.draw("rates", 0)
        self.assertEqual(len(verdicts.splitlines()), 9)
        self.assertEqual(self.failed(verdicts), [])
        self.assertIn("base 0.06 %", verdicts)
        self.assertIn("base all hold", verdicts)

    def test_rates_sees_errors(self):
        self.rates(error=(20.0, 20.0, 20.0))
        failed = self.failed(self.draw("rates", 1))
        self.assertEqual(len(failed), 3)
        self.assertTrue(all("at the predicted rate" in line for line in failed), failed)
        # Of second order in a(0), and below the bounds.
        self.rates(power=2.0, bound=1.2)
        failed = self.failed(self.draw("rates", 1))
        self.assertEqual(sum("the theorem's bound" in line for line in failed), 2)
        self.assertEqual(sum("slope 1" in line for line in failed), 2)
        self.assertEqual(len(failed), 4, failed)
        # The prediction is good at a(0) = 0.5 in one of the two stages.
        self.rates(error=(0.6, 0.05, 0.01))
        failed = self.failed(self.draw("rates", 1))
        self.assertEqual(len(failed), 1, failed)
        self.assertIn("off by over 5 %", failed[0])
        self.assertIn("stage 2 +2.50 % to +2.50 %", failed[0])

    def test_rates_names_the_conditions(self):
        self.rates({"M5": {"E.11": "UNDECIDED"}})
        verdicts = self.draw("rates", 0)
        self.assertIn("M5 (E.11 UNDECIDED)", verdicts)
        self.rates({"d3": {"3.6": "FAIL"}})
        self.assertEqual(self.verdict(self.draw("rates", 1), "d3 (3.6 FAIL)"), "FAIL")

    def test_rates_needs_what_was_measured(self):
        self.rates()
        self.put("d4.rates.json", {"rates": [{"stage": 1}]})
        self.assertIn("d4.rates.json: not an answer", self.draw("rates", 2))
        (self.folder / "d4.rates.json").unlink()
        self.assertIn("d4.rates.json: cannot be read", self.draw("rates", 2))
        (self.folder / "a0.5.h5").unlink()
        (self.folder / "d4.h5").unlink()
        self.assertIn("d4.h5", self.draw("rates", 2))

    # ---- joint ----
    def joint(self, change={}, **keywords):
        sample_studies.fresh_data(self.folder / "fresh.data")
        for kind in sample_studies.KINDS:
            for seed in (1, 2, 3):
                name = f"{kind}{seed}"
                sample_studies.joint_run(self.folder / f"{name}.h5", **change.get(name, {}))
                self.put(f"{name}.fresh.json", sample_studies.fresh(name, **keywords))

    def test_joint(self):
        self.joint()
        verdicts = self.draw("joint", 0)
        self.assertEqual(len(verdicts.splitlines()), 9)
        self.assertEqual(self.failed(verdicts), [])

    def test_joint_sees_runs_that_are_off(self):
        self.joint({"few2": {"p": 0.4}, "joint1": {"bend": 4.0}, "sequential3": {"heads_at": 1.0}})
        failed = self.failed(self.draw("joint", 1))
        self.assertEqual(len(failed), 3, failed)
        for line, part in zip(failed, ("p_110 > 0.5", "half-way with p_110", "straight in log t")):
            self.assertIn(part, line)

    def test_joint_compares_the_losses_on_both_terms(self):
        for share, part in (({"few": 0.15}, "equal sequences"),
                            ({"sequential": 0.05}, "equal tokens"),
                            ({"staged": 0.15}, "3 standard errors")):
            self.joint(shares={**sample_studies.FRESH, **share})
            failed = self.failed(self.draw("joint", 1))
            self.assertEqual(len(failed), 2, failed)  # loss and total variation
            self.assertTrue(all(part in line for line in failed), failed)

    def test_joint_needs_what_was_measured(self):
        self.joint()
        self.put("few1.fresh.json", {"predictions": []})
        self.assertIn("few1.fresh.json: not an answer", self.draw("joint", 2))
        (self.folder / "few1.fresh.json").unlink()
        self.assertIn("few1.fresh.json: cannot be read", self.draw("joint", 2))
        (self.folder / "fresh.data").write_text("no HDF5")
        self.assertIn("fresh.data: no data file", self.draw("joint", 2))

    # ---- one_parent ----
    def one_parent(self, change={}):
        for name in sample_studies.LAGS:
            sample_studies.one_parent_run(self.folder / f"{name}.h5", **change.get(name, {}))

    def test_one_parent(self):
        self.one_parent()
        verdicts = self.draw("one_parent", 0)
        self.assertEqual(len(verdicts.splitlines()), 6)
        self.assertEqual(self.failed(verdicts), [])
        self.assertIn("in 18 of 18 runs", verdicts)

    def test_one_parent_sees_runs_that_are_off(self):
        self.one_parent({"lag2_degree1_seed3": {"selected": "100"}, "lag1_degree2_seed1": {"S*": "UNDECIDED"},
                         "lag3_degree2_seed2": {"weight": 4.0}})
        failed = self.failed(self.draw("one_parent", 1))
        self.assertEqual(len(failed), 3, failed)
        for line, part in zip(failed, ("in 16 of 18 runs", "p_{r} > 0.99", "weight over 0.99")):
            self.assertIn(part, line)
        self.one_parent({"lag1_degree1_seed1": {"E.2": "FAIL"}, "lag1_degree1_seed2": {"III.rises": "FAIL"},
                         "lag1_degree1_seed3": {"E.6": "FAIL"}})
        failed = self.failed(self.draw("one_parent", 1))
        self.assertEqual(len(failed), 3, failed)
        self.assertTrue(all("in 17 of 18 runs" in line for line in failed), failed)

    def test_one_parent_wants_its_own_names(self):
        self.one_parent()
        (self.folder / "lag1_degree1_seed1.h5").rename(self.folder / "lagging.h5")
        self.assertIn("lagging.h5: not named", self.draw("one_parent", 2))


if __name__ == "__main__":
    unittest.main()
