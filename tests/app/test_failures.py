"""Runs that cannot go on: exit status 4, one line, the last good checkpoint kept."""
import resource
import signal
import subprocess
import unittest

import app.cli as cli


# A log that grows by many rows, all different, between saves.
GROWING = ("--stage.1.epochs", "200000", "--stage.1.learning-rate", "1e-6", "--log.every", "1",
           "--run.checkpoint", "0.1")


def limit_files(size):
    """For a child process: no file may become longer; writing more fails with EFBIG."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


class FullDisk(cli.Folder):
    def test_no_room_for_the_first_file(self):
        before = self.names()
        for command in ("train", "sample"):
            line = self.line(command, "--config", "small.ini", "-o", "run.h5", "-q", status=4,
                             preexec_fn=limit_files(2000))  # clang's OpenMP needs 1024
            self.assertIn("run.h5", line)
            self.assertIn("File too large", line)
            self.assertEqual(self.names(), before)

    def test_no_room_while_the_log_grows(self):
        # The first saves fit into the limit, the later ones do not.
        line = self.line("train", "--config", "small.ini", "-o", "run.h5", "-q", *GROWING, status=4,
                         preexec_fn=limit_files(60000))
        self.assertIn("File too large", line)
        self.assertEqual(self.names(), ["run.h5.part", "small.ini"])
        self.assertIn("unfinished", self.gih("show", "run.h5")[0])

    def test_no_room_for_the_finished_file(self):
        self.train("run.h5", "-q", "--data.seed", "5")
        before = (self.folder / "run.h5").read_bytes()
        line = self.line("train", "--config", "small.ini", "-o", "run.h5", "-q", "--overwrite",
                         status=4, preexec_fn=limit_files(len(before) * 2 // 3))
        self.assertIn("File too large", line)
        self.assertEqual((self.folder / "run.h5").read_bytes(), before)
        self.gih("train", "--resume", "run.h5", "-q")
        self.train("direct.h5", "-q")
        self.assertEqual(cli.results(self.folder / "run.h5"), cli.results(self.folder / "direct.h5"))

    def test_small_file_system(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk],
                               capture_output=True, text=True)
        if mount.returncode != 0:
            self.skipTest("no file system can be mounted here: " + mount.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        words = "No space left on device"
        self.assertIn(words, self.line("sample", "-o", "disk/data.h5", "-q",
                                       "--data.train", "100000", status=4))
        self.assertEqual(list(disk.iterdir()), [])
        self.assertIn(words, self.line("train", "--config", "small.ini", "-o", "disk/run.h5", "-q",
                                       *GROWING, status=4))
        self.assertEqual([p.name for p in disk.iterdir()], ["run.h5.part"])
        self.assertIn("unfinished", self.gih("show", "disk/run.h5")[0])

    def test_output_of_show(self):
        self.train("run.h5", "-q")
        self.put("t.json", '{"vocab": 3, "tokens": [[0, 1, 2, 0, 1]]}')
        for arguments in (("show", "run.h5"), ("show", "run.h5", "--json"), ("help", "keys"),
                          ("--version",), ("train", "--help"),
                          ("evaluate", "--data", "t.json", "--parameters", "run.h5")):
            with open("/dev/full", "w") as full:
                process = self.start(*arguments, stdout=full)
                err = process.communicate()[1]
            self.assertEqual(process.returncode, 4, arguments)
            self.assertRegex(err, r"\Agih: [^\n]*No space left on device[^\n]*\n\Z")

    def test_nobody_hears_stderr(self):
        # The work is done all the same, and the exit status tells.
        with open("/dev/full", "w") as full:
            self.train("run.h5", stderr=full)
            self.gih("train", "--data.alpha", "x", status=2, stderr=full)
            self.gih("show", "none.h5", status=2, stderr=full)
        for redirect in (">&-", "2>&-", "<&- >&- 2>&-"):
            command = f"exec {cli.GIH} train --config small.ini -o run.h5 --overwrite {redirect}"
            done = subprocess.run(["sh", "-c", command], cwd=self.folder, stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, redirect)
            self.gih("show", "run.h5")


class NotFinite(cli.Folder):
    def test_learning_rate_too_large(self):
        line = self.line("train", "--config", "small.ini", "-o", "run.h5", "-q",
                         "--stage.1.learning-rate", "1e308", status=4)
        self.assertRegex(line, r"^stage 1, step \d+: .* is not finite; try a smaller "
                               r"stage.1.learning-rate or a larger loss.epsilon$")
        self.assertEqual(self.names(), ["run.h5.part", "small.ini"])
        self.assertIn("unfinished", self.gih("show", "run.h5")[0])
        # Again, from the checkpoint, the same end.
        self.assertEqual(self.line("train", "--resume", "run.h5", "-q", status=4), line)

    def test_checkpoint_before_the_failure_stays(self):
        # With eps = 0 a token of probability 0 makes the loss infinite.
        for more in ((), ("--stage.1.learning-rate", "1e308")):
            line = self.line("train", "--config", "small.ini", "-o", "run.h5", "-q", "--overwrite",
                             "--loss.epsilon", "0", "--data.length", "4", *more, status=4)
            self.assertRegex(line, r"^stage 1, step \d+: .* is not finite")
            out = self.gih("show", "run.h5", "--json")[0]
            self.assertIn('"complete": false', out)

    def test_without_stages(self):
        line = self.line("train", "-o", "run.h5", "-q", "--data.train", "50", "--data.length", "4",
                         "--loss.epsilon", "0", status=4)
        self.assertRegex(line, r"^stage 0, step 0: the training loss \(inf\) is not finite; try a "
                               r"larger loss.epsilon$")

    def test_evaluate(self):
        self.put("t.json", '{"vocab": 3, "tokens": [[0, 0, 0, 0, 1]]}')
        self.put("p.json", '{"window": 3, "degree": 1, "eps": 0, "a": 1, "w": [[1, 0, 0]], "c": [1, 1]}')
        line = self.line("evaluate", "--data", "t.json", "--parameters", "p.json", status=4)
        self.assertIn("the loss is inf", line)


if __name__ == "__main__":
    unittest.main()
