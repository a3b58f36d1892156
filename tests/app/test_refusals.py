"""Wrong use and bad input: exit status 2, one line that names it, nothing written or changed."""
import json
import os
import unittest

import h5py

import app.cli as cli


class Refusals(cli.Folder):
    def refused(self, words, *arguments, **options):
        before = self.listing()
        line = self.line(*arguments, status=2, **options)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, line, arguments)
        self.assertLess(len(line), 1000 + len("".join(arguments)))
        self.assertEqual(self.listing(), before, arguments)
        return line

    def test_commands(self):
        for words, *arguments in [
            ("a command is missing; see gih --help",),
            (('"trian" is not a command', "nearest is train"), "trian"),
            (('"" is not a command',), ""),
            ('"more" is one argument too many for gih train', "train", "more"),
            ('"b" is one argument too many for gih show', "show", "a", "b"),
            ("gih show needs FILE", "show"),
            ('help "stages": must be keys', "help", "stages"),
            ("--output is missing", "sample"),
            ("--data is missing", "evaluate"),
            (("--jsno is not an option of gih show", "nearest is --json"), "show", "--jsno", "x"),
            ("-x is not an option of gih train", "train", "-x"),
            ("--resume RUN.h5 names the output itself", "train", "--resume", "a.h5", "-o", "b.h5"),
            ("--quiet is given twice", "train", "--quiet", "-q"),
            ("none.ini: cannot open: No such file", "train", "--config", "none.ini"),
            ("none.h5: cannot open: No such file", "show", "none.h5"),
            (": is not a regular file", "show", "."),
        ]:
            self.refused(words, *arguments)

    def test_options(self):
        for words, *options in [
            (("--data.alpah is not an option", "nearest is --data.alpha"), "--data.alpah", "0.1"),
            (("--model.win", "nearest is --model.window"), "--model.win", "5"),
            (("--data.alph", "nearest is --data.alpha"), "--data.alph=0.1"),
            (("--stage.K.epochs",), "--stage.K.epochs", "5"),
            (("--stage.1.epoch ", "epochs"), "--stage.1.epoch", "5"),
            (("--stage.01.train",), "--stage.01.train", "c"),
            (("--stage.100.train",), "--stage.100.train", "c"),
            (("--data.alpha = nan", "from 0.001 to 1e6"), "--data.alpha", "nan"),
            (("--data.alpha = inf", "from 0.001 to 1e6"), "--data.alpha", "inf"),
            (("--data.alpha = 0,1", "from 0.001 to 1e6"), "--data.alpha", "0,1"),
            (("--data.alpha", "must be a number"), "--data.alpha", ""),
            (("--data.alpha is given twice",), "--data.alpha", "1", "--data.alpha", "2"),
            (("--data.alpha", "missing"), "--data.alpha"),
            (("--data.alpha",), "--data.alpha="),
            (("--data.alpha needs a value", "--data.floor"), "--data.alpha", "--data.floor", "0.1"),
            (("--data.train = 1.5", "whole number from 1"), "--data.train", "1.5"),
            (("--data.train = -5", "whole number from 1"), "--data.train", "-5"),
            (("--data.seed = 18446744073709551616", "2^64-1"), "--data.seed", "18446744073709551616"),
            (("--model.window = 0", "from 1 to 31"), "--model.window", "0"),
            (("data.length = 3", "above model.window = 5"), "--data.length", "3", "--model.window", "5"),
            (("data.length = 3", "above model.window = 3"), "--data.length", "3"),
            (("model.window = 1", "largest lag of data.parents = 1,2"), "--model.window", "1"),
            (("model.degree = 4", "at most model.heads = 3"), "--model.degree", "4"),
            (("model.heads = 1", "from 2"), "--model.heads", "1", "--model.degree", "1"),
            (("data.floor = 0.34", "below 1/data.vocab"), "--data.floor", "0.34"),
            (("--data.floor = 0.6",), "--data.floor", "0.6"),
            (("--stage.1.learning-rate = 0", "above 0"), "--stage.1.learning-rate", "0"),
            (("stage 3 without stage 2",), "--stage.1.train", "c", "--stage.3.train", "a"),
            (("stage.1.train is missing",), "--stage.1.epochs", "5"),
            (("need", "GB", "run.max-memory"), "--run.max-memory", "1 MB"),
            (("need", "GB", "run.max-memory"), "--data.train", "1e9", "--run.max-memory", "2 GB"),
            (("need", "GB", "run.max-memory"), "--stage.1.train", "c", "--stage.1.epochs", "1e12",
             "--log.every", "1"),
            (("must be at most",), "--model.heads", "31", "--model.window", "31", "--model.degree", "15"),
            (("--data.file = a#b.h5",), "--data.file", "a#b.h5"),
            (("no.h5: cannot open",), "--data.file", "no.h5"),
            (("c = 0 in every entry",), "--init.c", "0"),
        ]:
            self.refused(words, "train", *options)

    def test_configuration_files(self):
        for words, text in [
            (("bad.ini:3: data.alpah is not a key", "nearest is data.alpha"), "[data]\n\nalpah = 0.1\n"),
            (("bad.ini:3: data.alpha is given again", "bad.ini:2"), "[data]\nalpha = 0.1\nalpha = 0.2\n"),
            ("bad.ini:2: data.alpha = nan: must be a number from 0.001 to 1e6", "[data]\nalpha = nan\n"),
            ("bad.ini:1: ", "hello\n"),
            ("bad.ini:2: ", "[data]\nalpha 0.1\n"),
            ("bad.ini:1: ", "\x01\x02\x1b[31m" * 1000),
            ("bad.ini:2: stage.0.train is not a key", "[stage.0]\ntrain = c\n"),
            ("bad.ini:4: stage.01.train is not a key", "[stage.1]\ntrain = c\n[stage.01]\ntrain = w\n"),
        ]:
            self.refused(words, "train", "--config", self.put("bad.ini", text))
        (self.folder / "binary").write_bytes(b"\x7fELF\x02\xff" + bytes(500) + b"\n")
        self.refused("binary: must be INI text", "train", "--config", "binary")
        self.refused("is not a regular file", "train", "--config", ".")
        self.refused("must be a number from", "train", "--config", "small.ini", "--data.alpha", "x")

    def test_tokens(self):
        good = {"window": 3, "degree": 2, "eps": 0.1, "a": 1.0, "c": [0.1] * 7, "w": [[1, 0, 0]] * 3}
        self.put("parameters.json", json.dumps(good))
        row = [0, 1, 2, 0, 1]
        for words, tokens in [
            (("t.json: tokens[1]", "3", "0 to 2"), {"vocab": 3, "tokens": [row, [0, 1, 3, 0, 1]]}),
            (("t.json: tokens[0]", "-1", "0 to 2"), {"vocab": 3, "tokens": [[0, -1, 1, 1, 1]]}),
            (("t.json: tokens[0]", "0.5"), {"vocab": 3, "tokens": [[0, 0.5, 1, 1, 1]]}),
            (("t.json", "rows must have one length"), {"vocab": 3, "tokens": [row, row + [0]]}),
            (("t.json", "vocab", "2"), {"vocab": 1, "tokens": [row]}),
            (("t.json", "no sequence"), {"vocab": 3, "tokens": []}),
            (("t.json", "tokens is missing"), {"vocab": 3}),
            (("t.json", "unknown key"), {"vocab": 3, "tokens": [row], "x": 1}),
            (("t.json", "length 3", "above the window 3"), {"vocab": 3, "tokens": [row[:4]]}),
        ]:
            self.put("t.json", json.dumps(tokens))
            self.refused(words, "evaluate", "--data", "t.json", "--parameters", "parameters.json")
            if "length 3" not in words:
                self.refused(words[:1], "train", "--data.file", "t.json")
        self.put("t.json", '{"vocab": 3, "tokens": [[0,')
        self.refused("t.json: is not JSON", "train", "--data.file", "t.json")

        self.put("t.json", json.dumps({"vocab": 3, "tokens": [row]}))
        for words, change in [
            ("w[0]", {"w": [[1, 0]] * 3}),
            ("c has 3 entries: must be 7", {"c": [1, 2, 3]}),
            ("degree D = 4", {"degree": 4}),
            ("window: 0: must be an integer 1 to 31", {"window": 0}),
            ("eps: must be 0 or more", {"eps": -1}),
            ("a: \"x\"", {"a": "x"}),
        ]:
            self.put("p.json", json.dumps({**good, **change}))
            self.refused(("p.json", words), "evaluate", "--data", "t.json", "--parameters", "p.json")
        self.refused("--engine quick: must be table or reference", "evaluate", "--data", "t.json",
                     "--parameters", "parameters.json", "--engine", "quick")

    def test_damaged_and_foreign_files(self):
        self.train("run.h5", "-q")
        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q")
        run = (self.folder / "run.h5").read_bytes()
        data = (self.folder / "data.h5").read_bytes()
        for size in (1, 100, 600, len(run) // 2, len(run) - 1):
            (self.folder / "cut.h5").write_bytes(run[:size])
            for arguments in (("show", "cut.h5"), ("train", "-o", "o.h5", "--config", "cut.h5"),
                              ("train", "-o", "o.h5", "--init.file", "cut.h5")):
                self.refused("cut.h5", *arguments)
            (self.folder / "cut.h5").write_bytes(data[:min(size, len(data) - 1)])
            self.refused("cut.h5", "train", "-o", "o.h5", "--data.file", "cut.h5")
        (self.folder / "x.h5.part").write_bytes(run[:5000])
        self.refused(("x.h5.part", "truncated"), "train", "--resume", "x.h5")
        with h5py.File(self.folder / "foreign.h5", "w") as file:
            file["tokens"] = [[0, 1, 2, 0, 1]]
        for arguments in (("show", "foreign.h5"), ("train", "-o", "o.h5", "--config", "foreign.h5"),
                          ("train", "-o", "o.h5", "--data.file", "foreign.h5"),
                          ("evaluate", "--data", "foreign.h5", "--parameters", "run.h5"),
                          ("evaluate", "--data", "data.h5", "--parameters", "foreign.h5")):
            self.refused(("foreign.h5", "gih did not write"), *arguments)
        self.refused(("run.h5", "gih-data"), "train", "-o", "o.h5", "--data.file", "run.h5")
        self.refused(("data.h5", "gih-run"), "train", "-o", "o.h5", "--init.file", "data.h5")
        self.refused(("data.h5", "gih-run"), "evaluate", "--data", "data.h5", "--parameters", "data.h5")

    def test_outputs(self):
        self.train("run.h5", "-q")
        (self.folder / "folder").mkdir()
        outputs = [
            ("run.h5", ("run.h5", "exists already")),
            ("folder", ("folder", "not a regular file")),
            ("missing/run.h5", ("missing", "No such file or directory")),
            ("run.h5/run.h5", ("run.h5", "not a folder")),
            ("/proc/run.h5", ("/proc/run.h5",)),
            ("/dev/full", ("/dev/full", "not a regular file")),
            ("/dev/full/run.h5", ("/dev/full",)),
            ("x" * 240, ("220 bytes",)),
            ("x" * 300, ("220 bytes",)),
            ("y/" * 3000 + "run.h5", ("too long",)),
            ("", ("name of a file",)),
            ("folder/", ("name of a file",)),
        ]
        for output, words in outputs:
            for command in ("train", "sample"):
                self.refused(words, command, "--config", "small.ini", "-o", output)
        self.refused("x" * 300, "show", "x" * 300)
        self.refused("220 bytes", "train", "--resume", "x" * 300)
        self.refused("there is no unfinished run", "train", "--resume", "new.h5")

    @unittest.skipIf(os.geteuid() == 0, "the superuser may write where the mode bits forbid it")
    def test_read_only_folder(self):
        (self.folder / "locked").mkdir(mode=0o555)
        self.refused("not writable", "train", "--config", "small.ini", "-o", "locked/run.h5")

    def test_data_that_cannot_be_drawn(self):
        # Found out only while drawing: the unfinished file is taken back.
        kernel = {"vocab": 2, "parents": [1], "pi": [[1, 0], [0, 1]]}
        self.put("K.json", json.dumps(kernel))
        keys = ["--data.kernels", "K.json", "--data.initial", "stationary"]
        words = ("data.initial = stationary", "2 recurrent classes")
        self.refused(words, "train", "-o", "o.h5", *keys)
        self.refused(words, "sample", "-o", "o.h5", *keys)
        # An older unfinished run is left as it was.
        self.train("run.h5", "-q")
        os.rename(self.folder / "run.h5", self.folder / "o.h5.part")
        self.refused("an unfinished run is there", "train", "-o", "o.h5", *keys)
        self.refused(words, "train", "-o", "o.h5", "--overwrite", *keys)

        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q")
        self.put("t.json", json.dumps({"vocab": 3, "tokens": [[0, 1, 2, 0, 1]] * 10}))
        self.refused(("data.target = conditional", "t.json", "no kernels"), "train", "-o", "new.h5",
                     "--data.file", "t.json", "--data.target", "conditional")
        self.refused(("data.file", "sample"), "sample", "-o", "new.h5", "--data.file", "data.h5")
        self.refused(("data.length = inf", "finite"), "sample", "-o", "new.h5", "--data.length", "inf")
        self.refused(("need", "run.max-memory"), "sample", "-o", "new.h5", "--data.train", "1e9",
                     "--run.max-memory", "1 GB")


class Accepted(cli.Folder):
    """What looks unusual and is right."""

    def test_option_styles(self):
        for options, line in [
            (("--data.alpha=0.25",), "alpha = 0.25"),
            (("--init.a", "-1"), "a = -1"),
            (("--init.a=-1.5e-3",), "a = -0.0015"),
            (("--init.w-off", "-.5"), "w-off = -0.5"),
            (("--data.train", "1e2"), "train = 100"),
            (("--data.parents", "1, 3"), "parents = 1,3"),
            (("--data.seed", "18446744073709551615"), "seed = 18446744073709551615"),
            (("--data.file", ""), "file = "),
            (("--run.max-memory", "90%"), "max-memory = 90 %"),
            (("--stage.4.train", "a+c", "--stage.4.epochs", "0"), "train = c+a"),
        ]:
            self.train("run.h5", "-q", "--overwrite", *options)
            config = json.loads(self.gih("show", "run.h5", "--json")[0])["config"]
            self.assertIn(line, config.splitlines(), options)

    def test_exponent_in_a_whole_number(self):
        self.gih("sample", "--data.train", "1e4", "--data.validation", "0", "--data.length", "5",
                 "-o", "data.h5", "-q")
        self.assertEqual(json.loads(self.gih("show", "data.h5", "--json")[0])["rows"], 10000)

    def test_later_configuration_wins(self):
        self.put("b.ini", "[data]\nalpha = 0.5\nfloor = 0.01\n")
        self.train("run.h5", "-q", "--config", "b.ini", "--data.floor", "0.02")
        config = json.loads(self.gih("show", "run.h5", "--json")[0])["config"].splitlines()
        self.assertIn("alpha = 0.5", config)
        self.assertIn("floor = 0.02", config)

    def test_unusual_paths(self):
        (self.folder / "a folder; with=signs").mkdir()
        for name in ("a folder; with=signs/run é.h5", "-q.h5", os.fsdecode(b"\xff.h5")):
            self.train(f"./{name}", "-q")
            out = self.gih("show", f"./{name}", "--json")[0]
            self.assertTrue(json.loads(out)["complete"])
            self.train("again.h5", "-q", "--init.file", f"./{name}", "--overwrite")
            self.gih("show", "again.h5", "--json")
        os.symlink("a folder; with=signs/run é.h5", self.folder / "link.h5")
        self.train("link.h5", "-q", "--overwrite", "--data.seed", "9")
        self.assertTrue((self.folder / "link.h5").is_symlink())


if __name__ == "__main__":
    unittest.main()
