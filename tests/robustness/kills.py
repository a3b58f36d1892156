"""Processes that end in the middle."""
import signal
import time

from faults import TRAIN, Unlike, numbers, timed

KILLS = 30


def reference(scene):
    """What the unbroken run has, and how long it takes."""
    seconds = timed(scene, "train", "--config", "train.ini", "-o", "whole.h5", "-q")
    return numbers(scene.folder / "whole.h5"), seconds


def killed_train(scene):
    wanted, seconds = reference(scene)
    living = 0
    for k in range(KILLS):
        run = scene.folder / f"run{k}.h5"
        command = ("train", "--config", "train.ini", "--resume", run.name, "-q")
        living += scene.kill_after(scene.random.uniform(0, seconds), *command)
        if (part := run.with_name(run.name + ".part")).exists():
            scene.gih("show", part.name)
        scene.gih(*command)
        scene.same_numbers(run, wanted)
    return f"SIGKILL at {KILLS} moments ({living} before the end), resumed: the same bytes"


def killed_again_and_again(scene):
    scene.put("train.ini", TRAIN.replace("epochs = 9000", "epochs = 150000"))
    wanted, _ = reference(scene)
    command = ("train", "--config", "train.ini", "--resume", "run.h5", "-q")
    count = 0
    # Each time long enough for a checkpoint, which comes every 0.1 s.
    while scene.kill_after(scene.random.uniform(0.3, 0.6), *command):
        count += 1
        if count > 200:
            raise Unlike("200 kills, and never an end")
    if count < 2:
        raise Unlike(f"killed {count} times only")
    scene.same_numbers(scene.folder / "run.h5", wanted)
    return f"one run killed {count} times on its way: the same bytes"


def killed_sweep(scene):
    command = ("sweep", "run", "sweep.ini", "-q", "--run.threads", "2", "-o")
    seconds = timed(scene, *command, "whole")
    wanted = {path.name: numbers(path) for path in (scene.folder / "whole").glob("*.h5")}
    if len(wanted) != 4:
        raise Unlike(f"{len(wanted)} points in place of 4")
    living = 0
    for k in range(KILLS):
        living += scene.kill_after(scene.random.uniform(0, seconds), *command, f"sweep{k}")
        scene.gih(*command, f"sweep{k}")
        names = sorted(path.name for path in (scene.folder / f"sweep{k}").iterdir())
        if names != sorted([*wanted, "grid.ini"]):
            raise Unlike(f"the folder holds {names}")
        for name, of in wanted.items():
            scene.same_numbers(scene.folder / f"sweep{k}" / name, of)
    return f"SIGKILL at {KILLS} moments ({living} before the end), same command again: the same bytes"


def interrupted(scene):
    wanted, seconds = reference(scene)
    for number, name in enumerate(("SIGTERM", "SIGINT", "SIGHUP")):
        process = scene.start("train", "--config", "train.ini", "-o", f"run{number}.h5", "-q")
        time.sleep(0.5 * seconds)
        process.send_signal(getattr(signal, name))
        status, _, _ = scene.finish(process, allowed=(0, 3))
        if status == 3:
            scene.gih("train", "--resume", f"run{number}.h5", "-q")
        scene.same_numbers(scene.folder / f"run{number}.h5", wanted)
    return "SIGTERM, SIGINT, SIGHUP: status 3, resumed: the same bytes"


def two_at_once(scene):
    wanted, _ = reference(scene)
    first = scene.start("train", "--config", "train.ini", "-o", "run.h5", "-q")
    end = time.monotonic() + 30
    while not (scene.folder / "run.h5.part").exists() and time.monotonic() < end:
        time.sleep(0.005)
    refused = 0
    while first.poll() is None:
        status, _, _ = scene.gih("train", "--config", "train.ini", "--resume", "run.h5", "-q",
                                 allowed=(0, 2))
        refused += status == 2
    scene.finish(first)
    if not refused:
        raise Unlike("a second process was never refused")
    scene.same_numbers(scene.folder / "run.h5", wanted)
    tasks = [scene.start("sweep", "task", "sweep.ini", "-o", "sweep", "--index", "2", "-q")
             for _ in range(3)]
    done = [scene.finish(task, allowed=(0, 2))[0] for task in tasks]
    if 0 not in done:
        raise Unlike(f"of three equal tasks none was done: {done}")
    scene.gih("sweep", "task", "sweep.ini", "-o", "sweep", "--index", "9", allowed=(2,))
    return (f"a second process on the same output refused {refused} times; three equal tasks at once: "
            f"{done.count(0)} done or skipped, {done.count(2)} refused")


def read_while_written(scene):
    process = scene.start("train", "--config", "train.ini", "-o", "run.h5", "-q")
    rows, reads = [], 0
    while process.poll() is None:
        status, out, _ = scene.gih("show", "run.h5", "--json", allowed=(0, 2))
        reads += 1
        if status == 0:
            rows.append(len(out))
    scene.finish(process)
    if len(rows) < 3:
        raise Unlike(f"only {len(rows)} of {reads} reads found a file")
    wanted, _ = reference(scene)
    scene.same_numbers(scene.folder / "run.h5", wanted)
    return f"gih show {reads} times during a run: {len(rows)} answers, no error"


FAULTS = {"killed-train": killed_train, "killed-often": killed_again_and_again,
          "killed-sweep": killed_sweep, "interrupted": interrupted, "two-at-once": two_at_once,
          "read-while-written": read_while_written}
