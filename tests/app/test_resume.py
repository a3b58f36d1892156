"""The same bytes whatever the threads, kills, interrupts and resumes; outputs that are not lost."""
import random
import signal
import time
import unittest

import app.cli as cli

# About two seconds: long enough to be killed in any stage.
LONG = """\
[data]
train = 500
validation = 100
[stage.1]
train = c
epochs = {0}
[stage.2]
train = w
epochs = {0}
[stage.3]
train = a
epochs = {0}
[run]
threads = 1
checkpoint = 0.1
"""


class Resume(cli.Folder):
    epochs = 12000

    @classmethod
    def setUpClass(cls):
        """The unbroken run, which all others must equal."""
        super().setUpClass()
        folder = cli.Folder()
        folder.setUp()
        cls.addClassCleanup(folder.doCleanups)
        folder.put("long.ini", LONG.format(cls.epochs))
        start = time.monotonic()
        folder.train("run.h5", "-q", config="long.ini")
        cls.seconds = time.monotonic() - start
        cls.unbroken = cli.results(folder.folder / "run.h5")
        cls.bytes = (folder.folder / "run.h5").read_bytes()

    def setUp(self):
        super().setUp()
        self.put("long.ini", LONG.format(self.epochs))

    def has(self, name):
        return (self.folder / name).exists()

    def begin(self, *arguments, output="run.h5"):
        """A run under way, whose unfinished file is there."""
        process = self.start("train", "--config", "long.ini", "-o", output, *arguments)
        self.wait_for(lambda: self.has(output + ".part"), "the unfinished file")
        return process

    def end_of(self, process):
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def assert_unbroken(self, name="run.h5"):
        self.assertEqual(cli.results(self.folder / name), self.unbroken)

    def test_kills_at_random_moments(self):
        moments = []
        process = self.begin("-q")
        for kill in range(3):
            moments.append(random.uniform(0.0, self.seconds / 6))
            time.sleep(moments[-1])
            with self.subTest(moments=moments):
                self.assertIsNone(process.poll(), "ended before it was killed")
                process.kill()
                process.communicate()
                self.assertEqual(process.returncode, -signal.SIGKILL)
                # What is left can be read at any moment.
                self.gih("show", "run.h5", "--json")
                self.assertFalse(self.has("run.h5"))
            if kill < 2:
                process = self.start("train", "--resume", "run.h5", "-q")
        self.gih("train", "--resume", "run.h5", "-q")
        with self.subTest(moments=moments):
            self.assert_unbroken()
            self.assertEqual(self.names(), ["long.ini", "run.h5", "small.ini"])

    def test_interrupts(self):
        process = self.begin()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            time.sleep(self.seconds / 8)
            process.send_signal(number)
            status, out, err = self.end_of(process)
            self.assertEqual((status, out), (3, ""))
            self.assertIn("go on with: gih train --resume run.h5\n", err)
            self.assertEqual(self.names(), ["long.ini", "run.h5.part", "small.ini"])
            process = self.start("train", "--resume", "run.h5")
        status, out, err = self.end_of(process)
        self.assertEqual((status, out), (0, ""))
        self.assertIn("train loss", err)
        self.assert_unbroken()
        self.assertEqual(self.names(), ["long.ini", "run.h5", "small.ini"])

    def test_interrupt_while_data_are_drawn(self):
        self.put("data.ini", "[data]\nlength = 20000\ntrain = 3000\n[run]\nthreads = 1\n")
        process = self.start("train", "--config", "data.ini", "-o", "d.h5")
        self.wait_for(lambda: self.has("d.h5.part"), "the unfinished file")
        process.send_signal(signal.SIGTERM)
        status, _, err = self.end_of(process)
        self.assertEqual(status, 3)
        self.assertIn("--resume d.h5", err)
        process = self.start("sample", "--config", "data.ini", "-o", "s.h5")
        self.wait_for(lambda: self.has("s.h5.lock"), "the lock")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        status, _, err = self.end_of(process)
        self.assertEqual(status, 3)
        self.assertIn("nothing was written", err)
        self.assertEqual([n for n in self.names() if n.startswith("s.h5")], [])

    def test_from_a_run_file(self):
        (self.folder / "run.h5").write_bytes(self.bytes)
        self.train("again.h5", "-q", config="run.h5")
        self.assert_unbroken("again.h5")

    def test_one_process_at_a_time(self):
        process = self.begin("-q")
        for arguments in (("--resume", "run.h5"), ("--config", "long.ini", "-o", "run.h5"),
                          ("--config", "long.ini", "-o", "run.h5", "--overwrite"),
                          ("--config", "small.ini", "-o", "run.h5", "--overwrite")):
            self.assertIn("run.h5", self.line("train", *arguments, status=2))
        self.assertIn("another process", self.line("train", "--resume", "run.h5", status=2))
        # A reader does no harm.
        self.gih("show", "run.h5")
        self.assertEqual(self.end_of(process)[0], 0)
        self.assert_unbroken()

    def test_overwrite_takes_effect_on_success_alone(self):
        (self.folder / "run.h5").write_bytes(self.bytes)
        process = self.begin("-q", "--overwrite", "--data.seed", "2")
        time.sleep(self.seconds / 8)
        process.kill()
        process.communicate()
        self.assertEqual((self.folder / "run.h5").read_bytes(), self.bytes)
        self.gih("train", "--resume", "run.h5", "-q")
        self.assertFalse(self.has("run.h5.part"))
        self.assertNotEqual(cli.results(self.folder / "run.h5"), self.unbroken)
        config = self.gih("show", "run.h5")[0]
        self.assertIn("seed = 2\n", config)

    def test_keys_of_a_resumed_run(self):
        process = self.begin("-q")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(process)[0], 3)
        before = (self.folder / "run.h5.part").read_bytes()
        for keys in (("--data.seed", "2"), ("--config", "small.ini"), ("--init.a", "0.02"),
                     ("--stage.3.epochs", "1"), ("--stage.4.train", "c"), ("--log.every", "5")):
            line = self.line("train", "--resume", "run.h5", *keys, status=2)
            self.assertIn("--resume run.h5: the run there has another configuration", line)
        line = self.line("train", "--config", "long.ini", "-o", "run.h5", status=2)
        self.assertIn("go on with --resume run.h5", line)
        self.assertEqual((self.folder / "run.h5.part").read_bytes(), before)
        # How it is carried out may change, and the same keys may be said again.
        self.gih("train", "--resume", "run.h5", "-q", "--config", "long.ini", "--run.threads", "2",
                 "--run.checkpoint", "60", "--data.seed", "1")
        self.assert_unbroken()

        before = self.listing()
        _, err = self.gih("train", "--resume", "run.h5", "--config", "long.ini")
        self.assertEqual(err, "run.h5: is finished already\n")
        self.line("train", "--resume", "run.h5", "--data.seed", "2", status=2)
        self.assertEqual(self.listing(), before)


class Threads(cli.Folder):
    def test_results_do_not_depend_on_threads(self):
        # More sequences than one block of work, and not a multiple of anything.
        sizes = ("--data.train", 2503, "--data.validation", 301)
        for settings in (("--data.length", 40), ("--loss.positions", "sequential"), ("--data.target", "conditional"),
                         ("--data.vocab", 5, "--model.mask", "true"), ("--data.length", "inf")):
            seen = None
            for threads in (1, 2, 3, 8):
                self.train("run.h5", "-q", "--overwrite", *sizes, "--run.threads", threads, *settings)
                results = cli.results(self.folder / "run.h5")
                seen = seen or results
                self.assertEqual(results, seen, (settings, threads))

    def test_started_where_there_is_nothing(self):
        for _ in range(2):
            self.gih("train", "--config", "small.ini", "--resume", "run.h5", "-q")
        self.train("direct.h5", "-q")
        self.assertEqual(cli.results(self.folder / "run.h5"), cli.results(self.folder / "direct.h5"))

    def test_nothing_is_overwritten_unasked(self):
        self.train("run.h5", "-q")
        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q")
        before = self.listing()
        for command, output in (("train", "run.h5"), ("train", "data.h5"), ("sample", "data.h5"),
                                ("sample", "run.h5"), ("train", "small.ini")):
            line = self.line(command, "--config", "small.ini", "-o", output, status=2)
            self.assertIn(f"{output}: exists already", line)
        self.assertEqual(self.listing(), before)
        self.gih("sample", "--config", "small.ini", "-o", "data.h5", "-q", "--overwrite",
                 "--data.seed", "2")
        self.assertNotEqual(self.listing()["data.h5"], before["data.h5"])

    def test_equal_configurations_give_equal_data_files(self):
        for name in ("a.h5", "b.h5"):
            self.gih("sample", "--config", "small.ini", "-o", name, "-q")
        self.assertEqual(self.listing()["a.h5"], self.listing()["b.h5"])


if __name__ == "__main__":
    unittest.main()
