"""gih sweep: every point is the run that gih train makes, whatever stops it on the way."""
import random
import os
import signal
import time
import unittest

import h5py

from app.sweep_case import Sweep


def without_time(path):
    """The bytes of a run file, but for its seal and when it was made."""
    with h5py.File(path) as file:
        created = file.attrs["created"].encode()
    content = path.read_bytes()[512:]
    assert content.count(created) == 1
    return content.replace(created, b"?")


class Points(Sweep):
    def test_expand(self):
        answer = self.expand()
        self.assertEqual(answer["axes"], ["data.alpha", "data.seed"])
        self.assertEqual([p["keys"] for p in answer["points"]],
                         [{"data.alpha": a, "data.seed": s} for a in ("0.03", "0.3") for s in "123"])
        self.assertEqual([p["index"] for p in answer["points"]], list(range(6)))
        lines = self.gih("sweep", "expand", "grid.ini")[0].splitlines()
        self.assertEqual(lines[0].split(), ["index", "name", "data.alpha", "data.seed"])
        for line, point in zip(lines[1:], answer["points"], strict=True):
            self.assertEqual(line.split(), [str(point["index"]), point["name"], *point["keys"].values()])
        config = self.gih("sweep", "expand", "grid.ini", "--index", 4)[0]
        self.assertEqual(config, answer["points"][4]["config"])
        self.assertIn("alpha = 0.3\n", config)
        self.assertIn("seed = 2\n", config)

    def test_options_and_files_of_keys(self):
        self.put("base.ini", "[data]\nseed = 7\nvocab = 2\n")
        answer = self.expand("--config", "base.ini", "--data.alpha", "0.5 0.6 0.7")
        self.assertEqual(len(answer["points"]), 9)
        self.assertIn("vocab = 2\n", answer["points"][0]["config"])
        self.assertEqual({p["keys"]["data.seed"] for p in answer["points"]}, {"1", "2", "3"})

    def test_each_point_is_what_train_makes(self):
        for options in ((), ("--jobs", 1), ("--jobs", 6), ("--jobs", 2, "--run.threads", 3)):
            folder = "out" + "".join(map(str, options))
            _, err = self.run_sweep(*options, folder=folder)
            self.assertIn("6 of 6 points finished, 6 of them now", err)
            points = self.expand(*(o for o in options if o != "--jobs" and not isinstance(o, int)),
                                 *options[3:])["points"]
            self.assertEqual(sorted(self.inside(folder)),
                             sorted(["grid.ini", *(p["name"] + ".h5" for p in points)]))
            for point in points:
                self.put("point.ini", point["config"])
                self.train("direct.h5", "-q", "--overwrite", config="point.ini")
                self.assertEqual(without_time(self.folder / folder / (point["name"] + ".h5")),
                                 without_time(self.folder / "direct.h5"))

    def test_finished_points_are_skipped_and_a_changed_grid_adds(self):
        self.run_sweep()
        before = self.inside()
        _, err = self.run_sweep()
        self.assertIn("6 of 6 points finished, 0 of them now", err)
        self.assertEqual(self.inside(), before)
        # More of one axis, less of another, and a new one with the value that it had.
        _, err = self.run_sweep("--data.seed", "2..4", "--init.a", "0.01 0.02")
        self.assertIn("12 of 12 points finished, 8 of them now", err)
        after = self.inside()
        self.assertEqual({n: c for n, c in after.items() if n in before and n != "grid.ini"},
                         {n: c for n, c in before.items() if n != "grid.ini"})
        self.assertEqual(len(after), 1 + 6 + 8)
        status = self.status()
        self.assertEqual((status["points"], status["finished"], status["of_other_grids"]), (12, 12, 2))
        self.assertIn("2 more finished runs", self.gih("sweep", "status", "out")[0])

    def test_tasks(self):
        for index in (3, 0, 3):
            _, err = self.gih("sweep", "task", "grid.ini", "-o", "out", "--index", index)
        self.assertIn("is finished already", err)
        self.assertEqual(self.states(), ["finished", "missing", "missing", "finished", "missing",
                                         "missing"])
        # A whole array at once.
        tasks = [self.start("sweep", "task", "grid.ini", "-o", "new", "--index", i, "-q")
                 for i in range(6)]
        for task in tasks:
            out, err = task.communicate(timeout=120)
            self.assertEqual((task.returncode, out, err), (0, "", ""))
        self.run_sweep()
        self.assertEqual({n: c for n, c in self.inside("new").items() if n == "grid.ini"},
                         {n: c for n, c in self.inside().items() if n == "grid.ini"})
        for name in self.inside():
            if name != "grid.ini":
                self.assertEqual(without_time(self.folder / "out" / name),
                                 without_time(self.folder / "new" / name))

    def test_paths_are_relative_to_the_grid(self):
        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q")
        (self.folder / "grids").mkdir()
        (self.folder / "elsewhere").mkdir()
        self.put("grids/g.ini", "data.file = ../data.h5\ndata.train = 50 60\n"
                                "stage.1.train = c\nstage.1.epochs = 5\n")
        self.gih("sweep", "run", "../grids/g.ini", "-o", "out", "-q", cwd=self.folder / "elsewhere")
        self.assertEqual(self.states("elsewhere/out"), ["finished"] * 2)
        self.train("direct.h5", "-q", "--data.file", "data.h5", "--data.train", 60,
                   "--data.validation", 20, "--stage.1.epochs", 5, "--stage.2.epochs", 0)
        self.gih("sweep", "run", "grids/g.ini", "-o", "elsewhere/out", "-q", "--data.file", "data.h5")
        self.assertEqual(len(self.inside("elsewhere/out")), 3)  # the same points from there


class Failures(Sweep):
    def test_a_failed_point_is_listed_and_the_rest_goes_on(self):
        # Steps this large leave the finite numbers.
        _, err = self.run_sweep("--stage.1.learning-rate", "1 1e300", status=4)
        self.assertIn("6 of 12 points finished, 6 of them now; 6 failed", err)
        lines = [line for line in err.splitlines() if line.startswith("failed: ")]
        self.assertEqual(len(lines), 6)
        for line in lines:
            self.assertRegex(line, r"^failed: \d+ [\w-]+: stage 1, step \d+: .* is not finite")
        status = self.status()
        self.assertEqual((status["finished"], status["failed"]), (6, 6))
        reasons = {p["reason"] for p in status["status"] if p["state"] == "failed"}
        self.assertTrue(all("finite" in reason for reason in reasons), reasons)
        for line in lines:
            self.assertIn(line, self.gih("sweep", "status", "out")[0])
        # Again: tried anew, with the same end; a task says it in one line.
        self.run_sweep("--stage.1.learning-rate", "1 1e300", status=4)
        line = self.line("sweep", "task", "grid.ini", "-o", "out", "--index", 1,
                         "--stage.1.learning-rate", "1 1e300", "-q", status=4)
        self.assertIn("finite", line)
        # A grid without them has no failure.
        self.run_sweep("--stage.1.learning-rate", "1")

    def test_a_failure_that_is_cured(self):
        self.run_sweep("--data.seed", 1)
        name = next(n for n in self.inside() if n.startswith("alpha-0p3"))
        whole = (self.folder / "out" / name).read_bytes()
        (self.folder / "out" / name).write_bytes(whole[:5000])
        _, err = self.run_sweep("--data.seed", 1, status=4)
        self.assertRegex(err, rf"failed: 1 [\w-]+: out/{name}: .*truncated")
        self.assertEqual((self.folder / "out" / name).read_bytes(), whole[:5000])
        (self.folder / "out" / name).unlink()
        self.assertEqual(self.states(), ["finished", "failed"])
        self.run_sweep("--data.seed", 1)
        self.assertEqual(self.states(), ["finished", "finished"])
        self.assertEqual(sorted(n for n in self.inside() if not n.endswith(".h5")), ["grid.ini"])

    def test_refusals_write_nothing(self):
        self.put("bad.ini", "data.seed = 1..3\nmodel.degree = 2 9\n")
        self.put("text", "not a folder")
        before = self.listing()
        for arguments, part in (
                (("run", "bad.ini", "-o", "out"), "model.degree = 9"),
                (("run", "none.ini", "-o", "out"), "none.ini: cannot open"),
                (("run", "grid.ini"), "--output is missing"),
                (("run", "grid.ini", "-o", "out", "--jobs", "0"), "--jobs 0: must be a whole number from 1"),
                (("run", "grid.ini", "-o", "out", "--index", "1"), "--index is not an option of gih sweep run"),
                (("run", "grid.ini", "-o", "text"), "text: is not a folder"),
                (("run", "grid.ini", "-o", "."), "grid.ini: is not the grid of a sweep's folder"),
                (("run", "grid.ini", "-o", "out", "--data.alhpa", "1 2"), "--data.alhpa is not an option"),
                (("run", "grid.ini", "-o", "out", "--data.alpha", "1 x"), "--data.alpha"),
                (("task", "grid.ini", "-o", "out"), "--index is missing"),
                (("task", "grid.ini", "-o", "out", "--index", "6"), "--index 6: must be a whole number from 0 to 5"),
                (("task", "grid.ini", "-o", "out", "--index", "-1"), "--index"),
                (("expand", "grid.ini", "--index", "6"), "from 0 to 5"),
                (("expand", "grid.ini", "--quiet"), "--quiet is not an option of gih sweep expand"),
                (("status", "."), "is not"),
                (("status", "nowhere"), "nowhere: holds no sweep"),
                (("status", "out", "--data.seed", "1"), "takes no keys"),
                (("rnu", "grid.ini"), "the nearest is run"),
                (("run",), "gih sweep needs ACTION"),
                (("run", "grid.ini", "more"), "one argument too many")):
            with self.subTest(arguments):
                self.assertIn(part, self.line("sweep", *arguments, status=2))
                self.assertEqual(self.listing(), before)

    def test_a_folder_with_something_else_is_left_alone(self):
        (self.folder / "notes").mkdir()
        self.put("notes/mine.txt", "mine")
        line = self.line("sweep", "run", "grid.ini", "-o", "notes", status=2)
        self.assertIn("notes: holds mine.txt and no sweep", line)
        self.assertEqual(self.inside("notes"), {"mine.txt": b"mine"})


class Stopped(Sweep):
    @classmethod
    def setUpClass(cls):
        """The sweep that nothing stopped, which all others must equal."""
        super().setUpClass()
        folder = Sweep()
        folder.setUp()
        cls.addClassCleanup(folder.doCleanups)
        start = time.monotonic()
        folder.run_sweep("-q", grid="long.ini")
        cls.seconds = time.monotonic() - start
        cls.unbroken = {path.name: without_time(path)
                        for path in (folder.folder / "out").glob("*.h5")}
        assert len(cls.unbroken) == 4

    def begin(self, *arguments):
        process = self.start("sweep", "run", "long.ini", "-o", "out", *arguments)
        self.wait_for(lambda: list((self.folder / "out").glob("*.part")), "the first unfinished run")
        return process

    def assert_unbroken(self):
        _, err = self.run_sweep(grid="long.ini")
        self.assertIn("4 of 4 points finished", err)
        found = {path.name: without_time(path) for path in (self.folder / "out").glob("*.h5")}
        self.assertEqual(found, self.unbroken)
        left = [n for n in self.inside() if not n.endswith(".h5")]
        self.assertEqual(left, ["grid.ini"])

    def test_what_a_kill_at_the_end_leaves_is_cleared(self):
        self.run_sweep(grid="long.ini")
        run = sorted((self.folder / "out").glob("*.h5"))[0]
        for name in (".lock", ".part"):
            run.with_name(run.name + name).write_bytes(b"999999\n")
        self.assert_unbroken()

    def test_interrupts(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begin()
            time.sleep(self.seconds / 5)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (3, ""))
            self.assertIn("interrupted; the same command goes on\n", err)
            self.assertEqual([n for n in self.inside() if n.endswith(".lock")], [])
        self.assertIn("unfinished", self.states())
        self.assertIn("unfinished: ", self.gih("sweep", "status", "out")[0])
        self.assert_unbroken()

    def test_kills(self):
        for _ in range(3):
            process = self.begin("-q")
            time.sleep(random.uniform(0.0, self.seconds / 4))
            process.kill()
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            self.status()
        self.assert_unbroken()

    def test_one_process_in_a_folder(self):
        process = self.begin("-q")
        line = self.line("sweep", "run", "long.ini", "-o", "out", status=2)
        self.assertIn("another gih sweep run works in this folder", line)
        # Another grid neither.
        line = self.line("sweep", "run", "grid.ini", "-o", "out", status=2)
        self.assertIn("another gih sweep run works in this folder", line)
        # A task takes what is free, and not what is being made.
        part = min((self.folder / "out").glob("*.part")).name
        points = self.expand(grid="long.ini")["points"]
        index = next(p["index"] for p in points if p["name"] + ".h5.part" == part)
        line = self.line("sweep", "task", "long.ini", "-o", "out", "--index", index, status=2)
        self.assertIn("another process is writing it", line)
        self.gih("sweep", "task", "long.ini", "-o", "out", "--index", 3)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assert_unbroken()

    def test_progress_in_a_file(self):
        process = self.begin()
        _, err = process.communicate(timeout=120)
        self.assertNotIn("\r", err)
        self.assertLess(len(err.splitlines()), 20)


if __name__ == "__main__":
    unittest.main()
