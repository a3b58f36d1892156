"""What README.md and docs say is true: commands run as printed, keys, options and links exist.

A comment line before a fenced block, invisible when rendered, says what to do with it:
  <!-- run -->           runs it (sh or python); all blocks of a page in one temporary folder, in order
  <!-- run: status 2 --> the same, and it ends with that status
  <!-- compiles -->      C++ against the public headers
In that folder `gih` is on PATH, `plots` is there, and the INI files of experiments/ have few sequences and epochs.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])
BUILD = pathlib.Path(os.environ["GIH_BUILD"])
GIH = os.environ["GIH"]
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- (run(?:: status (?P<status>\d+))?|compiles) -->\n)?"
                   r"```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
KEY = re.compile(r"(?:data|model|loss|init|stage|log|memory|run)\.[\w.*-]*\w|"
                 r"(?:data|model|loss|init|stage|log|memory|run)\.\*")
FILE_ENDING = re.compile(r"\.(h5|hpp|cpp|ini|json|sh|py|part|lock)$")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def blocks(page):
    return list(BLOCK.finditer(page.read_text()))


def inline_code(page):
    prose = BLOCK.sub("", page.read_text())
    return re.findall(r"`([^`\n]+)`", prose)


def commands(page):
    """Lines typed at a shell, in blocks and in the text."""
    for block in blocks(page):
        if block["language"] == "sh":
            yield from block["text"].replace("\\\n", " ").splitlines()
    yield from inline_code(page)


def key_table():
    rows = [line.split("|") for line in output(GIH, "help", "keys").splitlines()]
    return {row[1].strip().strip("`") for row in rows if "`" in row[1]}


def slugs(page):
    """Anchors that GitHub gives the headings of a page."""
    prose = BLOCK.sub("", page.read_text())
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose, re.M):
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(words.replace(" ", "-"))
    return found


def small(ini):
    """The same experiment with few sequences and epochs, to run in moments."""
    ini = re.sub(r"^(train|validation) = \d+$", r"\1 = 50", ini, flags=re.M)
    return re.sub(r"^epochs = \d+$", "epochs = 20", ini, flags=re.M)


class Docs(unittest.TestCase):
    def test_the_key_table_is_that_of_the_program(self):
        page = (SOURCE / "docs/configuration.md").read_text()
        table = re.search(r"<!-- gih help keys: begin -->\n(.*)<!-- gih help keys: end -->", page, re.S)
        self.assertEqual(table[1], output(GIH, "help", "keys"))

    def test_the_claim_table_is_that_of_the_program(self):
        page = (SOURCE / "docs/claims.md").read_text()
        table = re.search(r"<!-- gih verify --list: begin -->\n(.*)<!-- gih verify --list: end -->",
                          page, re.S)
        self.assertEqual(table[1], output(GIH, "verify", "--list"))

    def test_what_fails_as_printed_is_explained(self):
        page = (SOURCE / "docs/errata.md").read_text()
        failing = re.findall(r"^\| `([^`]+)` \|.*\| fails as printed \|",
                             output(GIH, "verify", "--list"), re.M)
        self.assertGreater(len(failing), 10)
        for claim in failing:
            self.assertIn(f"`{claim}`", page)

    def test_claims_named_in_the_theory_exist(self):
        known = set(re.findall(r"^\| `([^`]+)` \|", output(GIH, "verify", "--list"), re.M))
        page = (SOURCE / "docs/theory.md").read_text()
        lists = re.findall(r"\[((?:[^\[\]`]*`[^`]+`)+)\](?!\()", page)
        named = [name for text in lists for name in re.findall(r"`([^`]+)`", text)]
        self.assertGreater(len(named), 40)
        for name in named:
            self.assertIn(name, known)

    def test_the_streams_are_those_of_the_code(self):
        code = (SOURCE / "include/gih/base/random.hpp").read_text()
        numbers = re.findall(r"^  \w+ = (\d+),$", code, re.M)
        page = (SOURCE / "docs/reproducibility.md").read_text()
        self.assertEqual(re.findall(r"^\| .* \| (\d+) \|$", page, re.M), numbers)
        self.assertGreater(len(numbers), 3)

    def test_blocks_run_as_printed(self):
        ran = 0
        for page in PAGES:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                self.prepare(folder)
                for block in blocks(page):
                    if not (block[1] or "").startswith("run"):
                        continue
                    with self.subTest(page=page.name, block=block["text"]):
                        self.run_block(folder, block)
                    ran += 1
        self.assertGreaterEqual(ran, 10)

    def prepare(self, folder):
        (folder / "bin").mkdir()
        (folder / "bin/gih").symlink_to(GIH)
        (folder / "plots").symlink_to(SOURCE / "plots")
        for ini in SOURCE.glob("experiments/*/*.ini"):
            copy = folder / ini.relative_to(SOURCE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(small(ini.read_text()))

    def run_block(self, folder, block):
        interpreter = {"sh": ["bash", "-euo", "pipefail"], "python": ["/usr/bin/python3", "-"]}
        done = subprocess.run(interpreter[block["language"]], input=block["text"], text=True,
                              capture_output=True, cwd=folder, timeout=600,
                              env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, int(block["status"] or 0), done.stdout + done.stderr)
        if done.returncode:
            # What it prints stands below the block.
            self.assertIn(done.stderr.strip(), block.string[block.end():][:1000])

    def test_programs_compile(self):
        compiled = 0
        cache = (BUILD / "CMakeCache.txt").read_text()
        compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M)[1]
        for page in PAGES:
            for block in blocks(page):
                if block[1] != "compiles":
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    source = pathlib.Path(folder) / "program.cpp"
                    source.write_text(block["text"])
                    output(compiler, "-std=c++20", "-fsyntax-only", f"-I{SOURCE}/include",
                           "-isystem", "/usr/include/eigen3", str(source))
                compiled += 1
        self.assertGreater(compiled, 0)

    def test_keys_exist(self):
        table = key_table()
        checked = 0
        for page in PAGES:
            for text in commands(page):
                for key in re.findall(rf"(?<![\w/.-])(?:--)?({KEY.pattern})", text):
                    if FILE_ENDING.search(key):
                        continue
                    key = re.sub(r"^stage\.\d+\.", "stage.K.", key)
                    pattern = re.escape(key).replace(r"\*", ".*")
                    self.assertTrue(any(re.fullmatch(pattern, name) for name in table),
                                    f"{page.name}: no key {key}")
                    checked += 1
        self.assertGreater(checked, 50)

    def test_commands_and_options_exist(self):
        listing = output(GIH, "--help")
        names = set(re.findall(r"^  (\w+) ", listing, re.M)) - {"gih"}
        helps = {f"gih {name}": output(GIH, name, "--help") for name in names}
        helps["gih"] = listing
        for script in ("experiments/reproduce.sh", "tests/run.sh", "plots/report.py", "plots/sweep.py"):
            helps[script] = output(SOURCE / script, "--help")
        option = re.compile(r"(?<!\S)--?[a-z][\w-]*(?![\w.-])")
        checked = 0
        for page in PAGES:
            for text in commands(page):
                words = text.split()
                if text.startswith("--"):  # an option by itself: of any of them
                    own = "".join(helps.values())
                elif words and words[0] == "gih" and len(words) > 1 and words[1].islower():
                    if words[1].isalpha():
                        self.assertIn(words[1], names, f"{page.name}: {text}")
                        own = helps[f"gih {words[1]}"]
                    else:
                        own = helps["gih"]
                elif words and words[0] in helps:
                    own = helps[words[0]]
                else:
                    continue
                for name in option.findall(text):
                    self.assertRegex(own, rf"(?<!\S){re.escape(name)}(?![\w-])",
                                     f"{page.name}: no option {name} in {text}")
                    checked += 1
        self.assertGreater(checked, 20)

    def test_experiments_exist_and_those_described_have_a_row(self):
        names = output(SOURCE / "experiments/reproduce.sh", "--list").split()
        for page in PAGES:
            for text in commands(page):
                words = text.split()
                if words and words[0] == "experiments/reproduce.sh":
                    for word in words[1:]:
                        if not word.startswith("-") and word not in ("all", "memory", "NAME", "NAME..."):
                            self.assertIn(word, names, f"{page.name}: {text}")
        rows = re.findall(r"^\| `experiments/reproduce.sh (\w+)` \|",
                          (SOURCE / "docs/reproducing.md").read_text(), re.M)
        described = [name for page in ("figures.md", "studies.md", "paper-and-code.md",
                                               "memory-findings.md")
                     for name in re.findall(r"^## (\w+):", (SOURCE / "docs" / page).read_text(), re.M)]
        self.assertGreaterEqual(len(described), 5)
        self.assertLessEqual(set(described), set(names))
        self.assertEqual(sorted(rows), sorted(described))

    def test_links_lead_somewhere(self):
        checked = 0
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text())):
                if re.match(r"https?:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, slugs(file), f"{page.name}: {target}")
                checked += 1
        self.assertGreater(checked, 30)

    def test_every_page_is_reached_from_the_readme(self):
        linked = set(re.findall(r"\]\(docs/([\w-]+\.md)\)", (SOURCE / "README.md").read_text()))
        self.assertEqual(linked, {page.name for page in PAGES[1:]})

    def test_files_named_in_code_marks_exist(self):
        checked = 0
        for page in PAGES:
            for text in inline_code(page):
                if (re.fullmatch(r"(sim|include|experiments|plots|tests|docs)/[\w./-]+\w", text)
                        and not re.search("[A-Z]{4}", text)):  # NAME, FLOOR stand for something
                    self.assertTrue((SOURCE / text).exists(), f"{page.name}: {text}")
                    checked += 1
        self.assertGreater(checked, 10)


if __name__ == "__main__":
    unittest.main()
