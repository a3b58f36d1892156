"""A sweep on a real Slurm, all of it on this machine: a job that reaches its time limit, a job that
is thrown out, a job that is cancelled; then the same bytes as without Slurm. Prints SKIPPED and why
where Slurm cannot be had."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import h5py

GIH = os.environ["GIH"]
HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 60  # seconds of a job, Slurm's least
EPOCHS = 3000

# Points 0 to 9 take a moment; 10 and 11 as long as is said.
GRID = """\
[data]
train = 2000
validation = 0
seed = 1..12
[stage.1]
train = c+w
epochs = {}
[run]
checkpoint = 0.5
"""


def numbers(path):
    """Everything that the file holds, but the time of making."""
    found = {}
    with h5py.File(path, "r") as file:
        found["config"] = file.attrs["config"]

        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                values = item[()]
                found[name] = repr(values.tolist()) if item.dtype.hasobject else values.tobytes()

        file.visititems(visit)
    return found


def free_port():
    for port in range(26817, 27817, 10):
        with socket.socket() as one, socket.socket() as two:
            try:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue
    raise unittest.SkipTest("no free port")


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("Slurm's daemons need root")
        base = pathlib.Path(tempfile.mkdtemp(prefix="gih-slurm-", dir="/var/tmp"))
        cls.env = {**os.environ, "SLURM_TEST_DIR": str(base), "SLURM_TEST_PORT": str(free_port()),
                   "PURGE": "1"}
        cls.addClassCleanup(subprocess.run, ["bash", HERE / "slurm/down.sh"], env=cls.env)
        done = subprocess.run(["bash", HERE / "slurm/up.sh"], env=cls.env, capture_output=True, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest("no Slurm here: " + done.stderr.strip().splitlines()[-1])
        cls.env["SLURM_CONF"] = str(base / "slurm.conf")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gih-slurm sweep-", dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_(self, *command, status=0):
        done = subprocess.run([*map(str, command)], env=self.env, cwd=self.folder, capture_output=True,
                              text=True, timeout=400)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def submit(self, *arguments):
        said = self.run_(GIH, "sweep", "submit", "grid.ini", "-o", "farm", "--time", "1", "--partition",
                         "test", "--throttle", "4", *arguments)
        return said.split(" array ")[1].split()[0]

    def queue(self, job):
        done = subprocess.run(["squeue", "-h", "-r", "-o", "%T %K", "-j", job], env=self.env,
                              capture_output=True, text=True)
        return [line.split() for line in done.stdout.splitlines()]

    def wait_for(self, what, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}; queue: " +
                            subprocess.run(["squeue"], env=self.env, capture_output=True,
                                           text=True).stdout)
            time.sleep(0.2)

    def records(self, job):
        """How often each task was queued again, and its state, by its index."""
        restarts, states = {}, {}
        for line in self.run_("scontrol", "-o", "show", "job", job).splitlines():
            if "ArrayTaskId=" in line:
                of = dict(word.split("=", 1) for word in line.split() if "=" in word)
                restarts[int(of["ArrayTaskId"])] = int(of["Restarts"])
                states[int(of["ArrayTaskId"])] = of["JobState"]
        return restarts, states

    def test_an_array_with_every_mishap(self):
        # How many epochs last longer than a job may: measured, as machines differ.
        (self.folder / "grid.ini").write_text(GRID.format(EPOCHS))
        begin = time.monotonic()
        self.run_(GIH, "sweep", "task", "grid.ini", "-o", "probe", "--index", "0", "--run.threads", "1",
                  "--stage.1.epochs", 20 * EPOCHS)
        long = int(20 * EPOCHS * 1.3 * LIMIT / (time.monotonic() - begin))
        epochs = f"{EPOCHS} {long // 3} {long}"
        (self.folder / "grid.ini").write_text(
            GRID.format(epochs) + "\n[sweep]\nexclude = stage.1.epochs>%d&data.seed<11 "
            "stage.1.epochs<%d&data.seed=11 stage.1.epochs>%d&data.seed=11 "
            "stage.1.epochs<%d&data.seed=12\n" % (EPOCHS, long // 3, long // 3, long))
        self.assertEqual(len(self.run_(GIH, "sweep", "expand", "grid.ini").splitlines()), 13)

        # The same without Slurm, meanwhile.
        local = subprocess.Popen([GIH, "sweep", "run", "grid.ini", "-o", "local", "-q", "--run.threads",
                                  "1"], cwd=self.folder)
        self.addCleanup(local.wait)
        self.addCleanup(local.kill)
        job = self.submit()
        middle, last = 10, 11
        running = lambda: {int(index) for state, index in self.queue(job) if state == "RUNNING"}
        self.wait_for("both long points to run", lambda: {middle, last} <= running(), 120)
        parts = lambda: len([*(self.folder / "farm").glob("*.part")])
        self.wait_for("their first checkpoints", lambda: parts() >= 2, 30)
        time.sleep(2)
        self.run_("scontrol", "requeue", f"{job}_{middle}")  # as when a node is wanted for others
        status = self.run_(GIH, "sweep", "status", "farm")
        self.assertIn("in Slurm's queue", status)
        # The last one reaches its limit, is warned, saves, and is queued again.
        log = self.folder / "farm" / "slurm" / f"{job}_{last}.out"
        self.wait_for("the warning", lambda: "queued again" in log.read_text(), 3 * LIMIT)
        self.wait_for("it to run again", lambda: last in running(), 90)
        time.sleep(2)
        self.run_("scancel", f"{job}_{last}")
        self.wait_for("the table", lambda: (self.folder / "farm.h5").exists(), 300)
        restarts, states = self.records(job)
        self.assertEqual(states[last], "CANCELLED")
        self.assertEqual({index for index, count in restarts.items() if count > 0}, {middle, last})
        self.assertIn("11 finished, 1 unfinished", self.run_(GIH, "sweep", "status", "farm"))

        # What was cancelled is what is left.
        self.wait_for("the queue to be empty", lambda: not self.run_("squeue", "-h"), 60)
        again = self.submit("--overwrite")
        self.assertIn(f"--array={last}%4\n", (self.folder / "farm/slurm/array.sh").read_text())
        self.wait_for("the rest", lambda: not self.queue(again), 4 * LIMIT)
        self.wait_for("the table", lambda: not self.run_("squeue", "-h"), 60)
        self.assertIn("12 finished", self.run_(GIH, "sweep", "status", "farm"))

        local.wait(timeout=400)
        self.run_(GIH, "sweep", "collect", "local", "-o", "local.h5", "-q")
        for path in (self.folder / "local").glob("*.h5"):
            mine, other = numbers(path), numbers(self.folder / "farm" / path.name)
            self.assertEqual(mine.pop("config"), other.pop("config"))
            self.assertEqual(mine, other, path.name)
        tables = [numbers(self.folder / f"{name}.h5") for name in ("local", "farm")]
        self.assertGreater(len(tables[0]["points"]), 1000)
        self.assertEqual(tables[0]["points"], tables[1]["points"])
        shutil.rmtree(self.folder / "probe")
        print("held     slurm: 12 points, one requeued at its time limit, one by hand, one cancelled and "
              "submitted again: the same bytes as without Slurm")


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=1)
    for _, reason in program.result.skipped:
        print("SKIPPED  slurm:", reason)
    raise SystemExit(0 if program.result.wasSuccessful() else 1)
