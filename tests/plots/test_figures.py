"""Figure scripts on synthetic run files: what they write, what they judge, how they fail."""

import json
import unittest

import h5py
import numpy as np

import sample_answer
import sample_run
from figure_case import FigureCase


class Figures(FigureCase):
    # ---- fig3 ----
    def test_fig3_passes_on_good_runs(self):
        for seed in (1, 2, 3):
            sample_run.trained(self.folder / f"seed{seed}.h5", seed=seed)
        verdicts = self.draw("fig3", 0)
        self.assertEqual(len(verdicts.splitlines()), 11)
        self.assertEqual(self.failed(verdicts), [])
        for seed in (1, 2, 3):
            self.assertIn(f"seed{seed}: ", verdicts)

    def test_fig3_fails_when_one_run_is_off(self):
        sample_run.trained(self.folder / "seed1.h5")
        sample_run.trained(self.folder / "seed2.h5", shift=0.6)
        failed = self.failed(self.draw("fig3", 1))
        self.assertEqual([line.split("  ")[1].split(" ends")[0] for line in failed],
                         ["stage 2: w^(1)", "stage 2: w^(2)"])

    def test_fig3_fails_when_another_subset_is_selected(self):
        sample_run.trained(self.folder / "seed1.h5", selected="011")
        self.assertEqual(len(self.failed(self.draw("fig3", 1))), 2)

    def test_fig3_sees_growth_of_one_regime(self):
        # Each law passes at epoch 5000 and lacks one of the two regimes.
        laws = {"a power": lambda t: 9 * (t / 5000) ** 0.5,
                "a line": lambda t: 9 * t / 5000,
                "a logarithm": lambda t: 9 * np.log1p(t) / np.log1p(5000),
                "a plateau": lambda t: 9 * -np.expm1(-t / 60)}
        for law, a in laws.items():
            with self.subTest(law):
                sample_run.trained(self.folder / "seed1.h5", a=a)
                failed = self.failed(self.draw("fig3", 1))
                self.assertTrue(any("epochs" in line for line in failed), failed)

    def test_fig3_draws_an_unfinished_run(self):
        for stages in (1, 2):
            with self.subTest(stages=stages):
                sample_run.trained(self.folder / "seed1.h5.part", stages=stages)
                verdicts = self.draw("fig3", 1)
                self.assertIn("not reached", verdicts)
                self.assertIn("PASS  stage 1", verdicts)

    def test_fig3_draws_other_sizes(self):
        for heads, lags, degree in ((2, 4, 1), (5, 6, 3), (8, 8, 2)):
            with self.subTest(heads=heads, lags=lags):
                sample_run.trained(self.folder / "seed1.h5", heads=heads, lags=lags, degree=degree,
                                   selected="1".ljust(heads, "0"))
                self.draw("fig3", 1)

    def test_the_same_runs_give_the_same_bytes(self):
        sample_run.trained(self.folder / "seed1.h5")
        self.draw("fig3", 0)
        first = [(self.folder / f"fig3.{kind}").read_bytes() for kind in ("png", "pdf", "svg")]
        self.draw("fig3", 0)
        self.assertEqual(first, [(self.folder / f"fig3.{kind}").read_bytes()
                                 for kind in ("png", "pdf", "svg")])

    # ---- fig3_alpha001 ----
    def test_alpha001(self):
        sample_run.KINDS["diagonal3"](self.folder / "diagonal3.h5")
        sample_run.KINDS["diagonal4"](self.folder / "diagonal4.h5")
        verdicts = self.draw("fig3_alpha001", 0)
        self.assertEqual([line[:15] for line in verdicts.splitlines()],
                         ["PASS  diagonal3", "PASS  diagonal4"])
        sample_run.trained(self.folder / "diagonal3.h5")
        self.assertEqual(len(self.failed(self.draw("fig3_alpha001", 1))), 1)

    # ---- fig9 ----
    def test_fig9(self):
        sample_run.limit(self.folder / "limit.h5")
        self.assertEqual(len(self.draw("fig9", 0).splitlines()), 2)

    def test_fig9_fails_on_soft_parameters(self):
        sample_run.limit(self.folder / "limit.h5", rho=3.0)
        self.assertIn("every head", self.failed(self.draw("fig9", 1))[0])
        sample_run.limit(self.folder / "limit.h5", c=(0, 0, 0.2, 1, 0, 0, 0))
        self.assertIn("one subset", self.failed(self.draw("fig9", 1))[0])

    # ---- assumptions ----
    def test_assumptions(self):
        sample_run.assumptions(self.folder / "inf.h5")
        sample_run.assumptions(self.folder / "finite.h5", finite=True)
        verdicts = self.draw("assumptions", 0)
        self.assertEqual(len(verdicts.splitlines()), 22)
        self.assertIn("inf: 10 of 10", verdicts)

    def test_assumptions_shows_what_the_program_found(self):
        for name, part in (("II.bound", "1 - prod"), ("E.26", "conditions hold"),
                           ("III.large", "large a")):
            for verdict in ("FAIL", "UNDECIDED", "SKIPPED"):
                with self.subTest(name=name, verdict=verdict):
                    for run in ("inf", "finite"):
                        (self.folder / f"{run}.h5").unlink(missing_ok=True)
                    sample_run.assumptions(self.folder / "inf.h5", verdicts={name: verdict})
                    sample_run.assumptions(self.folder / "finite.h5", finite=True)
                    failed = self.failed(self.draw("assumptions", 1))
                    self.assertEqual(len(failed), 1)
                    self.assertIn(part, failed[0])

    def test_assumptions_sees_how_a_grows(self):
        broken = {"a(0)": "FAIL", "E.1": "FAIL"}
        for runs, part in ((("inf", "inf"), "there a ends"), (("finite", "finite"), "stage 3: over")):
            with self.subTest(part):
                for name, kind in zip(("inf", "finite"), runs):
                    (self.folder / f"{name}.h5").unlink(missing_ok=True)
                    sample_run.assumptions(self.folder / f"{name}.h5", finite=kind == "finite",
                                           verdicts=broken if name == "finite" else
                                           dict.fromkeys(broken, "PASS"))
                failed = self.failed(self.draw("assumptions", 1))
                self.assertEqual(len(failed), 1)
                self.assertIn(part, failed[0])

    def test_assumptions_needs_checks(self):
        for run in ("inf", "finite"):
            sample_run.trained(self.folder / f"{run}.h5")
        self.assertIn("gih verify --run", self.draw("assumptions", 2))

    # ---- mean_field ----
    def mean_field(self, status, **changes):
        (self.folder / "flow").mkdir(exist_ok=True)
        sample_run.mean_field(self.folder / "flow", **changes)
        return self.draw("mean_field", status)

    def test_mean_field(self):
        verdicts = self.mean_field(0)
        self.assertEqual(len(verdicts.splitlines()), 6)
        self.assertEqual(verdicts.count("PASS"), 6)

    def test_mean_field_sees_what_does_not_hold(self):
        self.assertIn("selects 110", self.failed(self.mean_field(1, lost=[(400, 2)]))[0])
        failed = self.failed(self.mean_field(1, power=-1.0))
        self.assertEqual(len(failed), 3)
        self.assertTrue(all("slope -1/2" in line for line in failed), failed)
        (drift,) = self.failed(self.mean_field(1, drift=1e-6))
        self.assertIn("C_D is conserved", drift)
        (rise,) = self.failed(self.mean_field(1, rise=1.0))
        self.assertIn("the loss never rises", rise)

    def test_mean_field_without_its_runs(self):
        self.assertIn("no run file", self.draw("mean_field", 2))
        self.mean_field(0)
        (run,) = (self.folder / "flow").glob("length-inf_seed-2-*")
        run.unlink()
        self.assertIn("not every length and L = inf for each seed", self.draw("mean_field", 2))

    # ---- limit ----
    def lengths(self, power=-1.0, tv=-0.5):
        for length in ("inf", *sample_run.LENGTHS):
            sample_run.of_length(self.folder / f"L{length}.h5", power=power)
        for length in (300, 1000, 3000):
            (self.folder / f"predictions_L{length}.json").write_text(
                json.dumps(sample_answer.predictions(length, power=tv)))

    def test_limit(self):
        self.lengths()
        verdicts = self.draw("limit", 0)
        self.assertEqual(len(verdicts.splitlines()), 6)
        self.assertIn("-0.500 over L = 300 .. 3,000", verdicts)

    def test_limit_fails_on_another_power(self):
        self.lengths(power=-0.5)
        self.assertEqual(len(self.failed(self.draw("limit", 1))), 4)
        self.lengths(tv=-0.2)
        self.assertEqual(len(self.failed(self.draw("limit", 1))), 2)

    def test_limit_names_what_is_missing(self):
        self.lengths()
        path = self.folder / "predictions_L300.json"
        for text in ("{", "{}", "[]"):
            path.write_text(text)
            self.assertIn(path.name, self.draw("limit", 2))
        for path in self.folder.glob("*.json"):
            path.unlink()
        self.assertIn("predictions_L", self.draw("limit", 2))
        (self.folder / "Linf.h5").unlink()
        self.assertIn("Linf", self.draw("limit", 2))

    # ---- bad input ----
    def test_bad_files_end_with_status_2(self):
        self.assertIn("no run file", self.draw("fig3", 2))
        self.assertIn("limit.h5", self.draw("fig9", 2))
        for name, script in (("seed1", "fig3"), ("limit", "fig9"), ("diagonal3", "fig3_alpha001")):
            path = self.folder / f"{name}.h5"
            path.write_text("not HDF5")
            self.assertIn(path.name, self.draw(script, 2))
            with h5py.File(path, "w") as file:
                file.attrs["format"] = "gih-data"
            self.assertIn("not a run file", self.draw(script, 2))
            with h5py.File(path, "w") as file:
                file.attrs["format"] = "gih-run"
            self.assertIn("incomplete", self.draw(script, 2))

    def test_help(self):
        for name in ("fig1", "fig2", "fig3", "fig3_alpha001", "fig7", "fig8", "fig9", "fig10",
                     "assumptions", "limit", "gih_error", "partial"):
            done = self.script(name, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("verdict.txt", done.stdout)


if __name__ == "__main__":
    unittest.main()
