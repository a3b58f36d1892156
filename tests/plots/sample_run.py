"""Synthetic run files in the schema of docs/files.md, for testing what reads them. The curves have
the shape of real ones but are invented. `sample_run.py KIND FILE` writes one."""

import sys

import h5py
import numpy as np


def codes(heads, degree):
    masks = [m for m in range(2**heads) if bin(m).count("1") <= degree]
    return [format(m, f"0{heads}b")[::-1] for m in masks]


def log_steps(epochs):
    points = np.exp(np.log(epochs) * np.arange(600) / 600).astype(int)
    return np.unique(np.concatenate([[0], np.arange(1, min(200, epochs)), points, [epochs]]))


def growth(steps):
    """a over stage 3: linear in the steps at first, in their logarithm later, as it solves
    da/dt = 0.16 / (0.9 + e^a / 10)."""
    a = np.linspace(0, 12, 5000)
    return 0.01 + np.interp(steps, (0.9 * a + np.expm1(a) / 10) / 0.16, a)


def trained(path, *, selected="110", seed=1, heads=3, lags=3, degree=2, diagonal=3.0, shift=0.0,
            a=growth, stages=3):
    """A run of three stages that selects a subset. `shift` moves the weights after stage 2, `a` is
    a function of the steps, `stages` may cut the run short."""
    names = codes(heads, degree)
    chosen = names.index(selected)
    rng = np.random.default_rng(seed)
    w0 = np.full((heads, lags), 0.01)
    np.fill_diagonal(w0, diagonal)
    w1 = w0.copy()
    for h, target in enumerate(((4.8, -1.0, -0.8), (-0.9, 5.0, -1.0))):
        w1[h, :3] = np.array(target)[:lags] + shift + rng.normal(0, 0.02, min(lags, 3))
    speed = rng.uniform(0.3, 0.6, len(names))
    log = {name: [] for name in ("stage", "step", "train_loss", "validation_loss", "c", "w", "a")}

    def add(stage, steps, loss, c, w, a):
        log["stage"].append(np.full(len(steps), stage))
        log["step"].append(steps)
        log["train_loss"].append(loss)
        log["validation_loss"].append(loss + 0.01 + 0.002 * np.sin(np.arange(len(steps)) / 9))
        log["c"].append(np.broadcast_to(c, (len(steps), len(names))))
        log["w"].append(np.broadcast_to(w, (len(steps), heads, lags)))
        log["a"].append(np.broadcast_to(a, len(steps)))

    steps = log_steps(2000)
    c = 0.01 * np.exp(-speed * np.minimum(steps[:, None], 40) / 2)
    c[:, chosen] = 0.01 * np.exp(np.minimum(steps, 40) / 20)
    c *= 1 + 0.002 * rng.normal()
    add(1, steps, 1.00 - 0.01 * np.tanh(steps / 20), c, w0, 0.01)
    if stages >= 2:
        steps = log_steps(50000)
        part = (np.log1p(steps / 500) / np.log1p(100))[:, None, None]
        add(2, steps, 0.99 - 0.01 * part[:, 0, 0], c[-1], w0 + part * (w1 - w0), 0.01)
    if stages >= 3:
        steps = log_steps(5000)
        add(3, steps, 0.55 + 0.43 * np.exp(-a(steps) / 2), c[-1], w1, a(steps))
    write(path, names, log)


def limit(path, *, rho=8.0, c=(0, 0, 0, 1, 0, 0, 0)):
    """A run without stages: one row, stage 0."""
    write(path, codes(3, 2), {
        "stage": [[0]], "step": [[0]], "train_loss": [[0.4]], "validation_loss": [[np.nan]],
        "c": [[c]], "w": [[rho * np.eye(3)]], "a": [[10.0]]})


def write(path, names, log):
    log = {name: np.concatenate(parts) for name, parts in log.items()}
    log["time"] = log["step"].astype(float)
    log["C_D"] = (log["c"] ** 2).sum(1)
    log["p"] = log["c"] ** 2 / log["C_D"][:, None]
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "gih-run"
        file.attrs["format_version"] = 1
        file.attrs["config"] = "# synthetic\n"
        file["subsets"] = np.array(names, dtype="S")
        for name, values in log.items():
            file[f"log/{name}"] = values
        for name in ("c", "p", "w", "a", "C_D"):
            file[f"final/{name}"] = log[name][-1]


KINDS = {
    "fig3": trained,
    "diagonal3": lambda path: trained(path, selected="001"),
    "diagonal4": lambda path: trained(path, diagonal=4.0),
    "limit": limit,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2])
