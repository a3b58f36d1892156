"""gih sweep submit with stand-ins for Slurm's commands; the scripts themselves run for real."""
import os
import signal
import subprocess
import unittest

import h5py

import app.cli as cli
import app.sweep_case as sweep_case

# Each logs its arguments. sbatch counts jobs from 41; squeue says what the file `queue` holds.
SBATCH = """#!/bin/sh
echo "sbatch in $PWD: $*" >>"$STAND_INS/calls"
[ -z "$SBATCH_FAILS" ] || { echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1; }
count=$(cat "$STAND_INS/count" 2>/dev/null || echo 40)
echo $((count + 1)) >"$STAND_INS/count"
echo "sbatch: some warning" >&2
echo "$((count + 1));cluster"
"""
SQUEUE = """#!/bin/sh
echo "squeue $*" >>"$STAND_INS/calls"
cat "$STAND_INS/queue" 2>/dev/null || { echo "slurm_load_jobs error: Invalid job id" >&2; exit 1; }
"""
SCONTROL = """#!/bin/sh
echo "scontrol $*" >>"$STAND_INS/calls"
"""


class Submit(sweep_case.Sweep):
    def setUp(self):
        super().setUp()
        self.stand_ins = self.folder / "stand-ins"
        self.stand_ins.mkdir()
        for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL)):
            path = self.stand_ins / name
            path.write_text(text)
            path.chmod(0o755)
        self.env = {**os.environ, "STAND_INS": str(self.stand_ins),
                    "PATH": f"{self.stand_ins}:{os.environ['PATH']}"}

    def submit(self, *arguments, grid="grid.ini", folder="out", status=0, **env):
        return self.gih("sweep", "submit", grid, "-o", folder, "--time", "1:00:00", *arguments,
                        status=status, env={**self.env, **env})

    def refused(self, *arguments, **env):
        return self.line("sweep", "submit", "grid.ini", "-o", "out", *arguments, status=2,
                         env={**self.env, **env})

    def calls(self):
        path = self.stand_ins / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def script(self, folder="out"):
        return (self.folder / folder / "slurm" / "array.sh").read_text()

    def task(self, number, folder="out", **options):
        """Starts a task of the array as Slurm does."""
        return subprocess.Popen(
            ["bash", "slurm/array.sh"], cwd=self.folder / folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**self.env, "SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_JOB_ID": "41"}, **options)

    def test_an_array_and_then_a_table(self):
        _, err = self.submit("--tasks-per-job", "4", "--throttle", "3", "--partition", "long",
                             "--sbatch", "qos=high nice", "--cpus", "2", "--mem", "2G",
                             "--kernels", "0")
        self.assertIn("array 41 of 2 tasks for 6 points; then job 42 writes", err)
        out = self.folder / "out"
        self.assertEqual(self.calls(), [
            f"sbatch in {out}: --parsable slurm/array.sh",
            f"sbatch in {out}: --parsable --dependency=afterany:41 slurm/collect.sh"])
        for line in ("--array=0-1%3", "--partition=long", "--qos=high", "--nice", "--cpus-per-task=2",
                     "--mem=2G", "--time=1:00:00", "--signal=B:USR1@120", "--requeue"):
            self.assertIn(f"#SBATCH {line}\n", self.script())
        self.assertIn("threads = 2", (out / "grid.ini").read_text())
        for number in (0, 1):
            task = self.task(number)
            text, _ = task.communicate(timeout=60)
            self.assertEqual(task.returncode, 0, text)
        self.assertEqual(self.states(), ["finished"] * 6)
        subprocess.run(["bash", "slurm/collect.sh"], cwd=out, check=True, capture_output=True)
        self.run_sweep("--run.threads", "2", folder="local")
        self.gih("sweep", "collect", "local", "-o", "local.h5", "--kernels", "0")
        rows = []
        for name in ("out.h5", "local.h5"):
            with h5py.File(self.folder / name, "r") as file:
                rows.append([[str(value) for value in row] for row in file["points"][()]])
        self.assertEqual(len(rows[0]), 6)
        self.assertEqual(*rows)
        for path in (self.folder / "local").glob("*.h5"):
            self.assertEqual(cli.results(path), cli.results(out / path.name))

    def test_only_what_is_left_is_submitted(self):
        self.run_sweep("--data.alpha", "0.03")
        self.submit()
        self.assertIn("#SBATCH --array=3-5\n", self.script())
        self.run_sweep()
        _, err = self.submit("--overwrite")
        self.assertIn("all 6 points are finished, nothing to submit", err)
        self.assertEqual(sum(call.startswith("sbatch") for call in self.calls()), 2)

    def test_a_warned_task_saves_and_is_queued_again(self):
        self.submit("--tasks-per-job", "2", grid="long.ini")
        part = lambda: [*(self.folder / "out").glob("*.part")]
        task = self.task(0)
        self.wait_for(part, "the first point to begin")
        task.send_signal(signal.SIGUSR1)
        text, _ = task.communicate(timeout=60)
        self.assertEqual(task.returncode, 3, text)
        self.assertIn("queued again", text)
        self.assertEqual(self.calls()[-1], "scontrol requeue 41_0")
        self.assertEqual(self.states()[0:2], ["unfinished", "missing"])
        task = self.task(0)
        text, _ = task.communicate(timeout=120)
        self.assertEqual(task.returncode, 0, text)
        self.assertEqual(self.states()[0:2], ["finished"] * 2)

    def test_an_ended_task_saves_and_is_not_queued_again(self):
        self.submit(grid="long.ini")
        task = self.task(1)
        self.wait_for(lambda: [*(self.folder / "out").glob("*.part")], "the point to begin")
        task.send_signal(signal.SIGTERM)
        text, _ = task.communicate(timeout=60)
        self.assertEqual(task.returncode, 3, text)
        self.assertFalse([call for call in self.calls() if call.startswith("scontrol")])
        self.assertEqual(self.states()[1], "unfinished")

    def test_a_point_that_fails_does_not_keep_its_task_from_the_next(self):
        self.submit("--tasks-per-job", "6", "--stage.1.learning-rate", "1 1e300")
        self.assertEqual(len(self.states()), 12)
        task = self.task(0)
        text, _ = task.communicate(timeout=60)
        self.assertEqual(task.returncode, 4, text)
        states = self.states()[:6]
        self.assertEqual((states.count("failed"), states.count("finished")), (3, 3))

    def test_the_queue(self):
        self.assertEqual(self.gih("sweep", "expand", "grid.ini", env=self.env)[1], "")
        self.submit()
        (self.stand_ins / "queue").write_text("RUNNING\nPENDING\nPENDING\n")
        out, _ = self.gih("sweep", "status", "out", env=self.env)
        self.assertIn("in Slurm's queue: 2 pending, 1 running", out)
        line = self.refused("--time", "5", "--overwrite")
        self.assertIn("its array 41 is in the queue still (2 pending, 1 running)", line)
        (self.stand_ins / "queue").unlink()
        self.assertNotIn("queue", self.gih("sweep", "status", "out", env=self.env)[0])
        self.submit("--overwrite")
        self.assertEqual((self.folder / "out" / "slurm" / "arrays").read_text(), "41\n43\n")

    def test_dry_run_writes_nothing(self):
        before = self.names()
        out, _ = self.submit("--dry-run", "--tasks-per-job", "5", folder="a b's")
        self.assertEqual(self.names(), before)
        self.assertEqual(self.calls(), [])
        self.assertIn("#SBATCH --array=0-1\n", out)
        self.assertIn("a b'\\''s.h5' --overwrite", out)
        subprocess.run(["bash", "-n"], input=out, text=True, check=True)

    def test_a_folder_with_blanks_and_quotes(self):
        self.submit(folder="a b's $HOME")
        task = self.task(0, folder="a b's $HOME")
        text, _ = task.communicate(timeout=60)
        self.assertEqual(task.returncode, 0, text)
        subprocess.run(["bash", "slurm/collect.sh"], cwd=self.folder / "a b's $HOME", check=True,
                       capture_output=True)
        self.assertTrue((self.folder / "a b's $HOME.h5").exists())

    def test_refusals(self):
        before = self.names()
        for arguments, words in (
                ((), "--time"),
                (("--time", "1h"), "--time 1h: must be a limit above 0"),
                (("--time", "5", "--tasks-per-job", "7"), "--tasks-per-job 7: must be a whole number from 1 to 6"),
                (("--time", "5", "--throttle", "0"), "--throttle 0: must be"),
                (("--time", "5", "--cpus", "0"), "--cpus"),
                (("--time", "5", "--partition", "a b"), "--partition a b: must be letters"),
                (("--time", "5", "--sbatch", "x=$(id)"), "must be options of sbatch"),
                (("--time", "5", "--sbatch", "qos=a x'y"), "must be options of sbatch"),
                (("--time", "5", "--jobs", "3"), "--jobs is not an option of gih sweep submit")):
            self.assertIn(words, self.refused(*arguments), arguments)
        self.assertEqual(self.names(), before)
        (self.folder / "out.h5").write_text("mine")
        self.assertIn("out.h5", self.refused("--time", "5"))
        self.assertEqual((self.folder / "out.h5").read_text(), "mine")
        self.assertEqual(self.calls(), [])

    def test_slurm_that_refuses_or_is_not_there(self):
        _, err = self.submit(SBATCH_FAILS="1", status=4)
        self.assertEqual(err, "gih: sbatch ended with status 1: sbatch: error: invalid partition "
                              "specified: nowhere\n")
        _, err = self.submit(PATH="/usr/bin:/bin", status=2) if not os.path.exists(
            "/usr/bin/sbatch") else self.submit(PATH="/nowhere", status=2)
        self.assertIn("sbatch: not found on PATH", err)


if __name__ == "__main__":
    unittest.main()
