"""Inputs on which programs of this kind have failed in public."""
import json

import h5py
import numpy as np

from faults import Unlike, numbers


def small_concentrations(scene):
    """At 0.001 ordinary gamma samplers give NaN or uniform rows."""
    scene.gih("sample", "--data.alpha", "0.001", "--data.length", "4", "--data.train", "11112",
              "--data.validation", "0", "--kernels", "-o", "data.h5", "-q")
    with h5py.File(scene.folder / "data.h5", "r") as file:
        rows = file["kernels"][()].reshape(-1, 3)
    corner = np.bincount(rows.argmax(1), minlength=3) / len(rows)
    peaked = (rows.max(1) > 0.99).mean()
    off = np.abs(rows.sum(1) - 1).max()
    if np.isnan(rows).any() or off > 3e-15 or abs(corner - 1 / 3).max() > 0.006 or peaked < 0.98:
        scene.wrong += 1
        raise Unlike(f"sums off by {off}, corners {corner}, peaked {peaked}")
    return (f"{len(rows)} Dirichlet(0.001) rows: none NaN, sums off by {off:.0e}, {peaked:.1%} peaked, "
            f"corners {corner.round(3)}")


def kernel(scene, pi, parents=(1,)):
    scene.put("kernel.json", json.dumps({"vocab": len(pi[0]) if len(parents) == 1 else len(pi),
                                         "parents": list(parents), "pi": pi}))
    return json.loads(scene.gih("information", "--kernel", "kernel.json", "--window", "2", "--degree",
                                "1", "--json")[1])


def reducible_chains(scene):
    flip = kernel(scene, [[0, 1], [1, 0]])
    if not np.allclose(flip["stationary"], [0.5, 0.5], atol=1e-12):
        scene.wrong += 1
        raise Unlike(f"the flip's stationary law is {flip['stationary']}")
    identity = kernel(scene, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    block = kernel(scene, [[.5, .5, 0, 0], [.5, .5, 0, 0], [0, 0, .9, .1], [0, 0, .1, .9]])
    if (identity["classes"], block["classes"], flip["classes"]) != (3, 2, 1):
        scene.wrong += 1
        raise Unlike("recurrent classes are miscounted")
    scene.put("identity.json", json.dumps({"vocab": 2, "parents": [1], "pi": [[1, 0], [0, 1]]}))
    scene.gih("train", "--data.prior", "file", "--data.kernels", "identity.json", "--data.initial",
              "stationary", "--data.train", "5", "-o", "run.h5", "-q", allowed=(2,))
    return "identity 3 classes, blocks 2, flip 1 with law (1/2, 1/2); stationary start refused: not unique"


def no_key(scene):
    """The first positions have no lag to attend to."""
    scene.gih("train", "--data.length", "6", "--model.window", "5", "--data.train", "50",
              "--data.validation", "0", "--stage.1.train", "c+w+a", "--stage.1.epochs", "50", "-o",
              "run.h5", "-q")
    found = numbers(scene.folder / "run.h5")
    for name in ("log/train_loss", "log/w", "log/c"):
        if not np.isfinite(np.frombuffer(found[name])).all():
            scene.wrong += 1
            raise Unlike(f"{name} is not finite")
    return "L = 6 with M = 5, unmasked: loss and parameters finite"


def sizes(scene):
    cases = [("--model.window", "5", "--data.length", "3"), ("--model.window", "0"),
             ("--model.heads", "1"), ("--model.degree", "9"), ("--data.alpha", "nan"),
             ("--data.alpha", "-1"), ("--data.alpah", "0.1"), ("--model.win", "5"),
             ("--data.train", "1.5"), ("--data.train", "-1"), ("--data.length", "1e400")]
    for case in cases:
        scene.gih("train", *case, "-o", "run.h5", allowed=(2,))
    out = scene.gih("train", "--data.train", "1e3", "--data.validation", "0", "-o", "run.h5", "-q")
    with h5py.File(scene.folder / "run.h5", "r") as file:
        text = file.attrs["config"]
    text = text.decode() if isinstance(text, bytes) else text
    if "train = 1000\n" not in text:
        scene.wrong += 1
        raise Unlike(f"1e3 was not taken as 1000: {out}")
    return f"{len(cases)} sizes, names and numbers that do not fit: refused in one line; 1e3 is 1000"


def other_seed_in_the_same_folder(scene):
    """Data that a cache would mix up."""
    losses = []
    for seed, count in ((1, 100), (2, 100), (1, 200), (1, 100)):
        scene.gih("train", "--data.seed", seed, "--data.train", count, "--data.validation", "0", "-o",
                  f"run{len(losses)}.h5", "-q")
        losses.append(numbers(scene.folder / f"run{len(losses)}.h5")["log/train_loss"])
    if losses[0] != losses[3] or len(set(losses)) != 3:
        scene.wrong += 1
        raise Unlike("other seeds or numbers of sequences gave the same data, or equal ones did not")
    return "seed 1, seed 2, more sequences, seed 1 in one folder: other data, other data, the same again"


def long_prompts(scene):
    scene.gih("train", "--data.length", "100000", "--data.train", "300", "--data.validation", "0",
              "--run.max-memory", "200 MB", "--stage.1.train", "c", "--stage.1.epochs", "3", "-o",
              "run.h5", "-q")
    return "prompts of 100,000 tokens in 200 MB: no L x L anywhere"


def long_names(scene):
    keys = {"data.alpha": "0.1 0.2", "data.floor": "0.01 0.02", "init.a": "0.01 0.02",
            "init.c": "0.01 0.02", "init.w-diagonal": "1 2", "init.w-off": "0 0.5",
            "data.train": "20 30", "data.validation": "10 20", "data.length": "20 30",
            "loss.epsilon": "0.1 0.2", "data.seed": "1 2"}
    text = "\n".join(f"{key} = {values}" for key, values in keys.items())
    scene.put("many.ini", text + "\nsweep.zip = " + ",".join(keys) + "\n")
    out = scene.gih("sweep", "expand", "many.ini", "--json")[1]
    names = [point["name"] for point in json.loads(out)["points"]]
    for name in names:
        if len(name) >= 100 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
            raise Unlike(f"the name {name}")
    scene.gih("sweep", "run", "many.ini", "-o", "a, b & c", "-q")
    return f"11 keys that vary: names of at most {max(map(len, names))} safe bytes"


def progress_in_a_log(scene):
    _, _, err = scene.gih("train", "--config", "train.ini", "-o", "run.h5")
    if "\r" in err or len(err.splitlines()) > 100:
        raise Unlike(f"{len(err.splitlines())} lines of progress, or carriage returns")
    return f"stderr into a file: {len(err.splitlines())} plain lines"


FAULTS = {"small-concentrations": small_concentrations, "reducible-chains": reducible_chains,
          "no-key": no_key, "sizes-and-names": sizes, "no-cache": other_seed_in_the_same_folder,
          "long-prompts": long_prompts, "long-names": long_names, "progress-in-a-log": progress_in_a_log}
