"""Synthetic results in the shape of the experiments rates, joint and one_parent. Importing it adds
their run files to sample_run.KINDS."""

import h5py
import numpy as np

import sample_run

NAMES = sample_run.codes(3, 2)
PARENTS = NAMES.index("110")
CONDITIONS = ("sizes", "A.1", "A.2", "S*", "a(0)", "3.6", "E.11", "E.26", "E.1", "eps")


# ---- rates --------------------------------------------------------------------------------------
RATES = ("base", "alpha0.1", "alpha1", "d3", "d4", "M4", "M5", "a0.01", "a0.1", "a0.5")


def start_of(name):
    return float(name[1:]) if name[0] == "a" and name[1].isdigit() else 0.001


def rates_run(path, **verdicts):
    """One row, since what grew is in the rates; conditions may get other verdicts."""
    sample_run.write(path, NAMES, {
        "stage": [[0]], "step": [[0]], "train_loss": [[0.4]], "validation_loss": [[np.nan]],
        "c": [np.ones((1, 7))], "w": [8 * np.eye(3)[None]], "a": [[start_of(path.name.split(".h5")[0])]]})
    sample_run.write_checks(path, {name: (verdicts.get(name, "PASS"), 0, 1) for name in CONDITIONS})


def rates(name, *, error=(0.6, 0.2, 0.01), power=1.0, bound=0.2):
    """What `gih verify --rates --json` says; the prediction of stage k is off by error[k] a^power."""
    found = []
    for stage, of in ((1, "110/000"), (1, "110/010"), (2, "head 1"), (2, "head 2"), (3, "a")):
        for step in range(1, 20):
            predicted = 0.3 / (step if stage > 1 else 1)
            off = error[stage - 1] * (start_of(name) if stage < 3 else 0.001) ** power
            found.append({"stage": stage, "of": of, "from": step - 1, "to": step, "value": step / 3,
                          "measured": predicted * (1 + off), "predicted": predicted,
                          "bound": None if stage == 3 else bound * predicted})
    return {"S_star": "110", "I_star": 0.1, "gap": 0.02, "rates": found}


# ---- joint --------------------------------------------------------------------------------------
KINDS = ("staged", "joint", "few", "sequential")
FRESH = {"staged": 0.1, "joint": 0.1, "few": 0.3, "sequential": 0.2}  # share of the uniform law


def joint_run(path, *, heads_at=40.0, bend=0.0, p=0.95):
    """All blocks at once, or `staged` three stages. The heads turn at epoch `heads_at`, `bend` is how
    much a rises on top of its logarithm, p is that of the parents in the end."""
    staged = path.name.startswith("staged")
    steps = sample_run.log_steps(5000)
    chosen = 1 / 7 + (p - 1 / 7) * steps / (steps + 4)
    c = np.sqrt(np.repeat((1 - chosen)[:, None] / 6, 7, 1))
    c[:, PARENTS] = np.sqrt(chosen)
    w = 3 * np.eye(3) + 2 * (steps / (steps + heads_at))[:, None, None] * np.diag([1, 1, 0])
    a = 0.01 + np.log1p(steps / 3) + bend * (steps / 5000) ** 4
    stages = (1, 2, 3) if staged else (1,)
    count = len(stages)
    sample_run.write(path, NAMES, {
        "stage": [np.repeat(stages, len(steps))], "step": [np.tile(steps, count)],
        "train_loss": [np.full(count * len(steps), 0.1)],
        "validation_loss": [np.full(count * len(steps), np.nan)],
        "c": [np.tile(c, (count, 1))], "w": [np.tile(w, (count, 1, 1))], "a": [np.tile(a, count)]})


def fresh_data(path):
    with h5py.File(path, "w") as file:
        file["tokens"] = np.zeros((300, 101), dtype="u1")


def fresh(name, *, shares=FRESH):
    """What `gih evaluate --json` says of them, in part. The first token is the likeliest everywhere."""
    rng = np.random.default_rng(int(name[-1]))
    law = np.sort(rng.dirichlet(np.ones(3), 300))[:, ::-1]
    noise = 0.01 * rng.normal(size=(300, 1)) if name.startswith("joint") else 0
    share = shares[name[:-1]] + noise
    return {"predictions": (share / 3 + (1 - share) * law).tolist(),
            "estimators": {"conditional": law.tolist()}}


# ---- one_parent ---------------------------------------------------------------------------------
LAGS = {f"lag{lag}_degree{degree}_seed{seed}": lag
        for lag in (1, 2, 3) for degree in (1, 2) for seed in (1, 2, 3)}


def one_parent_run(path, *, selected=None, weight=6.0, **verdicts):
    """p on the parent of the name, or on another subset; the weight of its head in the end."""
    name = path.name.split(".h5")[0]
    lag = LAGS[name]
    names = sample_run.codes(3, 1 if "degree1" in name else 2)
    star = names.index(selected or parent(lag))
    steps = np.concatenate([[0], np.geomspace(0.01, 1000, 60)])
    p = np.exp(-20 * steps)[:, None] * np.ones(len(names)) / len(names)
    p[:, star] = 1 - np.delete(p, star, 1).sum(1)
    w = np.tile(3 * np.eye(3), (len(steps), 1, 1))
    turned = w.copy()
    turned[:, lag - 1, lag - 1] += (weight - 3) * steps / steps[-1]
    a = 0.01 + np.log1p(steps)
    count = len(steps)
    sample_run.write(path, names, {
        "stage": [np.repeat((1, 2, 3), count)], "step": [np.tile(np.arange(count), 3)],
        "time": [np.tile(steps, 3)], "train_loss": [np.full(3 * count, 0.1)],
        "validation_loss": [np.full(3 * count, np.nan)],
        "c": [np.sqrt(p), np.tile(np.sqrt(p[-1]), (2 * count, 1))],
        "w": [w, turned, np.tile(turned[-1], (count, 1, 1))],
        "a": [np.full(2 * count, 0.01), a]})
    sample_run.write_checks(path, {name: (verdicts.get(name, "PASS"), 0, 1)
                                   for name in ("S*", "selected", "E.2", "III.rises", "E.6")})


def parent(lag):
    return "".join("1" if h == lag else "0" for h in (1, 2, 3))


sample_run.KINDS.update({
    **{name: rates_run for name in RATES},
    **{f"{kind}{seed}": joint_run for kind in KINDS for seed in (1, 2, 3)},
    **{name: one_parent_run for name in LAGS}})
sample_run.SAMPLES["fresh.data"] = fresh_data
