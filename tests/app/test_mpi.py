"""One run by several processes under mpirun: the same bytes, one voice, and what a killed rank costs.
Prints SKIPPED and why where the program or the machine has no MPI."""
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import app.cli as cli

CONFIG = """\
[data]
train = 3000
validation = 500
seed = 3
[stage.1]
train = c
epochs = 60
[stage.2]
train = w
method = flow
time = 900
[stage.3]
train = c+w+a
epochs = 60
"""
# As root and on fewer processors than ranks, which tests may be and Open MPI refuses unasked.
SETTING = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def why_not():
    version = subprocess.run([cli.GIH, "--version"], capture_output=True, text=True, check=True).stdout
    if "MPI none" in version:
        return "this gih was built without MPI (-DGIH_MPI=ON)"
    return None if shutil.which("mpirun") else "mpirun is missing (openmpi-bin)"


@unittest.skipIf(why_not(), f"SKIPPED  mpi: {why_not()}")
class Mpi(cli.Folder):
    def mpirun(self, ranks, *arguments):
        return subprocess.Popen(["mpirun", "-n", str(ranks), cli.GIH, *map(str, arguments)],
                                cwd=self.folder, env={**os.environ, **SETTING}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ended(self, process, status):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return [line for line in (out + err).splitlines() if line.startswith("gih: ")]

    def test_the_same_bytes_for_any_ranks_and_threads(self):
        self.put("run.ini", CONFIG)
        self.gih("train", "--config", "run.ini", "-o", "alone.h5", "-q", "--run.threads", "1")
        alone = cli.results(self.folder / "alone.h5")
        for ranks in (1, 2, 4):
            for threads in (1, 2):
                name = f"of{ranks}x{threads}.h5"
                self.ended(self.mpirun(ranks, "train", "--config", "run.ini", "-o", name, "-q",
                                       "--run.threads", threads), 0)
                self.assertEqual(cli.results(self.folder / name), alone, name)

    def test_speaks_with_one_voice(self):
        self.assertEqual(len(self.ended(self.mpirun(3, "train", "--data.alhpa", "1"), 2)), 1)
        said = self.ended(self.mpirun(3, "train", "--data.length", "1", "-o", "x.h5"), 2)
        self.assertEqual(len(said), 1, said)
        self.assertEqual(self.names(), ["small.ini"])
        self.ended(self.mpirun(2, "train", "--config", "small.ini", "-o", "y.h5", "-q"), 0)
        out, err = self.mpirun(2, "show", "y.h5").communicate(timeout=60)
        self.assertEqual(out, self.gih("show", "y.h5")[0])

    def test_interrupted_or_killed_it_goes_on(self):
        self.put("long.ini", CONFIG.replace("epochs = 60", "epochs = 4000")
                 + "[run]\ncheckpoint = 0.1\n")
        self.gih("train", "--config", "long.ini", "-o", "alone.h5", "-q")
        alone = cli.results(self.folder / "alone.h5")
        for number in (signal.SIGTERM, signal.SIGKILL):
            for victim in (0, 1):
                with self.subTest(signal=number, rank=victim):
                    name = f"run{number}{victim}.h5"
                    process = self.mpirun(2, "train", "--config", "long.ini", "-o", name, "-q")
                    part = self.folder / (name + ".part")
                    self.wait_for(lambda part=part: part.exists(), "the unfinished file")
                    time.sleep(0.3)
                    os.kill(self.rank(process.pid, victim), number)
                    if number == signal.SIGKILL or victim == 0:
                        process.communicate(timeout=60)
                        self.assertNotEqual(process.returncode, 0)
                        self.assertTrue(part.exists())
                        process = self.mpirun(2, "train", "--resume", name, "-q")
                    # A signal to a helper alone changes nothing once all is drawn.
                    self.ended(process, 0)
                    self.assertEqual(cli.results(self.folder / name), alone)

    def rank(self, mpirun, rank):
        """Process number of a rank that mpirun started."""
        children = pathlib.Path(f"/proc/{mpirun}/task/{mpirun}/children").read_text().split()
        for pid in children:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
                return int(pid)
        raise AssertionError(f"no rank {rank} among {children}")


class WithoutMpi(cli.Folder):
    @unittest.skipUnless(why_not() and "without" in why_not(), "has MPI")
    def test_started_by_mpirun_says_so(self):
        said = self.line("train", "-o", "run.h5", status=2,
                         env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
        self.assertIn("built without MPI", said)
        self.assertEqual(self.names(), ["small.ini"])


if __name__ == "__main__":
    unittest.main()
