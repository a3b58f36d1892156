"""experiments/reproduce.sh with a stand-in for the program, which writes synthetic run files."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])

# Logs its arguments; run files by the name of the output. With STOP=1 it ends as an interrupted
# run does, with BREAK=1 as a failed one.
STAND_IN = f"""#!/usr/bin/python3
import json, os, pathlib, sys
sys.path.insert(0, "{SOURCE}/tests/plots")
sys.dont_write_bytecode = True
import sample_run
arguments = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    print(*arguments, file=calls)
if arguments[0] == "verify":  # the synthetic run has its checks already
    sys.exit(int(os.environ.get("VERIFY", 0)))
if arguments[0] == "sample":
    pathlib.Path(arguments[-2]).write_text(arguments[arguments.index("--data.length") + 1])
    sys.exit()
if arguments[0] == "evaluate":
    length = int(pathlib.Path(arguments[arguments.index("--data") + 1]).read_text())
    print(json.dumps(sample_run.predictions(length)))
    sys.exit()
run = pathlib.Path(arguments[arguments.index("-o" if "-o" in arguments else "--resume") + 1])
part = run.with_name(run.name + ".part")
if "BREAK" in os.environ:
    sys.exit(4)
if run.exists() and "--overwrite" not in arguments:
    sys.exit(2)
sample_run.KINDS.get(run.stem, sample_run.trained)(part)
if "STOP" in os.environ:
    sys.exit(3)
part.rename(run)
"""


class Reproduce(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a folder with blanks ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results"
        self.calls = self.folder / "calls"
        self.calls.touch()
        self.gih = self.folder / "gih"
        self.gih.write_text(STAND_IN)
        self.gih.chmod(0o755)

    def reproduce(self, *arguments, status, **environment):
        """Output and error of the script, and the calls that it made of the program."""
        self.calls.write_text("")
        done = subprocess.run(
            [SOURCE / "experiments/reproduce.sh", *arguments], capture_output=True, text=True,
            cwd=self.folder, env={**os.environ, "GIH": str(self.gih), "GIH_RESULTS": "results",
                                  "CALLS": str(self.calls), **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr, self.calls.read_text().splitlines()

    def test_trains_draws_and_judges(self):
        out, _, calls = self.reproduce("fig3", status=0)
        self.assertEqual(len(calls), 3)
        self.assertEqual(out.count("PASS"), 11)
        for kind in ("png", "pdf"):
            self.assertIn(f"results/fig3/fig3.{kind}", out)
            self.assertTrue((self.results / f"fig3/fig3.{kind}").exists())
        out, _, calls = self.reproduce("fig3", status=0)
        self.assertEqual(calls, [])
        self.assertIn("kept results/fig3/seed2.h5", out)
        _, _, calls = self.reproduce("--again", "fig3", status=0)
        self.assertEqual(len(calls), 3)
        self.assertTrue(all("--overwrite" in call for call in calls))

    def test_all(self):
        out, _, _ = self.reproduce("--list", status=0)
        names = out.split()
        self.assertGreaterEqual(set(names), {"fig3", "fig3_alpha001", "fig9"})
        self.reproduce("all", status=0)
        for name in names:
            self.assertTrue((self.results / name / f"{name}.png").exists(), name)

    def test_every_experiment_has_configurations_and_a_figure(self):
        for name in self.reproduce("--list", status=0)[0].split():
            self.assertTrue(list((SOURCE / "experiments" / name).glob("*.ini")), name)
            self.assertTrue((SOURCE / "plots" / f"{name}.py").exists(), name)

    def test_an_interrupted_run_goes_on(self):
        _, err, calls = self.reproduce("fig9", status=3, STOP="1")
        self.assertIn("interrupted", err)
        self.assertNotIn("--resume", calls[0])
        _, _, calls = self.reproduce("fig9", status=0)
        self.assertEqual(calls, ["train --resume results/fig9/limit.h5"])

    def test_a_failed_run_ends_it(self):
        _, err, calls = self.reproduce("fig3", status=4, BREAK="1")
        self.assertEqual(len(calls), 1)
        self.assertIn("status 4", err)

    def test_a_changed_configuration_is_noticed(self):
        self.reproduce("fig9", status=0)
        copy = self.results / "fig9/limit.ini"
        self.assertEqual(copy.read_bytes(), (SOURCE / "experiments/fig9/limit.ini").read_bytes())
        copy.write_text("[data]\nseed = 7\n")
        _, err, calls = self.reproduce("fig9", status=2)
        self.assertEqual(calls, [])
        self.assertIn("--again", err)
        self.reproduce("--again", "fig9", status=0)
        self.reproduce("fig9", status=0)

    def test_a_failed_verdict_is_status_1_and_the_next_figure_is_drawn(self):
        self.gih.write_text(STAND_IN.replace(
            "sample_run.KINDS.get", 'sample_run.KINDS["diagonal3"] = sample_run.trained\n'
                                    "sample_run.KINDS.get"))
        out, _, _ = self.reproduce("fig3_alpha001", "fig9", status=1)
        self.assertIn("FAIL", out)
        self.assertTrue((self.results / "fig9/fig9.png").exists())

    def test_after_the_runs(self):
        out, _, calls = self.reproduce("limit", status=0)
        self.assertEqual(sum(call.startswith("evaluate") for call in calls), 6)
        self.assertEqual(out.count("PASS"), 6)
        self.assertEqual(list(self.results.glob("limit/predictions.*")), [])
        self.assertEqual(self.reproduce("limit", status=0)[2], [])
        _, _, calls = self.reproduce("--again", "limit", status=0)
        self.assertEqual(sum(call.startswith("evaluate") for call in calls), 6)
        # A failed check is for the figure to judge, anything else ends it.
        self.reproduce("assumptions", status=0, VERIFY="1")
        _, err, _ = self.reproduce("assumptions", status=4, VERIFY="2")
        self.assertIn("after.sh ended with status 2", err)

    def test_wrong_use(self):
        for arguments, part in ((["fgi3"], "nearest: fig"), (["fig33"], "nearest: fig3;"),
                                ([], "fig3"), (["--agian", "fig3"], "--agian"), (["zzz"], "fig9"),
                                (["../plots"], "no experiment"),
                                (["fig3 fig9"], "no experiment")):
            with self.subTest(arguments):
                out, err, calls = self.reproduce(*arguments, status=2)
                self.assertEqual((out, calls), ("", []))
                self.assertIn(part, err)
                self.assertEqual(len(err.splitlines()), 1)
                self.assertFalse(self.results.exists())
        _, err, _ = self.reproduce("fig3", status=2, GIH="/nowhere/gih")
        self.assertIn("/nowhere/gih", err)
        self.assertIn("Usage", self.reproduce("--help", status=0)[0])


if __name__ == "__main__":
    unittest.main()
