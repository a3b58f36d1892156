"""Files that are not what was written."""
import shutil

from faults import TRAIN, Unlike, numbers

CUTS, FLIPS = 50, 200


def whole(scene):
    """A finished and an unfinished run, and what they say."""
    scene.gih("train", "--config", "train.ini", "-o", "run.h5", "-q")
    scene.put("long.ini", TRAIN.replace("epochs = 9000", "epochs = 100000000"))
    scene.kill_after(1.0, "train", "--config", "long.ini", "-o", "long.h5", "-q")
    return {name: (scene.folder / name).read_bytes() for name in ("run.h5", "long.h5.part")}


def readers(name):
    """Commands that read a file of this name."""
    yield "show", name, "--json"
    yield "train", "--config", name, "-o", "again.h5", "-q", "--stage.3.epochs", "0"
    yield "evaluate", "--data", "data.h5", "--parameters", name, "--json"


def try_damaged(scene, name, damaged, original):
    """Each reader refuses the damaged file, or answers as for the whole one."""
    path = scene.folder / name
    path.write_bytes(damaged)
    refused = 0
    for command in readers(name):
        status, out, _ = scene.gih(*command, allowed=(0, 2))
        refused += status == 2
        if status == 0 and damaged != original and out != scene.answers.get(command[0], out):
            scene.wrong += 1
            raise Unlike(f"{command[0]} gave another answer from a damaged file")
        (scene.folder / "again.h5").unlink(missing_ok=True)
    path.write_bytes(original)
    return refused


def damaged_files(scene, damages):
    files = whole(scene)
    scene.gih("sample", "--data.train", "5", "--data.validation", "0", "--data.length", "50", "-o",
              "data.h5")
    refused = tried = 0
    for name, original in files.items():
        scene.answers = {command[0]: scene.gih(*command)[1] for command in readers(name)}
        (scene.folder / "again.h5").unlink(missing_ok=True)
        for damaged in damages(scene, original):
            refused += try_damaged(scene, name, damaged, original)
            tried += 3
    return refused, tried


def truncated(scene):
    def cuts(scene, original):
        for _ in range(CUTS // 2):
            yield original[:scene.random.randrange(len(original))]

    refused, tried = damaged_files(scene, cuts)
    if refused != tried:
        raise Unlike(f"{tried - refused} of {tried} readers took a file that was cut short")
    return f"{CUTS} files cut at random places: {refused} of {tried} readers refuse, in one line"


def flipped(scene):
    def flips(scene, original):
        for _ in range(FLIPS // 2):
            changed = bytearray(original)
            changed[scene.random.randrange(len(changed))] ^= 1 << scene.random.randrange(8)
            yield bytes(changed)

    refused, tried = damaged_files(scene, flips)
    return (f"{FLIPS} files with one bit flipped: {refused} of {tried} readers refuse, the others answer "
            "as for the whole file")


def resumed_from_damage(scene):
    files = whole(scene)
    original = files["long.h5.part"]
    refused = 0
    for k in range(20):
        changed = bytearray(original)
        if k % 2:
            del changed[scene.random.randrange(len(changed)):]
        else:
            changed[scene.random.randrange(len(changed))] ^= 0xFF
        shutil.rmtree(scene.folder / "copy", ignore_errors=True)
        (scene.folder / "copy").mkdir()
        part = scene.folder / "copy" / "run.h5.part"
        part.write_bytes(changed)
        _, _, err = scene.gih("train", "--resume", "copy/run.h5", "-q", allowed=(2,))
        refused += 1
        if part.read_bytes() != bytes(changed):
            raise Unlike("a damaged unfinished run was changed")
    return f"--resume from {refused} damaged unfinished runs: refused, left as they are"


def foreign(scene):
    scene.put("run.h5", "a letter to a friend\n")
    scene.put("empty.h5", "")
    import h5py
    with h5py.File(scene.folder / "other.h5", "w") as file:
        file["x"] = 1.0
    for name in ("run.h5", "empty.h5", "other.h5"):
        before = (scene.folder / name).read_bytes()
        scene.gih("show", name, allowed=(2,))
        scene.gih("train", "--config", "train.ini", "-o", name, "-q", allowed=(2,))
        if (scene.folder / name).read_bytes() != before:
            raise Unlike(f"{name} was changed")
    return "letters, empty files and foreign HDF5: refused, left as they are"


def another_run_in_the_folder(scene):
    (scene.folder / "results").mkdir()
    (scene.folder / "results" / "thesis.tex").write_text("x")
    scene.gih("sweep", "run", "sweep.ini", "-o", "results", "-q", allowed=(2,))
    if [path.name for path in (scene.folder / "results").iterdir()] != ["thesis.tex"]:
        raise Unlike("a folder that was no sweep's was changed")
    scene.gih("train", "--config", "train.ini", "-o", "run.h5", "-q")
    before = numbers(scene.folder / "run.h5")
    scene.gih("train", "--config", "train.ini", "--data.seed", "2", "-o", "run.h5", "-q", allowed=(2,))
    scene.same_numbers(scene.folder / "run.h5", before)
    return "a folder with other things, an output that exists: refused, left as they are"


FAULTS = {"truncated": truncated, "flipped": flipped, "resumed-from-damage": resumed_from_damage,
          "foreign-files": foreign, "folder-in-use": another_run_in_the_folder}
