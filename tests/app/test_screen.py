"""What appears on stdout and stderr: help, versions, progress, numbers under another locale."""
import os
import pty
import re
import select
import subprocess
import unittest

import app.cli as cli

LOCALE = "de_DE.UTF-8"


class Help(cli.Folder):
    def test_help(self):
        usage = self.gih("--help")[0]
        self.assertEqual(usage, self.gih("-h")[0])
        commands = re.findall(r"^  (\w+) ", usage, re.M)
        for command in ("sample", "train", "evaluate", "information", "verify", "show", "help"):
            self.assertIn(command, commands)
        keys = re.findall(r"^\| `([a-zA-Z.-]+)` \|", self.gih("help", "keys")[0], re.M)
        self.assertGreater(len(keys), 30)
        for command in commands[:5]:
            out, err = self.gih(command, "--help")
            self.assertEqual((err, out), ("", self.gih(command, "-h")[0]))
            self.assertIn(f"usage: gih {command}", out)
            for key in keys if command in ("sample", "train") else []:
                self.assertRegex(out, rf"(?m)^  {re.escape(key)} ")

    def test_version(self):
        out = self.gih("--version")[0]
        for words in ("gih 0.1", "commit ", "Eigen 3", "Boost 1.", "HDF5 1.", "fmt ", "nlohmann-json "):
            self.assertIn(words, out)


class Progress(cli.Folder):
    # About a second and a half.
    LONG = ("--stage.1.epochs", "150000", "--log.every", "1000")

    def test_file(self):
        with open(self.folder / "stderr", "w") as file:
            self.train("run.h5", *self.LONG, stderr=file)
        text = (self.folder / "stderr").read_text()
        self.assertNotIn("\r", text)
        self.assertNotIn("\033", text)
        self.assertRegex(text, r"run\.h5: \d+ log rows, train loss [\d.]+, validation loss [\d.]+, a ")
        self.assertLess(len(text.splitlines()), 10)

    def test_quiet(self):
        for arguments in (("train", "-o", "r.h5"), ("sample", "-o", "d.h5")):
            for flag in ("-q", "--quiet"):
                printed = self.gih(*arguments, "--config", "small.ini", "--overwrite", flag)
                self.assertEqual(printed, ("", ""))

    def test_terminal(self):
        terminal, end = pty.openpty()
        process = self.start("train", "--config", "small.ini", "-o", "run.h5", *self.LONG, stderr=end)
        os.close(end)
        seen = b""
        while True:
            try:
                ready = select.select([terminal], [], [], 60)[0]
                piece = os.read(terminal, 4096) if ready else b""
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        os.close(terminal)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertRegex(seen, rb"\r\033\[Kstage 1/3 \[#*\.+\] +\d+ %  [\d.,]+ epochs/s  \d+ s left  loss [\d.]+")
        # The bar is wiped before the summary, which stays.
        self.assertRegex(seen, rb"\r\033\[Krun\.h5: \d+ log rows")


class Locale(cli.Folder):
    def test_decimal_points(self):
        source = self.folder / "locales"
        source.mkdir()
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", source / LOCALE],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(f"{LOCALE} cannot be made here: {made.stderr.strip()}")
        # glibc itself keeps the pieces of LOCPATH for ever, which the leak check would count as ours.
        german = {**os.environ, "LC_ALL": LOCALE, "LOCPATH": str(source),
                  "ASAN_OPTIONS": "detect_leaks=0"}
        comma = subprocess.run(["/usr/bin/python3", "-c", "import locale; locale.setlocale("
                                "locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"],
                               env=german, capture_output=True, text=True).stdout
        self.assertEqual(comma, ",\n")
        self.put("t.json", '{"vocab": 3, "tokens": [[0, 1, 2, 0, 1]]}')
        self.put("p.json", '{"window": 3, "degree": 1, "eps": 0.05, "a": 1.5, "w": [[1e-1, 0, 0.5]],'
                           ' "c": [1.25, 1]}')
        seen = []
        for environment in ({**os.environ, "LC_ALL": "C"}, german, {**os.environ, "LC_ALL": "xx_YY"}):
            self.train("run.h5", "-q", "--overwrite", "--data.alpha", "0.25", env=environment)
            shown = self.gih("show", "run.h5", env=environment)[0]
            shown = re.sub(r"written \S+ by", "written by", shown)
            as_json = self.gih("show", "run.h5", "--json", env=environment)[0]
            as_json = re.sub(r'"created": "[^"]*"', "", as_json)
            evaluated = [self.gih("evaluate", "--data", "t.json", "--parameters", "p.json", "--gradient",
                                  *more, env=environment)[0] for more in ((), ("--json",))]
            seen.append((cli.results(self.folder / "run.h5"), shown, as_json, evaluated))
            self.assertIn("alpha = 0.25\n", shown)
        self.assertEqual(seen[1], seen[0])
        self.assertEqual(seen[2], seen[0])


if __name__ == "__main__":
    unittest.main()
