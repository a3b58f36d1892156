"""A machine that fails: disks, locks, memory, clocks."""
import contextlib
import os
import pathlib
import resource
import subprocess

from faults import Skipped, Unlike, numbers
from kills import reference

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def disk(scene, size):
    """A small file system in memory."""
    folder = scene.folder / "disk"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped("no file system can be mounted here: " + done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def full_disk(scene):
    """Rows fill the disk in the middle; with more room the run goes on."""
    many = ("--log.every", "1")
    scene.gih("train", "--config", "train.ini", *many, "-o", "whole.h5", "-q")
    wanted = numbers(scene.folder / "whole.h5")
    tried = broken = 0
    for kilobytes in (64, 200, 400, 800):
        with disk(scene, f"{kilobytes}k") as folder:
            tried += 1
            status, _, err = scene.gih("train", "--config", "train.ini", *many, "-o", "disk/run.h5",
                                       "-q", allowed=(0, 4))
            if status == 4:
                broken += 1
                if "No space left on device" not in err:
                    raise Unlike(f"the error does not say why: {err.strip()}")
                scene.gih("show", "disk/run.h5", allowed=(0, 2))
            remount(folder, "size=64m")
            scene.gih("train", "--config", "train.ini", *many, "--resume", "disk/run.h5", "-q")
            scene.same_numbers(folder / "run.h5", wanted)
    if broken < 2:
        raise Unlike(f"only {broken} of {tried} disks were too small")
    return (f"{tried} disks of 64 to 800 KB, {broken} full in the middle: status 4 and why; with more room "
            "resumed to the same bytes")


def read_only(scene):
    with disk(scene, "4m") as folder:
        (folder / "kept").write_text("x")
        remount(folder, "ro")
        for command in (("train", "--config", "train.ini", "-o", "disk/run.h5"),
                        ("sample", "--config", "train.ini", "-o", "disk/data.h5"),
                        ("sweep", "run", "sweep.ini", "-o", "disk/sweep")):
            scene.gih(*command, allowed=(2,))
        remount(folder, "rw")
        if [path.name for path in folder.iterdir()] != ["kept"]:
            raise Unlike("something was written")
    for output in ("nowhere/run.h5", "train.ini/run.h5", "/proc/run.h5", "/dev/full"):
        scene.gih("train", "--config", "train.ini", "-o", output, allowed=(2,))
    return "a read-only disk, missing folders, /proc, /dev/full: refused before anything is written"


def shim(scene):
    library = scene.folder / "shim.so"
    done = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "shim.c", "-ldl"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped("the shim cannot be compiled here: " + done.stderr.strip()[:100])
    return {**os.environ, "LD_PRELOAD": str(library)}


def no_locks(scene):
    """Also HDF5's own: files are written in memory and renamed whole, so HDF5 locks none."""
    wanted, _ = reference(scene)
    env = {**shim(scene), "NO_LOCKS": "1"}
    scene.gih("train", "--config", "train.ini", "-o", "run.h5", "-q", env=env)
    scene.same_numbers(scene.folder / "run.h5", wanted)
    scene.gih("show", "run.h5", env=env)
    scene.gih("sweep", "run", "sweep.ini", "-o", "sweep", "-q", env=env)
    return "a file system that refuses every lock: train, show and sweep work, the same bytes"


def clocks(scene):
    wanted, _ = reference(scene)
    env = {**shim(scene), "CLOCK_JUMPS": "1"}
    scene.gih("train", "--config", "train.ini", "-o", "run.h5", env=env)
    scene.same_numbers(scene.folder / "run.h5", wanted)
    process = scene.start("train", "--config", "train.ini", "-o", "killed.h5", env=env)
    try:
        process.communicate(timeout=0.3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    scene.gih("train", "--config", "train.ini", "--resume", "killed.h5", "-q", env=env)
    scene.same_numbers(scene.folder / "killed.h5", wanted)
    return "the time of day jumps by weeks at every look, with a kill between: the same bytes"


def memory(scene):
    big = ("--data.length", "100000", "--data.train", "10000000", "--loss.positions", "sequential")
    _, _, err = scene.gih("train", *big, "-o", "run.h5", allowed=(2,))
    if "run.max-memory" not in err:
        raise Unlike(f"no estimate in: {err.strip()}")
    scene.gih("train", "--config", "train.ini", "--run.max-memory", "1 MB", "-o", "run.h5",
              allowed=(2,))
    if (scene.folder / "run.h5.part").exists() or (scene.folder / "run.h5").exists():
        raise Unlike("something was written")

    def little():
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    statuses = []
    for count in (1000, 100000, 400000):
        statuses.append(scene.gih("train", "--data.train", count, "--data.validation", "0",
                                  "--run.threads", "1", "--stage.1.train", "c", "--stage.1.epochs", "1",
                                  "-o", f"run{count}.h5", "-q", preexec_fn=little,
                                  allowed=(0, 4))[0])
    if 4 not in statuses:
        raise Unlike("400 MB sufficed for 400,000 sequences")
    return ("more than the machine has is refused with an estimate; 400 MB of address space: status "
            f"{statuses}, one line")


def threads(scene):
    wanted, _ = reference(scene)
    for count in (2, 3, 8):
        scene.gih("train", "--config", "train.ini", "--run.threads", count, "-o", f"run{count}.h5",
                  "-q")
        scene.same_numbers(scene.folder / f"run{count}.h5", wanted)
    return "1, 2, 3 and 8 threads: the same bytes"


FAULTS = {"full-disk": full_disk, "read-only": read_only, "no-locks": no_locks,
          "clocks-that-jump": clocks, "out-of-memory": memory, "threads": threads}
