"""fig7, gih_error and partial on synthetic run files and answers of gih."""

import json
import unittest

import sample_run
from figure_case import FigureCase
from sample_answer import answer, evaluate, preference


class Studies(FigureCase):
    def write(self, name, document):
        (self.folder / name).write_text(json.dumps(document))

    # ---- fig7 ----
    def fig7(self, *, trained="110", **changes):
        sample_run.trained(self.folder / "trained.h5", selected=trained)
        sample_run.trained(self.folder / "alpha001.h5", selected="001")
        for alpha in ("0.05", "0.1", "0.2"):
            for length in (10, 20, 50, 100, 200, 400, 700, 1000):
                document = {
                    "bayes": answer(length, against="bayes", **changes),
                    "gih": answer(length, against="gih", only=("gih", "unigram", "bigram"), **changes),
                    "by_length": evaluate(["--parameters", "trained.h5", "--summary", "--only", "conditional",
                                           "--epsilon", "auto"], length),
                    "alpha001": answer(length, against="bayes", only=("bayes",), rest=0.2)}
                self.write(f"test_{alpha}_{length}.json", document)

    def test_fig7(self):
        self.fig7()
        verdicts = self.draw("fig7", 0)
        self.assertEqual(len(verdicts.splitlines()), 10)
        self.assertIn("better by more than 3 in 168 of 168 pairs", verdicts)
        self.assertGreater((self.folder / "fig7_proper.png").stat().st_size, 10_000)
        numbers = (self.folder / "numbers.txt").read_text()
        self.assertEqual(len(numbers.splitlines()), 2 + 24 + 1)
        self.assertIn(f"{0.2 + 1.35 / 700:.5f} +- ", numbers)  # the transformer's loss
        self.assertIn(f"{0.05 / 700:.5f} +- ", numbers)  # and how much more than that of the GIH

    def test_fig7_sees_a_better_predictor_than_bayes(self):
        self.fig7(excess={"model": (0.9, 0)})
        failed = self.failed(self.draw("fig7", 1))
        self.assertEqual(len(failed), 1)
        self.assertIn("(model at alpha", failed[0])
        self.fig7(excess={"bayes-mixture": (0.9, 0)})
        self.assertEqual(len(self.failed(self.draw("fig7", 1))), 2)  # in the KL divergence too

    def test_fig7_sees_a_loss_that_does_not_fall(self):
        self.fig7(excess={"model": (-0.5, 0.2)})  # it rises with L
        self.assertEqual([line.split("  ")[1][:12] for line in self.failed(self.draw("fig7", 1))],
                         ["its loss fal", "epsilon 0.1:"])

    def test_fig7_sees_another_set_and_a_poor_head(self):
        self.fig7(trained="011")
        self.assertIn("p_110", self.failed(self.draw("fig7", 1))[0])
        self.fig7(excess={"gih": (1, 0.2)})
        self.assertIn("beats unigram and bigram", self.failed(self.draw("fig7", 1))[0])

    def test_fig7_names_what_is_missing(self):
        self.fig7()
        path = self.folder / "test_0.1_50.json"
        for text in ("{", "{}", "[]"):
            path.write_text(text)
            self.assertIn(path.name, self.draw("fig7", 2))
        path.unlink()
        self.assertIn("0.1", self.draw("fig7", 2))
        for path in self.folder.glob("test_*"):
            path.unlink()
        self.assertIn("test_*.json", self.draw("fig7", 2))

    # ---- gih_error ----
    def gih_error(self, **changes):
        for length in (30, 100, 300, 1000, 3000, 10000):
            sample_run.in_theory_time(self.folder / f"length{length}.h5")
            self.write(f"distance_{length}.json",
                       answer(length, against="gih", only=("gih", "conditional"), **changes))

    def test_gih_error(self):
        self.gih_error()
        verdicts = self.draw("gih_error", 0)
        self.assertEqual(len(verdicts.splitlines()), 9)
        self.assertIn("closed form -0.061", verdicts)
        self.assertIn("within 0.001 from L = ", (self.folder / "numbers.txt").read_text())

    def test_gih_error_sees_what_is_off(self):
        self.gih_error()
        document = answer(10000, against="gih", only=("gih", "conditional"))
        document["distances"]["model"]["mean"] *= 0.9
        self.write("distance_10000.json", document)
        self.assertEqual([line.split("  ")[1][:8] for line in self.failed(self.draw("gih_error", 1))],
                         ["its mean", "its slop"])
        self.gih_error()
        for name, changes in (("every condition", {"3.6": ("FAIL", 1, 0)}),
                              ("||y - GIH||_1 obeys", {"E.6": ("UNDECIDED", 1, 0)})):
            sample_run.in_theory_time(self.folder / "length300.h5", changes=changes)
            failed = self.failed(self.draw("gih_error", 1))
            self.assertEqual(len(failed), 1)
            self.assertIn(name, failed[0])
        sample_run.in_theory_time(self.folder / "length300.h5", stop=1.05)
        self.assertIn("stage 3 ends", self.failed(self.draw("gih_error", 1))[0])
        sample_run.in_theory_time(self.folder / "length300.h5", selected="010")
        failed = self.failed(self.draw("gih_error", 1))
        self.assertIn("stage 1 ends", failed[0])

    def test_gih_error_names_what_is_missing(self):
        self.gih_error()
        path = self.folder / "distance_30.json"
        for text in ("{", "{}"):
            path.write_text(text)
            self.assertIn(path.name, self.draw("gih_error", 2))
        path.unlink()
        self.assertIn(path.name, self.draw("gih_error", 2))

    # ---- partial ----
    def partial(self, *, selected="010", **excess):
        for share in (0.3, 0.55, 0.8):
            self.write(f"information_{share}_inf.json", preference(share, finite=False))
        for length in (30, 100, 300, 1000, 3000, 10000):
            sample_run.trained(self.folder / f"prompt{length}.h5", selected=selected)
            known = {"bayes": (0.5, 0), "model": (1.35, 0.007), **excess}
            self.write(f"test_{length}.json", {
                "star": answer(length, against="bayes", only=("gih", "bayes", "conditional"), rest=0.007,
                               excess={"gih": (1.35, 0.0071), **known}),
                "parents": answer(length, only=("gih",), excess={"gih": (3, 0), **known})})
            for share in (0.3, 0.55, 0.8):
                self.write(f"information_{share}_{length}.json", preference(share, finite=True))

    def test_partial(self):
        self.partial()
        verdicts = self.draw("partial", 0)
        self.assertEqual(len(verdicts.splitlines()), 10)
        self.assertIn("0 of 18 otherwise, 0 undecided", verdicts)
        self.assertIn(f"{3 / 300 - 1.35 / 300 - 0.007:10.5f}", (self.folder / "numbers.txt").read_text())

    def test_partial_sees_what_is_off(self):
        self.partial(selected="110")
        self.assertIn("training selects {2}", self.failed(self.draw("partial", 1))[0])
        self.partial(bayes=(2, 0.01))
        self.assertIn("Bayes", self.failed(self.draw("partial", 1))[0])
        self.partial(model=(9, 0))
        self.assertEqual([line.split("  ")[1][:15] for line in self.failed(self.draw("partial", 1))],
                         ["at the smallest", "the transformer"])
        self.partial()
        self.write("information_0.55_300.json", preference(0.8, finite=True))
        self.assertIn("1 of 18 otherwise", self.failed(self.draw("partial", 1))[0])
        document = preference(0.55, finite=True)
        document["finite_gap_error"] = 1
        self.write("information_0.55_300.json", document)
        self.assertIn("1 undecided", self.failed(self.draw("partial", 1))[0])

    def test_partial_names_what_is_missing(self):
        self.partial()
        for name in ("test_300.json", "information_0.3_inf.json", "information_0.55_1000.json"):
            path = self.folder / name
            text = path.read_text()
            for other in ("{", "{}"):
                path.write_text(other)
                self.assertIn(name, self.draw("partial", 2))
            path.unlink()
            if name != "information_0.3_inf.json":
                self.assertIn(name, self.draw("partial", 2))
            path.write_text(text)


if __name__ == "__main__":
    unittest.main()
