"""gih sweep collect: the rows of its table are what the runs and the other commands say."""
import json
import unittest

import h5py

from app.sweep_case import Sweep


class Collected(Sweep):
    def collect(self, *arguments, folder="out", status=0):
        self.gih("sweep", "collect", folder, "-o", "all.h5", "--overwrite", *arguments, status=status)
        with h5py.File(self.folder / "all.h5") as file:
            self.assertEqual(file.attrs["format"], "gih-sweep")
            return file["points"][()]

    def setUp(self):
        super().setUp()
        self.run_sweep("-q", "--data.length", "20 inf")

    def test_rows_are_what_the_runs_hold(self):
        rows = self.collect("--kernels", 100)
        points = self.expand("--data.length", "20 inf")["points"]
        self.assertEqual(list(rows["index"]), list(range(12)))
        for row, point in zip(rows, points, strict=True):
            self.assertEqual((row["name"].decode(), row["hash"].decode(), row["status"], row["reason"]),
                             (point["name"], point["hash"], b"finished", b""))
            for key in ("data.alpha", "data.seed", "data.length"):
                self.assertEqual(row[key], float(point["keys"][key]))
            with h5py.File(self.folder / "out" / (point["name"] + ".h5")) as run:
                subsets = [s.decode() for s in run["subsets"][()]]
                p = run["log/p"][()][run["log/stage"][()] == 1][-1]
                self.assertEqual(row["selected"].decode(), subsets[p.argmax()])
                self.assertEqual(row["selected_p"], p.max())
                p = run["final/p"][()]
                self.assertEqual((row["final_selected"].decode(), row["final_p"]),
                                 (subsets[p.argmax()], p.max()))
                for S, code in enumerate(subsets):
                    self.assertEqual(row["p_" + code], p[S])
                    self.assertEqual(row["c_" + code], run["final/c"][S])
                for h in range(3):
                    for i in range(3):
                        self.assertEqual(row[f"w_{h + 1}_{i + 1}"], run["final/w"][h, i])
                for name in ("train_loss", "validation_loss"):
                    self.assertEqual(row[name], run["log/" + name][-1])
                self.assertEqual(row["a"], run["final/a"][()])
        # Every key is there, numbers as numbers.
        for key in ("data.parents", "model.subsets", "init.w-diagonal", "stage.2.epochs", "log.every"):
            self.assertIn(key, rows.dtype.names)
        self.assertEqual({str(rows.dtype[key]) for key in ("data.alpha", "data.length", "data.train")},
                         {"float64"})
        self.assertTrue(rows.dtype["data.parents"].hasobject)
        self.assertEqual(rows.dtype["index"], "int64")

    def test_theory_is_that_of_the_other_commands(self):
        rows = self.collect("--kernels", 150, "--finite")
        for row in rows[[0, 3, 7]]:
            keys = [f"--{key}={row[key]:g}" for key in ("data.alpha", "data.seed", "data.length")]
            answer = json.loads(self.gih("information", "--config", "small.ini",
                                         *keys, "--kernels", 150, "--json",
                                         *(["--finite"] if row["data.length"] == 20 else []))[0])
            self.assertEqual((row["S_star"].decode(), row["gap"], row["gap_error"],
                              row["runner_up"].decode()),
                             (answer["S_star"], answer["gap"], answer["gap_error"], answer["runner_up"]))
            self.assertEqual(row["verdict_S_star"], b"PASS" if answer["decided"] else b"UNDECIDED")
            if row["data.length"] == 20:
                self.assertEqual((row["forecast"].decode(), row["forecast_gap"]),
                                 (answer["finite_S_star"], answer["finite_gap"]))
            claims = json.loads(self.gih("verify", "--config", "small.ini", *keys, "--kernels", 150,
                                         "--json")[0])["claims"]
            for claim in claims:
                if claim["id"] in ("3.6", "3.6.k8"):
                    field = "delta_w_demanded" + ("_k8" if claim["id"] == "3.6.k8" else "")
                    self.assertEqual((row[field], row["delta_w"]), (claim["left"], claim["right"]))
                    self.assertEqual(row["verdict_" + claim["id"]].decode(), claim["verdict"])
        for row in rows:
            said = (row["verdict_selects_S_star"], row["verdict_forecast"])
            undecided = row["verdict_S_star"] == b"UNDECIDED"
            selects = b"PASS" if row["selected"] == row["S_star"] else b"FAIL"
            self.assertEqual(said[0], b"UNDECIDED" if undecided else selects)
            if row["selected"] == row["forecast"]:
                self.assertEqual(said[1], b"PASS")
        names = self.collect("--kernels", 0).dtype.names
        self.assertNotIn("S_star", names)
        self.assertIn("selected", names)

    def test_unfinished_failed_and_earlier_points(self):
        self.run_sweep("--stage.1.learning-rate", "1 1e300", "--data.seed", "1 9", status=4)
        rows = self.collect("--kernels", 50)
        self.assertEqual(sorted(set(rows["status"])), [b"failed", b"finished"])
        self.assertEqual(list(rows["index"]), [*range(8), *([-1] * 10)])
        failed = rows[rows["status"] == b"failed"]
        self.assertEqual(len(failed), 4)
        for row in failed:
            self.assertIn(b"is not finite", row["reason"])
            self.assertEqual((row["selected"], row["S_star"] != b""), (b"", True))
            self.assertNotEqual(row["train_loss"], row["train_loss"])
        earlier = rows[rows["index"] == -1]
        self.assertTrue(all(row["selected"] for row in earlier))
        self.assertEqual({row["data.length"] for row in earlier}, {20.0, float("inf")})
        # A point keeps the file name that it had in an earlier grid.
        next((self.folder / "out").glob(f"*-{rows['hash'][0].decode()}.h5")).unlink()
        self.assertEqual(self.collect("--kernels", 0)["status"][0], b"missing")

    def test_variants_that_the_theory_is_not_about(self):
        self.run_sweep("-q", "--loss.kind", "cross-entropy softmax-cross-entropy", "--data.seed", 1,
                       folder="kinds")
        rows = self.collect("--kernels", 50, folder="kinds")
        for row in rows:
            self.assertEqual(row["S_star"] == b"", row["loss.kind"] == b"softmax-cross-entropy")
            self.assertNotEqual(row["selected"], b"")

    def test_show(self):
        rows = self.collect("--kernels", 50)
        text = self.gih("show", "all.h5")[0]
        self.assertIn("all.h5: table of a grid, 12 rows", text)
        self.assertIn("data.train = 60\n", text)
        table = [line.split("\t") for line in text.splitlines() if "\t" in line]
        self.assertEqual(len(table), 13)
        column = table[0].index("data.alpha")
        self.assertEqual([float(line[column]) for line in table[1:]], list(rows["data.alpha"]))
        answer = json.loads(self.gih("show", "all.h5", "--json")[0])
        self.assertEqual(answer["format"], "gih-sweep")
        self.assertEqual([point["gap"] for point in answer["points"]], list(rows["gap"]))

    def test_refusals(self):
        self.collect("--kernels", 50)
        before = self.listing()["all.h5"]
        for arguments, part in (
                (("collect", "out", "-o", "all.h5"), "all.h5: exists already"),
                (("collect", "out"), "--output is missing"),
                (("collect", "out", "-o", "b.h5", "--kernels", "1"), "--kernels 1: must be 0"),
                (("collect", "out", "-o", "b.h5", "--kernels", "0", "--finite"), "--finite: needs --kernels"),
                (("collect", "out", "-o", "b.h5", "--data.seed", "1"), "takes no keys"),
                (("collect", "nowhere", "-o", "b.h5"), "nowhere: holds no sweep"),
                (("collect", "out", "-o", "no/b.h5"), "its folder no cannot be used")):
            with self.subTest(arguments):
                self.assertIn(part, self.line("sweep", *arguments, status=2))
        for command in (("verify", "--run", "all.h5"), ("evaluate", "--data", "all.h5", "--parameters",
                                                         "all.h5"), ("train", "--config", "all.h5")):
            self.assertIn("all.h5", self.line(*command, status=2))
        self.assertEqual(self.listing()["all.h5"], before)
        self.assertFalse((self.folder / "b.h5").exists())
        # A damaged run is named.
        victim = min((self.folder / "out").glob("*.h5"))
        victim.write_bytes(victim.read_bytes()[:9000])
        line = self.line("sweep", "collect", "out", "-o", "b.h5", "--kernels", 0, "-q", status=2)
        self.assertIn(victim.name, line)


if __name__ == "__main__":
    unittest.main()
