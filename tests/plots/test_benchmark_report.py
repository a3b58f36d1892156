"""The report of the benchmarks, from a run with made-up numbers."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["GIH_SOURCE"]) / "tests" / "benchmark" / "report.py"


def row(name, time, unit="us", **counters):
    return {"name": name, "real_time": time, "time_unit": unit, **counters}


def sample():
    rows = [row(f"epoch_{stage}/threads:{threads}/real_time", time)
            for stage in ("c", "w", "a", "joint") for threads, time in ((1, 60.0), (2, 40.0))]
    for size, values in {"N": (1000, 10000), "L": (100, 1000), "d": (2, 3), "M": (3, 4),
                         "H": (2, 3), "D": (1, 2)}.items():
        rows += [row(f"epoch_by_{size}/{size}:{value}/real_time", 10.0 * value, entries=value)
                 for value in values]
    rows += [row("machine_read/real_time", 1.0, **{"bytes/s": 1e11}),
             row("machine_multiply_add/real_time", 1.0, **{"flops/s": 5e10}),
             row("machine_store/real_time", 1.0, **{"entries/s": 2e9}),
             row("machine_pass/real_time", 45.0, bytes=6e5, entries=30000, flops=1e6,
                 **{"entries/s": 7.5e8}),
             row("stages_gd/iterations:1/real_time", 2.0, "s"), row("stages_flow/real_time", 50.0, "ms")]
    return {"benchmarks": rows}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "run.json"
        self.json.write_text(json.dumps(sample()))

    def run_report(self, *arguments):
        return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *arguments], text=True,
                              capture_output=True)

    def test_ratios_are_of_the_numbers_of_the_run(self):
        done = self.run_report(self.json, "-o", self.folder / "out", "--peer", "echo 0.18 s an epoch")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = (self.folder / "out" / "table.md").read_text()
        for line in ("| read the layout | 6.0 | 10.00 |",  # 6e5 bytes at 1e11 a second
                     "| multiply and add | 20.0 | 3.00 |",
                     "| add into the classes' sums | 15.0 | 4.00 |",
                     "| two phases, each its slowest | 25.0 | 2.40 |",  # 10 and 15
                     "| read, widen, multiply, add, store | 40.0 | 1.50 |",
                     "| two threads against one, stage that trains w | 1.50 |",
                     "| the three stages, gd against flow | 40.0 |",
                     "| peer (0.18 s an epoch) against a joint epoch, 1 threads | 3000 |"):
            self.assertIn(line, table)
        for picture in ("scaling.png", "roofline.png"):
            self.assertEqual((self.folder / "out" / picture).read_bytes()[:4], b"\x89PNG")

    def test_nothing_is_overwritten(self):
        (self.folder / "table.md").write_text("mine")
        done = self.run_report(self.json, "-o", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("table.md exists", done.stderr)
        self.assertEqual((self.folder / "table.md").read_text(), "mine")

    def test_mistakes_are_named(self):
        done = self.run_report(self.folder / "none", "-o", self.folder / "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none is not there", done.stderr)
        self.assertFalse((self.folder / "out").exists())
        done = self.run_report(self.json, "-o", self.folder / "out", "--peer", "echo hello")
        self.assertEqual(done.returncode, 2)
        self.assertIn("printed no number", done.stderr)


if __name__ == "__main__":
    unittest.main()
