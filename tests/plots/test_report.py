"""plots/report.py on synthetic runs: the page is whole, opens alone, and names what it cannot show."""

import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import h5py

import sample_run

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])
PHONE = 390  # pixels
VOID = {"meta", "br", "img", "link", "input", "hr"}
CONFIG = """[data]
vocab = 3
seed = {seed}
file =

[model]
window = 3

[stage.1]
train = c
method = {method}

[run]
max-memory = 80 %
"""


class Page(html.parser.HTMLParser):
    """Elements with their attributes, the text outside <style>, and whether tags nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.title, self.open = [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if "title" in self.open:
            self.title += data
        elif "style" not in self.open:
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a folder with blanks ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_file(self, name, *, kind=sample_run.trained, seed=1, method="gd", **attributes):
        path = self.folder / name
        kind(path)
        attributes = {"complete": 1, "git_commit": "abc123", "gih_version": "0.1.0",
                      "compiler": "gcc 12.2.0",
                      "config": CONFIG.format(seed=seed, method=method), **attributes}
        with h5py.File(path, "a") as file:
            for key, value in attributes.items():
                file.attrs[key] = value
        return path

    def experiment(self, name, kinds):
        """A results folder as experiments/reproduce.sh makes it."""
        folder = self.folder / name
        folder.mkdir()
        for index, (run, kind) in enumerate(kinds.items()):
            self.run_file(f"{name}/{run}.h5", kind=kind, seed=index + 1)
            (folder / f"{run}.ini").touch()
        done = subprocess.run(["/usr/bin/python3", "-B", SOURCE / f"plots/{name}.py", folder],
                              capture_output=True, text=True)
        self.assertLessEqual(done.returncode, 1, done.stderr)
        return folder

    def call(self, *arguments, status=0):
        done = subprocess.run(["/usr/bin/python3", "-B", SOURCE / "plots/report.py", *arguments],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def page(self, *arguments):
        """The page about some inputs, after checking what every page must have."""
        output = self.folder / "report.html"
        done = self.call(*arguments, "-o", output, "--overwrite")
        self.assertEqual((done.stdout, done.stderr), (f"report {output}\n", ""))
        text = output.read_text()
        page = Page(text)
        self.assertEqual(page.all("html"), [{"lang": "en"}])
        self.assertIn("width=device-width", str(page.all("meta")))
        self.assertEqual(len(page.all("h1")), 1)
        self.check_nothing_is_fetched(text, page)
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        self.assertEqual(len(ids), len(set(ids)))
        targets = [match for _, attributes in page.elements for value in attributes.values()
                   for match in re.findall(r"^#(.+)$|url\(#([^)]+)\)", value or "")]
        self.assertGreater(len(targets), 20 * len(page.all("svg")))
        for target in targets:
            self.assertIn("".join(target), ids)
        for svg in page.all("svg"):
            self.assertEqual(svg["role"], "img")
            self.assertGreater(len(svg["aria-label"]), 10)
        return page

    def check_nothing_is_fetched(self, text, page):
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("script", "link", "iframe", "object", "base"))
            for name in ("src", "href", "srcset", "data", "action", "xlink:href"):
                self.assertRegex(attributes.get(name, "#"), "^(#|data:image/png;base64,)", tag)
        self.assertNotIn("@import", text)
        self.assertEqual(set(re.findall(r"url\((.)", text)) - {"#"}, set())

    def test_experiments(self):
        folders = [self.experiment("fig3", {f"seed{seed}": sample_run.trained for seed in (1, 2, 3)}),
                   self.experiment("fig9", {"limit": lambda path: sample_run.limit(path, rho=3.0)}),
                   self.experiment("assumptions", {
                       "inf": sample_run.assumptions,
                       "finite": lambda path: sample_run.assumptions(path, finite=True)})]
        (folders[0] / "seconds.txt").write_text("1234\n")
        # What lies there besides the runs is not taken for one.
        with h5py.File(folders[0] / "data.h5", "w") as file:
            file.attrs["format"] = "gih-data"
        page = self.page(*folders, "--title", "three <of> them")
        self.assertEqual(page.title, "three <of> them")
        self.assertEqual(len(page.all("svg")), 3)
        count = 0
        for folder in folders:
            for verdict in json.loads((folder / "verdicts.json").read_text()):
                self.assertIn(verdict["statement"], page.text)
                for value in verdict["values"]:
                    self.assertIn(value["text"], page.text)
                count += 1
        self.assertEqual(count, 11 + 2 + 22)
        self.assertIn("34 of 35 PASS, 1 FAIL", page.text)
        self.assertEqual(page.text.count("\N{BALLOT X} FAIL"), 1)
        for part in ("1,234", "Figure 3: three stages of training (fig3)",
                     "experiments/reproduce.sh --again fig9", "bands around them"):
            self.assertIn(part, page.text)
        self.assertNotIn("RESULTS_FOLDER", page.text)

    def test_one_that_failed(self):
        folder = self.experiment("fig9", {"limit": sample_run.limit})
        (folder / "failed.txt").write_text("gih train ended with <status> 4\n")
        page = self.page(folder)
        self.assertIn("gih train ended with <status> 4", page.text)
        self.assertIn("1 unfinished", page.text)
        self.assertNotIn("one subset has", page.text)
        self.assertNotIn("PASS", page.text)

    def test_runs(self):
        name = "a<b>&\"c'.h5"
        runs = [self.run_file(name, seed=7), self.run_file("flow.h5", method="flow"),
                self.run_file("limit.h5", kind=sample_run.limit, complete=0),
                self.run_file("inf.h5", kind=lambda path: sample_run.assumptions(
                    path, verdicts={"II.bound": "FAIL", "I.end": "SKIPPED"}))]
        page = self.page(*runs)
        self.assertEqual(page.title, f"gih: {name}, flow.h5, limit.h5, inf.h5")
        self.assertIn(name, page.text)
        self.assertEqual(len(page.all("svg")), 4)
        for key in ("data.vocab", "data.seed", "data.file", "model.window", "stage.1.train",
                    "stage.1.method", "run.max-memory", "80 %", "git commit", "abc123", "0.1.0",
                    "gcc 12.2.0", "flow", "h5py", "matplotlib"):
            self.assertIn(key, page.text)
        with h5py.File(runs[3]) as file:
            ids = [row["id"].decode() for row in file["checks"][()]]
        self.assertGreater(len(ids), 20)
        for claim in ids:
            self.assertIn(f" {claim} ", page.text)
        self.assertIn("1 FAIL, 1 SKIPPED", page.text)
        self.assertIn("gih verify --run flow.h5", page.text)
        self.assertIn("This run is not finished.", page.text)
        self.assertIn("gih train --config flow.h5 -o flow_again.h5", page.text)

    def test_the_same_runs_give_the_same_bytes(self):
        run = self.run_file("seed1.h5")
        texts = []
        for _ in range(2):
            self.page(run, run)
            texts.append((self.folder / "report.html").read_bytes())
        self.assertEqual(texts[0], texts[1])

    def test_refusals(self):
        run = self.run_file("seed1.h5")
        (self.folder / "text.h5").write_text("not HDF5")
        with h5py.File(self.folder / "data.h5", "w") as file:
            file.attrs["format"] = "gih-data"
        self.run_file("broken.h5", config="no section = 1\n")
        (self.folder / "fig9").mkdir()
        (self.folder / "nothing").mkdir()
        there = self.folder / "there.html"
        there.write_text("mine")
        new = self.folder / "new.html"
        before = sorted(self.folder.iterdir())
        for arguments, part in (
                (["nowhere.h5", "-o", new], "nowhere.h5: no such run file"),
                ([run, "text.h5", "-o", new], "text.h5: cannot be read"),
                (["data.h5", "-o", new], "data.h5: an HDF5 file, but not a run file"),
                (["broken.h5", "-o", new], "broken.h5: its configuration"),
                (["fig9", "-o", new], "verdicts.json: missing"),
                (["nothing", "-o", new], "no such experiment"),
                ([run, "-o", there], "there.html: exists; --overwrite"),
                ([run, "-o", "no/where.html"], "no folder no"),
                ([run, "-o", self.folder / "fig9"], "fig9")):
            with self.subTest(part):
                done = self.call(*arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(part, done.stderr)
                self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertEqual(there.read_text(), "mine")
        for arguments in ([], [run], ["-o", new]):
            self.assertIn("usage", self.call(*arguments, status=2).stderr)

    def test_a_phone_shows_it(self):
        chromium = shutil.which("chromium")
        if not chromium:
            print("no chromium here: the width on a phone is not tested")
            return
        runs = [self.run_file(f"{'a_long_name_' * 8}{seed}.h5", seed=seed) for seed in range(3)]
        experiment = self.experiment("fig3", {f"seed{seed}": sample_run.trained for seed in range(6)})
        self.page(experiment, *runs)
        # In a frame as wide as a phone, because windows are not made so narrow.
        inner = (self.folder / "report.html").read_text().replace("<details>", "<details open>")
        script = ("const page = document.getElementById('page').contentDocument.documentElement;"
                  "document.title = `wide ${page.scrollWidth} of ${page.clientWidth}`;")
        outer = self.folder / "phone.html"
        outer.write_text(f'<!DOCTYPE html><meta charset="utf-8"><iframe id="page" width="{PHONE}" height="800" '
                         f'style="border:0" onload="{script}" srcdoc="{html.escape(inner)}"></iframe>')
        done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu",
                               f"--user-data-dir={self.folder}/profile", "--dump-dom",
                               outer.as_uri()], capture_output=True, text=True, timeout=120)
        found = re.search(r"<title>wide (\d+) of (\d+)</title>", done.stdout)
        self.assertTrue(found, done.stdout[:500] + done.stderr[-500:])
        self.assertLessEqual(int(found[2]), PHONE)  # less by the bar for scrolling
        self.assertLessEqual(int(found[1]), int(found[2]))


if __name__ == "__main__":
    unittest.main()
