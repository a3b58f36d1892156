"""gih verify in its three uses: claims, conditions of a configuration, a run against the theory."""
import json
import math
import os
import pathlib
import unittest

import h5py

import app.cli as cli

FIG3 = pathlib.Path(os.environ["GIH_SOURCE"]) / "experiments/fig3/seed1.ini"

# Everything that the theorem asks for: entries above 0.1, sharp heads, a small a, L = inf.
SHARP = """\
[data]
vocab = 2
parents = 1
length = inf
alpha = 1
floor = 0.1
train = 200
validation = 0
[model]
window = 2
heads = 2
degree = 1
[init]
w-diagonal = 8
w-off = 0
c = 1
a = 0.001
[stage.1]
train = c
epochs = 60
learning-rate = 10
[stage.2]
train = w
epochs = 60
[stage.3]
train = a
epochs = 60
"""


def never(name):
    raise AssertionError(f"{name} is not JSON")


class Verify(cli.Folder):
    def verify(self, *arguments, status=0):
        """Rows of the JSON document by id."""
        out, _ = self.gih("verify", *arguments, "--json", status=status)
        document = json.loads(out, parse_constant=never)
        self.assertEqual(set(document), {"claims"})
        for row in document["claims"]:
            self.assertEqual(set(row), {"id", "statement", "equation", "mode", "left", "right",
                                        "slack", "ratio", "checked", "verdict", "expected",
                                        "failure", "note"})
            self.assertIn(row["verdict"], ("PASS", "FAIL", "UNDECIDED", "SKIPPED"))
            self.assertIn(row["mode"], ("exact", "sampled"))
            self.assertIn(row["expected"], ("PASS", "FAIL", ""))
            self.assertIsInstance(row["failure"], bool)
            self.assertTrue(row["statement"] and row["equation"])
            for key in ("left", "right", "slack", "ratio"):
                self.assertIsInstance(row[key], (float, int, type(None)))
        rows = {row["id"]: row for row in document["claims"]}
        self.assertEqual(len(rows), len(document["claims"]))
        return rows


class Claims(Verify):
    def test_one_claim(self):
        rows = self.verify("--claims", "C.6")
        self.assertEqual(list(rows), ["C.6"])
        self.assertEqual((rows["C.6"]["verdict"], rows["C.6"]["expected"]), ("PASS", "PASS"))
        self.assertGreater(rows["C.6"]["checked"], 1000)

    def test_what_fails_as_printed_is_expected_to(self):
        rows = self.verify("--claims", "C.6.printed,E.10")
        self.assertEqual(list(rows), ["C.6.printed", "E.10"])
        printed = rows["C.6.printed"]
        self.assertEqual((printed["verdict"], printed["expected"]), ("FAIL", "FAIL"))
        self.assertFalse(printed["failure"])
        self.assertLess(printed["slack"], 0)

    def test_the_table_for_people(self):
        out, err = self.gih("verify", "--claims", "C.4,D.1")
        self.assertEqual(err, "")
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^verdict +must be +id +left +right +slack +checked +statement$")
        self.assertRegex(out, r"(?m)^PASS +PASS +C\.4 ")
        self.assertRegex(out, r"(?m)^PASS +PASS +D\.1 ")
        self.assertNotIn("\033", out)
        self.assertEqual(lines[-1], "2 claims, each with a counter-example that must fail")

    def test_list_is_a_table(self):
        rows = self.gih("verify", "--list")[0].splitlines()
        self.assertGreater(len(rows), 100)
        for row in rows:
            self.assertEqual(row.replace("\\|", "").count("|"), 7, row)

    def test_refusals(self):
        before = self.listing()
        for words, *arguments in [
            (('"C.66" is not a claim', 'nearest is "C.6"'), "--claims", "C.66"),
            (('"" is not a claim',), "--claims", ""),
            (("nearest",), "--claims", "C.6,"),
            (("verify needs one of",),),
            (("verify needs one of",), "--claims", "all", "--data.alpha", "1"),
            (("verify needs one of",), "--run", "r.h5", "--data.alpha", "1"),
            (("--kernels is for",), "--claims", "C.4", "--kernels", "5"),
            (("--kernels 1",), "--data.alpha", "1", "--kernels", "1"),
            (("--no-save is for --run",), "--data.alpha", "1", "--no-save"),
            (("--rates is for --run",), "--rates", "--data.alpha", "1"),
            (("--rates is for --run",), "--rates", "--run", "r.h5", "--kernels", "5"),
            (("--rates is for --run",), "--rates", "--run", "r.h5", "--no-save"),
            (("none.h5: cannot open",), "--run", "none.h5"),
            (("none.h5: cannot open",), "--rates", "--run", "none.h5"),
            (("small.ini",), "--run", "small.ini"),
        ]:
            with self.subTest(arguments=arguments):
                line = self.line("verify", *arguments, status=2)
                for word in words:
                    self.assertIn(word, line)
        self.assertEqual(self.listing(), before)


class Conditions(Verify):
    def test_the_published_settings(self):
        rows = self.verify("--config", FIG3, "--data.train", 2000)
        for broken in ("A.1", "A.2", "a(0)", "3.6", "3.6.k8", "E.11", "E.26", "E.1"):
            self.assertEqual(rows[broken]["verdict"], "FAIL", broken)
        for kept in ("sizes", "S*", "eps"):
            self.assertEqual(rows[kept]["verdict"], "PASS", kept)
        self.assertTrue(all(row["expected"] == "" for row in rows.values()))
        self.assertAlmostEqual(rows["3.6"]["right"], 2.99, 12)       # Delta_w at the start
        self.assertLess(abs(rows["3.6"]["left"] - 6.98), 0.1)        # and what is demanded
        self.assertLess(abs(rows["3.6.k8"]["left"] - 6.42), 0.1)
        self.assertEqual(rows["a(0)"]["left"], 0.01)
        self.assertAlmostEqual(rows["a(0)"]["right"], 0.001, 12)
        self.assertEqual(rows["A.2"]["note"], "gamma = 0")
        self.assertIn("S* = 110", rows["S*"]["note"])
        self.assertLess(abs(rows["S*"]["slack"] - 0.031), 0.004)

    def test_a_chain_that_hardly_mixes_does_not_satisfy_the_length(self):
        # |lambda_2| rounds to 1 and beyond.
        rows = self.verify("--config", FIG3, "--data.alpha", 0.01, "--data.train", 100)
        self.assertEqual(rows["E.1"]["verdict"], "FAIL")

    def test_fewer_heads_than_lags(self):
        rows = self.verify("--data.alpha", 0.01, "--data.train", 100, "--model.window", 4,
                           "--model.heads", 2, "--kernels", 100)
        self.assertEqual(rows["sizes"]["verdict"], "FAIL")

    def test_settings_that_satisfy_all(self):
        self.put("sharp.ini", SHARP)
        rows = self.verify("--config", "sharp.ini", "--kernels", 200)
        for row in rows.values():
            self.assertEqual(row["verdict"], "PASS", row)
        self.assertIn("the theorem's conditions hold here",
                      self.gih("verify", "--config", "sharp.ini", "--kernels", 200)[0])


def contents(path):
    """Everything in a file but /checks: attributes, shapes, types, bytes."""
    found = {}

    def visit(name, item):
        if name != "checks":
            found[name] = ({key: str(value) for key, value in item.attrs.items()},
                           (item.shape, str(item.dtype), item[()].tobytes()
                            if item.dtype != object else str(item[()]))
                           if isinstance(item, h5py.Dataset) else None)

    with h5py.File(path, "r") as file:
        found["/"] = {key: str(value) for key, value in file.attrs.items()}
        file.visititems(visit)
    return found


def crc64_xz(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xC96C5795D7870F42 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFFFFFFFFFF


def seal(path):
    """The block of 512 bytes that belongs to what follows it."""
    data = path.read_bytes()
    text = (f"gih: HDF5 after these 512 bytes\nbytes {len(data)}\n"
            f"crc64-xz {crc64_xz(data[512:]):016x}\n")
    path.write_bytes(text.encode().ljust(512, b"\0") + data[512:])


class Runs(Verify):
    def test_checks_are_added_and_nothing_else(self):
        self.train("run.h5", "-q")
        path = self.folder / "run.h5"
        before = contents(path)
        self.assertGreater(len(before), 20)
        rows = self.verify("--run", "run.h5", "--kernels", 100)
        self.assertEqual(contents(path), before)
        with h5py.File(path) as file:
            self.assertIn("description", file["checks"].attrs)
            stored = file["checks"][()]
        self.assertEqual(stored.dtype.names,
                         ("id", "statement", "verdict", "left", "right", "slack"))
        self.assertEqual([row["id"].decode() for row in stored], list(rows))
        for row in stored:
            shown = rows[row["id"].decode()]
            self.assertEqual(row["verdict"].decode(), shown["verdict"])
            self.assertEqual(row["statement"].decode(), shown["statement"])
            for key in ("left", "right", "slack"):
                if math.isfinite(row[key]):
                    self.assertEqual(row[key], shown[key])
                else:
                    self.assertIsNone(shown[key])
        # Again: replaced, not added to; with another count of kernels other numbers.
        self.verify("--run", "run.h5", "--kernels", 50)
        self.assertEqual(contents(path), before)
        with h5py.File(path) as file:
            self.assertEqual(len(file["checks"]), len(stored))
        # It is still a run: it can be shown, and trained once more.
        self.gih("show", "run.h5")
        self.train("again.h5", "-q", config="run.h5")
        self.assertEqual(cli.results(self.folder / "again.h5"), cli.results(path))

    def test_no_save(self):
        self.train("run.h5", "-q")
        before = self.listing()
        self.verify("--run", "run.h5", "--kernels", 50, "--no-save")
        self.assertEqual(self.listing(), before)

    def test_rates(self):
        # Long enough for p to be on S*, as the prediction of stage 2 has it.
        self.put("sharp.ini", SHARP.replace("c = 1\n", "c = 0.01\n").replace(
            "epochs = 60\nlearning-rate = 10", "method = flow\ntime = 300"))
        self.train("run.h5", "-q", config="sharp.ini")
        before = self.listing()
        document = json.loads(self.gih("verify", "--run", "run.h5", "--rates", "--json")[0],
                              parse_constant=never)
        self.assertEqual(set(document), {"S_star", "I_star", "gap", "rates"})
        self.assertEqual(document["S_star"], "10")
        self.assertGreater(document["I_star"], document["gap"])
        named = {}
        for row in document["rates"]:
            self.assertEqual(set(row), {"stage", "of", "from", "to", "value", "measured",
                                        "predicted", "bound"})
            named.setdefault((row["stage"], row["of"]), []).append(row)
        self.assertEqual(set(named), {(1, "10/00"), (1, "10/01"), (2, "head 1"), (3, "a")})
        for (stage, _), rows in named.items():
            self.assertEqual(len(rows), 299 if stage == 1 else 60)  # of a flow; one an epoch
            for row in rows:
                within = 0.02 if stage == 3 else 0.01  # Euler steps that raise a by 0.05
                self.assertLess(abs(row["measured"] / row["predicted"] - 1), within, row)
                self.assertEqual(row["bound"] is None, stage == 3)
                if stage < 3:
                    self.assertGreater(row["measured"], row["bound"])
        lines = self.gih("verify", "--run", "run.h5", "--rates")[0].splitlines()
        self.assertRegex(lines[0], r"^S\* = 10, I\* = 0\.\d+, gap = 0\.\d+ of the run's own 200 kernels$")
        self.assertEqual(len(lines), 3 + 4)
        self.assertRegex(lines[-1], r"^3 +a +60 +\S+ +\S+  \S+ to 1\.0\d\d\d +-$")
        self.assertEqual(self.listing(), before)

    def test_a_flow_keeps_the_sums_of_w_within_its_tolerance(self):
        # Its steps at the end are of a size at which rounding of the gradient adds up.
        self.put("sharp.ini", SHARP.replace("""[stage.2]
train = w
epochs = 60
""", """[stage.2]
train = w
method = flow
time = 1e12
"""))
        self.train("run.h5", "-q", config="sharp.ini")
        rows = self.verify("--run", "run.h5", "--kernels", 50, "--no-save")
        self.assertEqual(rows["rows"]["verdict"], "PASS", rows["rows"])
        self.assertLess(rows["rows"]["slack"], 1e-7 - 1e-10)

    def test_what_must_hold_and_what_is_reported(self):
        self.train("run.h5", "-q")
        rows = self.verify("--run", "run.h5", "--kernels", 100, "--no-save")
        for id in ("E.1.gd", "II.unused", "rows", "blocks"):
            self.assertEqual((rows[id]["verdict"], rows[id]["expected"]), ("PASS", "PASS"), id)
        # The settings break the theorem's conditions: nothing of it is demanded.
        for id in ("selected", "I.bound", "II.bound", "III.rises"):
            self.assertEqual(rows[id]["expected"], "", id)

    def test_where_the_conditions_hold_the_conclusions_are_demanded(self):
        self.put("sharp.ini", SHARP)
        self.train("run.h5", "-q", config="sharp.ini")
        rows = self.verify("--run", "run.h5", "--kernels", 200)
        for id in ("selected", "I.bound", "E.2", "II.bound", "III.rises"):
            self.assertEqual((rows[id]["verdict"], rows[id]["expected"]), ("PASS", "PASS"), id)

    def test_a_run_that_breaks_the_theory(self):
        # No training does this, so the log is edited, and the file sealed again.
        self.train("run.h5", "-q")
        path = self.folder / "run.h5"
        with h5py.File(path, "r+") as file:
            w = file["log/w"][()]
            w[3, 0, 0] += 1.0  # a row of stage 1, which trains c alone
            file["log/w"][...] = w
        self.line("verify", "--run", "run.h5", status=2)
        seal(path)
        rows = self.verify("--run", "run.h5", "--kernels", 50, status=1)
        for id in ("rows", "blocks"):
            self.assertEqual((rows[id]["verdict"], rows[id]["failure"]), ("FAIL", True), id)
        self.assertEqual(sum(row["failure"] for row in rows.values()), 2)
        out, _ = self.gih("verify", "--run", "run.h5", "--kernels", 50, status=1)
        self.assertTrue(out.rstrip().endswith("NOT as the theory has it: 2"))

    def test_no_stage_and_stages_of_several_blocks(self):
        self.put("joint.ini", "[data]\ntrain = 30\nvalidation = 0\nlength = 20\n"
                              "[stage.1]\ntrain = c+w+a\nepochs = 5\n")
        self.train("run.h5", "-q", config="joint.ini")
        rows = self.verify("--run", "run.h5", "--kernels", 50)
        for id in ("selected", "I.bound", "II.bound", "III.rises", "E.1.gd"):
            self.assertEqual(rows[id]["verdict"], "SKIPPED", id)
            self.assertIn("no stage", rows[id]["note"])
        self.assertEqual(rows["rows"]["verdict"], "PASS")


if __name__ == "__main__":
    unittest.main()
