"""Figures 1, 2, 8 and 10 on synthetic data files and answers of the program."""

import json
import unittest

import h5py
import numpy as np

import sample_run
from figure_case import FigureCase


class Diagrams(FigureCase):
    # ---- fig1 ----
    def test_fig1(self):
        sample_run.sequence(self.folder / "sequence.h5")
        sample_run.starts(self.folder / "starts.h5")
        self.assertEqual(len(self.draw("fig1", 0).splitlines()), 5)

    def test_fig1_sees_what_is_no_such_chain(self):
        sample_run.sequence(self.folder / "sequence.h5", turned=True)
        sample_run.starts(self.folder / "starts.h5", law=(0.3, 0.3, 0.4))
        failed = self.failed(self.draw("fig1", 1))
        self.assertEqual([line.split("  ")[1][:13] for line in failed],
                         ["x_l given its", "the first r_n"])
        sample_run.sequence(self.folder / "sequence.h5", third=0.1)
        sample_run.starts(self.folder / "starts.h5")
        failed = self.failed(self.draw("fig1", 1))
        self.assertEqual(len(failed), 2)
        self.assertIn("x_{l-3} tells nothing", failed[1])
        # No dependence at all, and another law stored for the last token.
        rng = np.random.default_rng(3)
        sample_run.data_file(self.folder / "sequence.h5", rng.integers(0, 3, (1, 20001)),
                             np.full((1, 9, 3), 1 / 3))
        with h5py.File(self.folder / "sequence.h5", "a") as file:
            file["conditional"][0] = (0.3, 0.3, 0.4)
        failed = self.failed(self.draw("fig1", 1))
        self.assertEqual([line.split("  ")[1][:15] for line in failed],
                         ["given one paren", "the law stored "])

    def test_fig1_names_what_is_missing(self):
        self.assertIn("sequence.h5: no such data file", self.draw("fig1", 2))
        sample_run.sequence(self.folder / "sequence.h5", stored=False)
        self.assertIn("sequence.h5: no kernels in it", self.draw("fig1", 2))
        sample_run.limit(self.folder / "sequence.h5")
        self.assertIn("not a data file", self.draw("fig1", 2))
        with h5py.File(self.folder / "sequence.h5", "w") as file:
            file.attrs["format"] = "gih-data"
        self.assertIn("incomplete data file", self.draw("fig1", 2))
        (self.folder / "sequence.h5").write_text("not HDF5")
        self.assertIn("cannot be read", self.draw("fig1", 2))

    # ---- fig2 ----
    def answer(self, name, answer):
        (self.folder / f"{name}.json").write_text(json.dumps(answer))

    def test_fig2(self):
        sample_run.rpe(self.folder / "rpe.h5")
        self.answer("attention", sample_run.attention_of("rpe", 10))
        self.assertEqual(len(self.draw("fig2", 0).splitlines()), 4)

    def test_fig2_sees_another_attention(self):
        sample_run.rpe(self.folder / "rpe.h5", lost=1e-6)
        self.answer("attention", sample_run.attention_of("rpe", 10))
        failed = self.failed(self.draw("fig2", 1))
        self.assertEqual(len(failed), 2)  # another w than the attention is of, and another sum
        self.assertIn("keeps sum_i", failed[1])
        sample_run.rpe(self.folder / "rpe.h5")
        other = sample_run.attention_of("rpe", 10)
        other["attention"]["prompts"][0]["heads"][1][5][2] += 1e-9
        self.answer("attention", other)
        self.assertEqual(len(self.failed(self.draw("fig2", 1))), 2)
        other["attention"]["prompts"][0]["heads"].pop()
        self.answer("attention", other)
        self.assertIn("attention.json: not of the model", self.draw("fig2", 2))

    def test_fig2_sees_a_head_that_does_not_turn(self):
        sample_run.rpe(self.folder / "rpe.h5")
        with h5py.File(self.folder / "rpe.h5", "a") as file:
            file["log/w"][:] = file["log/w"][()][::-1]
        w = np.eye(3).tolist()
        self.answer("attention", sample_run.attention({"w": w, "a": 3.0}, 10, mask=False))
        failed = self.failed(self.draw("fig2", 1))
        self.assertEqual(len(failed), 1)
        self.assertIn("raises the attention", failed[0])

    # ---- fig8 ----
    def mechanism(self, change=None):
        sample_run.trained(self.folder / "trained.h5")
        sample_run.limit(self.folder / "limit.h5")
        for name in ("trained", "limit"):
            for length in (24, 100):
                answer = sample_run.attention_of(name, length)
                if change and name == "trained":
                    for prompt in answer["attention"]["prompts"]:
                        change(prompt)
                self.answer(f"{name}_L{length}", answer)

    def test_fig8(self):
        self.mechanism()
        self.assertEqual(len(self.draw("fig8", 0).splitlines()), 7)

    def test_fig8_sees_attention_elsewhere(self):
        def elsewhere(prompt):  # three hundredths of it go to the first position that is seen
            prompt["sigma"] = (0.97 * np.array(prompt["sigma"])).tolist()
            prompt["sigma"][3] += 0.03
            prompt["on_matches"] = sum(prompt["sigma"][l - 1] for l in prompt["matches"])
            prompt["y"] = np.bincount(prompt["tokens"], prompt["sigma"], 3).tolist()

        def another_prediction(prompt):
            prompt["y"] = [0.2, 0.3, 0.5]

        def gih_elsewhere(prompt):
            prompt["gih"][3] += 1e-9
            prompt["gih"][prompt["matches"][0] - 1 if prompt["matches"] else 4] -= 1e-9

        def soft_heads(prompt):
            for head in prompt["heads"]:
                head[-1] = [0.6, 0.3, 0.1]

        for change, parts in ((elsewhere, ["above its bound"]),
                              (another_prediction, ["the average", "as near to"]),
                              (gih_elsewhere, ["all of the GIH's"]), (soft_heads, ["every head h"])):
            with self.subTest(change.__name__):
                self.mechanism(change)
                failed = self.failed(self.draw("fig8", 1))
                self.assertEqual(len(failed), len(parts), failed)
                for part, line in zip(parts, failed):
                    self.assertIn(part, line)

    def test_fig8_sees_another_limit(self):
        self.mechanism()
        self.answer("limit_L24", sample_run.attention({**sample_run.SHARP, "a": 20.0}, 24))
        self.assertIn("the limit attends", self.failed(self.draw("fig8", 1))[-1])
        self.answer("trained_L24", sample_run.attention(sample_run.TRAINED, 24, prompts=0))
        self.assertIn("trained_L24.json: no prompt", self.draw("fig8", 2))
        for text in ("{", "{}", "[]"):
            (self.folder / "trained_L24.json").write_text(text)
            self.assertIn("trained_L24.json: not an answer", self.draw("fig8", 2))
        (self.folder / "trained_L24.json").unlink()
        self.assertIn("trained_L24.json: no such answer", self.draw("fig8", 2))

    # ---- fig10 ----
    def test_fig10(self):
        for seed in (1, 2, 3):
            sample_run.kernel(self.folder / f"kernel_seed{seed}.h5", seed=seed)
        verdicts = self.draw("fig10", 0)
        self.assertEqual(len(verdicts.splitlines()), 7)
        self.assertEqual(verdicts.count("seed3: "), 7)

    def test_fig10_fails_without_dependence(self):
        sample_run.kernel(self.folder / "kernel_seed1.h5", uniform=True)
        failed = self.failed(self.draw("fig10", 1))
        self.assertEqual(len(failed), 3)
        self.assertTrue(all("they depend, over" in line for line in failed))
        sample_run.kernel(self.folder / "kernel_seed1.h5", scale=1.1)
        self.assertIn("sums to 1", self.failed(self.draw("fig10", 1))[0])

    def test_fig10_names_what_it_cannot_enumerate(self):
        self.assertIn("no kernel_seed*.h5", self.draw("fig10", 2))
        sample_run.sequence(self.folder / "kernel_seed1.h5")
        self.assertIn("kernel_seed1.h5: too large", self.draw("fig10", 2))
        sample_run.sequence(self.folder / "kernel_seed1.h5", stored=False)
        self.assertIn("no kernels in it", self.draw("fig10", 2))


if __name__ == "__main__":
    unittest.main()
