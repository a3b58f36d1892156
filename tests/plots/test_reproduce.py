"""experiments/reproduce.sh with a stand-in for the program, which writes synthetic run files."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import h5py

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])

# Logs its arguments; run files by the name of the output. With STOP=1 it ends as an interrupted
# run does, with BREAK=1 as a failed one.
STAND_IN = f"""#!/usr/bin/python3
import json, os, pathlib, sys
sys.path.insert(0, "{SOURCE}/tests/plots")
sys.dont_write_bytecode = True
arguments = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    print(*arguments, file=calls)
def after(option):
    return pathlib.Path(arguments[arguments.index(option) + 1])
if arguments[0] == "verify" and "--rates" not in arguments:  # the run has its checks already
    sys.exit(int(os.environ.get("VERIFY", 0)))
if arguments[:2] == ["sweep", "run"]:
    folder = pathlib.Path(arguments[-1])
    folder.mkdir(exist_ok=True)
    (folder / "grid.ini").touch()
    if "STOP" in os.environ:
        sys.exit(3)
    (folder / "point-0123456789abcdef.h5").touch()
    sys.exit()
if arguments[0] == "information":
    import sample_answer
    print(json.dumps(sample_answer.information(arguments)))
    sys.exit()
if arguments[0] == "evaluate" and after("--data").name != "fresh.data" and "--attention" not in arguments:
    import sample_answer
    print(json.dumps(sample_answer.evaluate(arguments, int(after("--data").read_text()))))
    sys.exit()
import sample_run, sample_studies
if arguments[0] == "verify":
    print(json.dumps(sample_studies.rates(after("--run").stem)))
    sys.exit()
if arguments[:2] == ["sweep", "collect"]:
    sample_run.phase(after("-o"))
    sys.exit()
if arguments[0] == "sample":
    data = after("-o")
    # A length that is not an option is that of the run, as length100.h5.
    length = str(after("--data.length")) if "--data.length" in arguments else after("--config").stem
    if data.name in sample_run.SAMPLES:
        sample_run.SAMPLES[data.name](data)
    else:
        data.write_text("".join(filter(str.isdigit, length)) or "100")
    sys.exit()
if arguments[0] == "evaluate":
    parameters = after("--parameters").stem
    if after("--data").name == "fresh.data":
        print(json.dumps(sample_studies.fresh(parameters)))
    else:
        print(json.dumps(sample_run.attention_of(parameters, int(after("--data").read_text()))))
    sys.exit()
run = after("-o" if "-o" in arguments else "--resume")
part = run.with_name(run.name + ".part")
if "BREAK" in os.environ:
    sys.exit(4)
if run.exists() and "--overwrite" not in arguments:
    sys.exit(2)
sample_run.kind(run)(part)
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
        """Output and error of the script, and the calls that it made of the program; a status of
        None stands for any."""
        self.calls.write_text("")
        done = subprocess.run(
            [SOURCE / "experiments/reproduce.sh", *arguments], capture_output=True, text=True,
            cwd=self.folder, env={**os.environ, "GIH": str(self.gih), "GIH_RESULTS": "results",
                                  "CALLS": str(self.calls), **environment})
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr, self.calls.read_text().splitlines()

    def test_trains_draws_and_judges(self):
        out, _, calls = self.reproduce("fig3", status=0)
        self.assertEqual(len(calls), 3)
        self.assertEqual(out.count("PASS"), 11)
        for kind in ("png", "pdf", "svg"):
            self.assertIn(f"results/fig3/fig3.{kind}", out)
            self.assertTrue((self.results / f"fig3/fig3.{kind}").exists())
        out, _, calls = self.reproduce("fig3", status=0)
        self.assertEqual(calls, [])
        self.assertIn("kept results/fig3/seed2.h5", out)
        _, _, calls = self.reproduce("--again", "fig3", status=0)
        self.assertEqual(len(calls), 3)
        self.assertTrue(all("--overwrite" in call for call in calls))

    def test_all(self):
        names = self.reproduce("--list", status=0)[0].split()
        sampled = {"fig3", "fig3_alpha001", "fig5", "fig6", "fig9", "assumptions", "limit",
                   "paper_and_code", "released_full", "released_simplified",
                   "fig7", "gih_error", "partial"}  # those with synthetic runs
        self.assertGreaterEqual(set(names), sampled)
        out, _, _ = self.reproduce("all", status=None)
        report = (self.results / "report.html").read_text()
        for name in names:
            self.assertTrue(f"({name})</h2>" in report, name)
            self.assertRegex(out, rf"(?m)^{name} +\d+  (\d+ of \d+ PASS|failed: .)")
        for name in sampled:
            self.assertTrue((self.results / name / f"{name}.png").exists(), name)
            self.assertRegex(out, rf"(?m)^{name} +\d+  (\d+) of \1 PASS$")
        self.assertTrue(out.endswith("report results/report.html\n"))

    def test_every_experiment_has_configurations_and_a_figure(self):
        for name in self.reproduce("--list", status=0)[0].split():
            folder = SOURCE / "experiments" / name
            self.assertTrue([path for end in ("ini", "sweep", "memory")
                             for path in folder.glob(f"*.{end}")], name)
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

    def test_a_failed_run_does_not_keep_others_from_being_made(self):
        broken = STAND_IN.replace('if "BREAK" in os.environ', 'if run.stem == "seed2"')
        self.gih.write_text(broken)
        out, err, calls = self.reproduce("fig3", "fig9", status=4)
        self.assertEqual(len(calls), 3)  # not seed3
        self.assertIn("ended with status 4", err)
        self.assertRegex(out, r"(?m)^fig3 +\d+  failed: gih train .*seed2.* ended with status 4$")
        self.assertRegex(out, r"(?m)^fig9 +\d+  2 of 2 PASS$")
        report = (self.results / "report.html").read_text()
        self.assertTrue("did not come to its end: gih train" in report)
        self.assertFalse("w^(1) ends" in report)
        self.assertTrue("one subset has" in report)
        # A figure that cannot be drawn is one of them, and a later success is told.
        self.gih.write_text(STAND_IN.replace("sample_run.kind", 'sample_run.KINDS["seed2"] = '
                            "lambda path: path.write_text('no HDF5')\nsample_run.kind"))
        out, _, _ = self.reproduce("fig3", "fig9", status=2)
        self.assertRegex(out, r"(?m)^fig3 +\d+  failed: plots/fig3.py ended with status 2$")
        self.gih.write_text(STAND_IN)
        self.reproduce("--again", "fig3", status=0)
        report = (self.results / "report.html").read_text()
        self.assertFalse("did not come to its end" in report)
        self.assertTrue("w^(1) ends" in report)
        self.assertTrue("one subset has" in report)  # fig9 of an earlier call

    def test_seconds_are_those_of_training(self):
        seconds = self.results / "fig9/seconds.txt"
        self.gih.write_text(STAND_IN.replace("part.rename", "import time; time.sleep(1.1)\npart.rename"))
        self.reproduce("fig9", status=0)
        self.assertGreaterEqual(int(seconds.read_text()), 1)
        seconds.write_text("100\n")
        out, _, _ = self.reproduce("fig9", "fig9", status=0)  # kept: nothing is added
        self.assertRegex(out, r"(?m)^fig9 +100  ")
        (self.results / "fig9/limit.h5").rename(self.results / "fig9/limit.h5.part")
        (self.results / "fig9/limit.ini").rename(self.results / "fig9/limit.ini.part")
        self.reproduce("fig9", status=0)  # resumed: added
        self.assertIn(int(seconds.read_text()), range(101, 110))
        self.reproduce("--again", "fig9", status=0)
        self.assertIn(int(seconds.read_text()), range(1, 10))
        seconds.unlink()
        out, _, _ = self.reproduce("fig9", "fig9", status=0)  # kept: nobody knows
        self.assertRegex(out, r"(?m)^fig9 +-  ")
        self.assertFalse(seconds.exists())

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

    def test_a_run_of_the_same_configuration_is_copied(self):
        self.reproduce("fig5", status=0)
        out, _, calls = self.reproduce("fig6", "released_full", status=0)
        self.assertEqual(out.count("of the same configuration"), 2)
        self.assertEqual([call.split()[-1] for call in calls],
                         [f"results/released_full/epochs2500_seed{seed}.h5" for seed in (1, 2, 3)])
        self.assertEqual(sum("--overwrite" in call for call in
                             self.reproduce("--again", "fig6", status=0)[2]), 1)
        # Not of another configuration, and not of one that was not finished.
        self.results.joinpath("fig5/full.ini").write_text("changed")
        self.results.joinpath("released_full/epochs10000.ini").unlink()
        shutil.rmtree(self.results / "fig6")
        self.assertEqual(len(self.reproduce("fig6", status=0)[2]), 1)

    def test_a_failed_verdict_is_status_1_and_the_next_figure_is_drawn(self):
        self.gih.write_text(STAND_IN.replace(
            "sample_run.kind(", 'sample_run.KINDS["diagonal3"] = sample_run.trained\n'
                                    "sample_run.kind("))
        out, _, _ = self.reproduce("fig3_alpha001", "fig9", status=1)
        self.assertIn("FAIL", out)
        self.assertRegex(out, r"(?m)^fig3_alpha001 +\d+  1 of 2 PASS, 1 FAIL$")
        self.assertTrue((self.results / "fig9/fig9.png").exists())

    def test_sweeps(self):
        _, err, calls = self.reproduce("phase", status=3, STOP="1")
        self.assertIn("interrupted", err)
        self.assertEqual(len(calls), 1)
        out, _, calls = self.reproduce("phase", status=0)
        runs = [call.split()[2:] for call in calls if call.startswith("sweep run")]
        self.assertEqual([pathlib.Path(words[0]).name for words in runs],
                         ["finite.sweep", "limit.sweep"])
        self.assertEqual([words[2] for words in runs], ["results/phase/finite", "results/phase/limit"])
        self.assertEqual(sum(call.startswith("sweep collect") for call in calls), 2)
        self.assertEqual(sum(line.startswith("PASS") for line in out.splitlines()), 4)
        # A grid is asked again, as it knows what is there; its table only when points changed.
        _, _, calls = self.reproduce("phase", status=0)
        self.assertEqual([call.split()[1] for call in calls], ["run", "run"])
        (self.results / "phase/finite/more-0123456789abcde0.h5").touch()
        _, _, calls = self.reproduce("phase", status=0)
        self.assertEqual([call.split()[1] for call in calls], ["run", "run", "collect"])
        self.reproduce("--again", "phase", status=0)
        self.assertFalse((self.results / "phase/finite/more-0123456789abcde0.h5").exists())

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
        _, err, _ = self.reproduce("--again", "assumptions", status=4, VERIFY="2")
        self.assertIn("after.sh ended with status 2", err)

    def test_what_was_measured_is_judged_by_content(self):
        self.reproduce("limit", "assumptions", status=0)
        for path in self.results.glob("*/*.h5"):
            os.utime(path)  # newer than what was measured on it
        for path in (*self.results.glob("*/*.json"), *self.results.glob("*/*.txt")):
            os.utime(path, (0, 0))
        out, _, calls = self.reproduce("limit", "assumptions", status=0)
        self.assertEqual(calls, [])
        self.assertEqual(out.count("kept results/limit/predictions_L"), 6)
        for name in ("inf", "finite"):
            self.assertIn(f"kept results/assumptions/{name}.verify.txt", out)
        # Another run file with an older date.
        for name in ("limit/sharp", "assumptions/inf"):
            run = self.results / f"{name}.h5"
            with h5py.File(run, "a") as file:
                file.attrs["config"] = "# another\n"
            os.utime(run, (0, 0))
        out, _, calls = self.reproduce("limit", "assumptions", status=0)
        self.assertEqual([call.split()[0] for call in calls], ["sample", "evaluate"] * 6 + ["verify"])
        self.assertIn("made results/assumptions/inf.verify.txt", out)
        self.assertIn("kept results/assumptions/finite.verify.txt", out)

    def measure(self, *lines, again="no", status=0, folder=None, gih="/some/gih"):
        """Output and error of an after.sh of these lines."""
        script = "\n".join(("set -euo pipefail", f'source "{SOURCE}/experiments/measure.sh"', *lines))
        folder = folder or self.folder
        done = subprocess.run(["bash", "-c", script, "after.sh", gih, folder, again],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(list(folder.glob("*.??????")), [])  # no temporary folder is left
        return done.stdout.replace(f"{folder}/", ""), done.stderr

    def test_measure(self):
        (self.folder / "one").write_text("1\n")
        (self.folder / "two").write_text("2\n")
        call = 'measure "$folder/sum" "$folder/one" "$folder/two" -- cat "$folder/one" "$folder/two"'
        self.assertEqual(self.measure(call), ("made sum\n", ""))
        self.assertEqual((self.folder / "sum").read_text(), "1\n2\n")
        self.assertEqual((self.folder / "sum.from").read_text(), "cat one two \n" + "".join(
            f"{hashlib.sha256(text).hexdigest()}  {name}\n"
            for text, name in ((b"1\n", "one"), (b"2\n", "two"))))
        self.assertEqual(self.measure(call), ("kept sum\n", ""))
        self.assertEqual(self.measure(call, again="yes"), ("made sum\n", ""))
        # What it was made from: either input, the command, and that it is there.
        (self.folder / "two").write_text("3\n")
        self.assertEqual(self.measure(call), ("made sum\n", ""))
        self.assertEqual(self.measure(call.replace("cat", "cat -n")), ("made sum\n", ""))
        self.assertEqual(self.measure(call), ("made sum\n", ""))
        for name in ("sum", "sum.from"):
            (self.folder / name).unlink()
            self.assertEqual(self.measure(call), ("made sum\n", ""))
        # Neither the place of the results nor that of the program.
        other = self.folder / "other"
        other.mkdir()
        for name in ("one", "two", "sum", "sum.from"):
            (self.folder / name).rename(other / name)
        self.assertEqual(self.measure(call, folder=other, gih="gih"), ("kept sum\n", ""))

    def test_measure_with_a_function_or_into_a_file_of_the_command(self):
        (self.folder / "one").write_text("1\n")
        define = 'twice() { cat "$1" "$1" >"$scratch/data" && cat "$scratch/data"; }'
        call = 'measure "$folder/sum" "$folder/one" -- twice "$folder/one"'
        self.assertEqual(self.measure(define, call)[0], "made sum\n")
        self.assertEqual((self.folder / "sum").read_text(), "1\n1\n")
        self.assertEqual(self.measure(define, call)[0], "kept sum\n")
        thrice = define.replace('"$1" "$1"', '"$1" "$1" "$1"')
        self.assertEqual(self.measure(thrice, call)[0], "made sum\n")
        call = 'measure "$folder/copy.h5" "$folder/one" -- cp -v "$folder/one" "$folder/copy.h5"'
        self.assertEqual(self.measure(call)[0], "made copy.h5\n")
        self.assertEqual((self.folder / "copy.h5").read_text(), "1\n")
        self.assertEqual(self.measure(call)[0], "kept copy.h5\n")

    def test_measure_leaves_nothing_half_done(self):
        (self.folder / "one").write_text("1\n")
        define = 'half() { echo half && return "$1"; }'
        call = 'measure "$folder/result" "$folder/one" -- half '
        self.measure(define, call + "0")
        before = [(self.folder / name).read_text() for name in ("result", "result.from")]
        for status in (1, 3, 4):
            self.assertEqual(self.measure(define, call + str(status), status=status)[0], "")
        self.assertEqual(before, [(self.folder / name).read_text()
                                  for name in ("result", "result.from")])
        # A failed check of gih verify is an answer.
        (self.folder / "verify").write_text("echo answer; exit $1\n")
        call = 'cd "$folder"; gih=bash; measure "$folder/checks" "$folder/one" -- bash verify '
        self.assertEqual(self.measure(call + "1")[0], "made checks\n")
        self.measure(call + "2", status=2)
        self.assertEqual((self.folder / "checks").read_text(), "answer\n")
        # Wrong use.
        for call, part in (('measure "$folder/no" "$folder/nowhere" -- true', "nowhere: missing"),
                           ('measure "$folder/no" "$folder/one"', "no command"),
                           ('measure "$folder/no" "$folder/one" --', "no command")):
            self.assertIn(part, self.measure(call, status=2)[1])
        self.assertEqual(list(self.folder.glob("no*")), [])

    def test_kernels_are_named_from_the_source_tree(self):
        _, _, calls = self.reproduce("partial", status=0)
        trained = [call for call in calls if call.startswith("train")]
        self.assertEqual(len(trained), 6)
        kernels = SOURCE / "experiments/partial/share0.3.json"
        for call in trained:
            self.assertIn(f"--data.kernels {kernels} ", call)
        for share in ("0.3", "0.55", "0.8"):
            made = subprocess.run(["/usr/bin/python3", kernels.with_name("kernels.py"), share],
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(made, kernels.with_name(f"share{share}.json").read_text())

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
