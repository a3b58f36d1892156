"""Synthetic run files in the schema of docs/files.md, for testing what reads them. The curves have
the shape of real ones but are invented. `sample_run.py KIND FILE` writes one."""

import os
import sys

import h5py
import numpy as np

sys.path += [os.path.join(os.environ["GIH_SOURCE"], part) for part in ("plots", "tests")]
import published as facts_published
from support.by_hand import by_hand


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


def published(path, facts, *, a=1.0, loss=0.0, swap=False, full=False, steps=None):
    """A joint run that goes through published values; a times `a`, the loss plus `loss`, with `swap`
    {1,2} and {2,3} for each other. `full` adds word matrices."""
    names = codes(3, 2)
    ends = facts["epoch"]
    steps = log_steps(int(ends[-1])) if steps is None else steps

    def between(values):
        return np.interp(np.log1p(steps), np.log1p(ends), values)

    p = np.full((len(steps), len(names)), 1e-6)
    for code, other in (("110", "011"), ("101", "101"), ("011", "110")):
        p[:, names.index(other if swap else code)] = between(facts[f"p_{code}"]) + 1e-6
    p[:, 0] += np.maximum(1 - p.sum(1), 0)
    grown = between(facts["a"])
    grown[steps == 1] = facts["a"][0] + facts["first"]
    w = np.full((len(steps), 3, 3), 0.01)
    w[:, :, 0] = 1 + np.outer(np.log1p(steps) / np.log1p(ends[-1]), (0.1, 0.17, 0.06))
    log = {"stage": [np.ones(len(steps), int)], "step": [steps], "c": [0.01 * np.sqrt(7 * p)],
           "w": [w], "a": [a * grown], "train_loss": [between(facts["loss"]) + loss],
           "validation_loss": [between(facts["loss"]) + loss]}
    if full:
        log |= {name: [np.full((len(steps), 3, 3, 3), 0.0) + 0.00099 * np.eye(3)]
                for name in ("W_Q", "W_K")}
        part = np.log1p(steps) / np.log1p(ends[-1])
        log["W_V"] = [np.multiply.outer(part, np.broadcast_to(0.11 * np.eye(3) - 0.035, (3, 3, 3)))
                      + 0.001 * np.eye(3)]
    write(path, names, log)


STUDIED = (30, 100, 300, 1000, 3000, 10000)  # lengths of gih_error and partial
def aside(facts, by):
    """Published values with more p_S on {1,2} and less on the others."""
    return dict(facts) | {f"p_{code}": facts[f"p_{code}"] + (by if code == "110" else -by)
                          for code in ("110", "101", "011")}


LENGTHS = (100, 200, 400, 800, 1600, 3200)
STAR = 3  # of S* = {1,2} among the subsets of three heads, degree 2


def assumptions(path, *, finite=False, verdicts=None):
    """A run as that of experiments/assumptions, with its checks; `verdicts` may change some."""
    names = codes(3, 2)
    log = {name: [] for name in ("stage", "step", "time", "train_loss", "validation_loss", "c", "w",
                                 "a")}

    def add(stage, time, c, w, a):
        count = len(time)
        log["stage"].append(np.full(count, stage))
        log["step"].append(np.arange(count))
        log["time"].append(time)
        log["train_loss"].append(np.full(count, 0.5))
        log["validation_loss"].append(np.full(count, np.nan))
        log["c"].append(np.broadcast_to(c, (count, len(names))))
        log["w"].append(np.broadcast_to(w, (count, 3, 3)))
        log["a"].append(np.broadcast_to(a, count))

    time = np.concatenate([[0], np.geomspace(0.1, 4000, 200)])
    p = np.exp(-0.1 * time)[:, None] * np.ones(len(names)) / len(names)
    p[:, STAR] = 1 - p[:, 0] * (len(names) - 1)
    c = 0.01 * np.sqrt(7 * p)
    w = 8 * np.eye(3)
    add(1, time, c, w, 0.001)
    time = np.concatenate([[0], np.geomspace(1e7, 2e11, 200)])
    lead = np.log1p(time / 1e7)[:, None, None] * np.diag([1, 1, 0])
    add(2, time, c[-1], w + lead, 0.001)
    ends = [0, 0.1, 50, 1e4, 3e7]
    for stage, (begin, end) in enumerate(zip(ends, ends[1:]), 3):
        time = begin + np.concatenate([[0], np.geomspace(1e-3 * (end - begin), end - begin, 200)])
        a = 0.001 + 0.5 * np.log1p(time / 3)
        add(stage, time - begin, c[-1], w + lead[-1], a + np.log(np.maximum(time, 1e3) / 1e3) / 2 if finite else a)
    write(path, names, log)
    rows = {name: ("PASS", 0.1, 1) for name in (
        "selected", "I.bound", "I.end", "E.1.flow", "E.2", "II.bound", "II.unused", "III.rises",
        "III.f5", "III.small", "III.large", "rows", "blocks", "loss", "sizes", "A.1", "A.2", "a(0)",
        "3.6", "E.11", "E.1", "eps")}
    rows["S*"] = ("PASS", 0, 0.02)
    rows["E.26"] = ("PASS", 0.013, 0.0188)
    if finite:
        rows["a(0)"] = rows["E.1"] = ("FAIL", 1, 0.1)
    for name, verdict in (verdicts or {}).items():
        rows[name] = (verdict, 2, 1)
    write_checks(path, rows)


def write_checks(path, rows):
    kind = [(name, h5py.string_dtype()) for name in ("id", "statement", "verdict")]
    kind += [(name, float) for name in ("left", "right", "slack")]
    with h5py.File(path, "a") as file:
        file["checks"] = np.array([(name, "", verdict, left, right, right - left)
                                   for name, (verdict, left, right) in rows.items()], dtype=kind)


def of_length(path, *, power=-1.0):
    """A run of experiments/limit: one step of gradient descent at the length in its name, whose
    loss and gradient lie L^power from the limit."""
    length = path.name.split(".")[0][1:]
    error = 0.0 if length == "inf" else float(length) ** power
    rate = 1e-6
    step = -rate * (0.1 + error)
    steps = np.arange(2)[:, None] * step
    write(path, codes(3, 2), {
        "stage": [[1, 1]], "step": [[0, 1]], "time": [[0, rate]],
        "train_loss": [[0.5 + error, 0.5]], "validation_loss": [[np.nan, np.nan]],
        "c": [np.ones(7) + steps], "w": [4 * np.eye(3) + steps[:, :, None]], "a": [6 + steps[:, 0]]})


def in_theory_time(path, *, selected="110", stop=1.0, changes=None):
    """A run of experiments/gih_error at the length in its name: three stages that end as the theorem
    has it, or with `stop` times its a, and its checks; `changes` may change some."""
    length = int(path.name.split(".")[0].removeprefix("length"))
    names = codes(3, 2)
    c = np.full((2, len(names)), 0.01)
    c[1] = 0.01 * length ** -1.5
    c[1, names.index(selected)] = 0.02
    w = np.stack([8 * np.eye(3), (np.log(length) + 5) * np.eye(3)])
    a = [length ** -1.5, stop * np.log(length) / 8]
    write(path, names, {
        "stage": np.repeat([1, 2, 3], 2)[None], "step": [[0, 9] * 3], "time": [[0, 9.0] * 3],
        "train_loss": np.full((1, 6), 0.5), "validation_loss": np.full((1, 6), np.nan),
        "c": [c, c[[1, 1]], c[[1, 1]]], "w": [w[[0, 0]], w, w[[1, 1]]], "a": [[a[0]] * 4 + a]})
    rows = {name: ("PASS", 0.1, 1) for name in (
        "sizes", "A.1", "A.2", "S*", "a(0)", "3.6", "E.11", "E.26", "eps", "E.6")}
    write_checks(path, {**rows, **(changes or {})})


def table(path, rows):
    """A table of `gih sweep collect`: rows are dicts with the same fields, of texts or numbers."""
    kind = [(name, h5py.string_dtype() if isinstance(value, str) else float)
            for name, value in rows[0].items()]
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "gih-sweep"
        file["points"] = np.array([tuple(row.values()) for row in rows], dtype=kind)


def phase(path, *, selected=lambda alpha, lead, seed: "110" if lead > 3.2 else "001", seeds=(1, 2)):
    """A table of experiments/phase, where (3.6) demands a lead of 5."""
    rows = []
    for alpha in (0.01, 0.1, 1.0):
        for lead in (0.0, 3.0, 3.5, 6.0):
            for seed in seeds:
                chosen = selected(alpha, lead, seed)
                holds = "PASS" if lead >= 5 else "FAIL"
                rows.append({
                    "status": "finished", "data.alpha": alpha, "init.w-diagonal": lead,
                    "data.seed": float(seed), "selected": chosen, "selected_p": 0.9 if lead else 0.3,
                    "delta_w_demanded": 5.0, "delta_w_demanded_k8": 4.5, "S_star": "110",
                    "verdict_S_star": "PASS", "verdict_3.6": holds, "verdict_3.6.k8": holds,
                    "verdict_selects_S_star": "PASS" if chosen == "110" else "FAIL",
                    "verdict_forecast": "PASS" if lead else "UNDECIDED"})
    rows.append({**rows[0], "status": "failed", "selected": ""})
    table(path, rows)
# ---- data files ---------------------------------------------------------------------------------
def data_file(path, tokens, kernels, parents=(1, 2), stored=True):
    """`kernels`: sequences x parent codes x d."""
    tokens, kernels = np.asarray(tokens), np.asarray(kernels)
    d = kernels.shape[2]
    code = np.zeros(len(tokens), dtype=int)
    for r in parents:
        code = code * d + tokens[:, -1 - r]
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "gih-data"
        file.attrs["vocab"] = np.int32(d)
        file.attrs["parents"] = np.array(parents, dtype=np.int32)
        file["tokens"] = tokens.astype(np.uint8)
        file["conditional"] = kernels[np.arange(len(tokens)), code]
        if stored:
            file["kernels"] = kernels


def draw_chain(rng, pi, length, third=0.0):
    """Tokens of a chain with parents 1, 2; with probability `third` one copies that at lag 3."""
    d = pi.shape[1]
    x = rng.integers(0, d, length + 1)
    uniform, cumulated = rng.random(length + 1), np.cumsum(pi, 1)
    copies = rng.random(length + 1) < third
    for l in range(2, length + 1):
        x[l] = min(np.searchsorted(cumulated[x[l - 1] * d + x[l - 2]], uniform[l]), d - 1)
        if copies[l] and l > 2:
            x[l] = x[l - 3]
    return x


def sequence(path, *, third=0.0, turned=False, stored=True):
    """One long sequence; `turned`: with another kernel stored beside it."""
    rng = np.random.default_rng(7)
    pi = rng.dirichlet(np.ones(3), 9) * 0.9 + 0.1 / 3
    tokens = draw_chain(rng, pi, 20000, third)
    data_file(path, [tokens], [pi[::-1] if turned else pi], stored=stored)


def starts(path, *, law=(1 / 3, 1 / 3, 1 / 3)):
    rng = np.random.default_rng(8)
    tokens = rng.choice(3, (5000, 11), p=law)
    data_file(path, tokens, np.full((5000, 9, 3), 1 / 3), stored=False)


def kernel(path, *, seed=1, uniform=False, scale=1.0):
    """One short sequence with its kernel for two tokens."""
    pi = np.random.default_rng(seed).dirichlet(np.ones(2), 4) * 0.9 + 0.05
    data_file(path, [[0, 1] * 7 + [0]], [np.full((4, 2), 0.5) if uniform else scale * pi])


SAMPLES = {
    "sequence.h5": sequence,
    "starts.h5": starts,
    **{f"kernel_seed{seed}.h5": lambda path, seed=seed: kernel(path, seed=seed) for seed in (1, 2, 3)},
}


# ---- answers of gih evaluate --attention --------------------------------------------------------
TRAINED = {"w": [[4.8, -1.0, -0.8], [-0.9, 5.0, -1.0], [0.01, 0.01, 3.0]], "a": float(growth(5000))}
SHARP = {"w": (60 * np.eye(3)).tolist(), "a": 600.0}


def attention(model, length, *, mask=True, prompts=12):
    """Of a model whose p is all on 110, on random prompts."""
    subsets = codes(3, 2)
    model = {**model, "vocab": 3, "c": [float(code == "110") for code in subsets]}
    rng = np.random.default_rng(length)
    answer = {"gih_subset": "110", "estimators": {"gih": [], "conditional": []}, "attention": {
        "subsets": subsets, "p": model["c"], "lags": [[1, 2, 3]] * 3, "prompts": []}}
    for _ in range(prompts):
        x = rng.integers(0, 3, length)
        heads, s, sigma, y = by_hand(x, model, mask, subsets)
        matches = [l for l in range(3, length) if x[l - 1] == x[-1] and x[l - 2] == x[-2]]
        gih = np.zeros(length)
        gih[matches or slice(3, None)] = 1 / (len(matches) or length - 3)
        answer["attention"]["prompts"].append({
            "tokens": x.tolist(), "heads": heads.tolist(), "s": [None] * (length - len(s)) + s.tolist(),
            "sigma": sigma.tolist(), "y": y.tolist(), "gih": gih.tolist(),
            "matches": [l + 1 for l in matches], "on_matches": float(sigma[matches].sum())})
        answer["estimators"]["gih"].append(np.bincount(x, gih, 3).tolist())
        answer["estimators"]["conditional"].append([0.5, 0.3, 0.2])
    return answer


def rpe(path, *, lost=0.0):
    """A run of one stage whose heads turn; `lost` is taken from the sum of a row of w."""
    names = codes(3, 2)
    steps = np.arange(61)
    w = np.eye(3) + steps[:, None, None] / 60 * np.array([[1.2, -0.7, -0.5 - lost], [0] * 3, [0] * 3])
    write(path, names, {
        "stage": [np.ones(61)], "step": [steps], "train_loss": [np.ones(61)],
        "validation_loss": [np.full(61, np.nan)], "c": [np.ones((61, 7))], "w": [w],
        "a": [steps / 20]})


def attention_of(name, length):
    """Of the run of this name."""
    models = {"trained": TRAINED, "limit": SHARP,
              "rpe": {"w": [[2.2, -0.7, -0.5], [0, 1, 0], [0, 0, 1]], "a": 3.0}}
    return attention(models[name], length, mask=name != "rpe")


def mean_field(folder, lengths=(100, 400, 1600, 6400), *, power=-0.5, lost=(), drift=0.0, rise=0.0):
    """Runs of experiments/mean_field, three seeds: what happens at time t at L = inf happens at length
    L at t (1 - L^power). In the runs of `lost` (length, seed) stage 1 selects nothing; C_D drifts and
    the loss rises by so much."""
    time = np.concatenate([[0], np.geomspace(1e-3, 1e3, 200)])
    count = len(time)
    names = codes(3, 2)
    for length in (*lengths, np.inf):
        own = time * (1 - length ** power)
        for seed in (1, 2, 3):
            speed = 0 if (length, seed) in lost else 1 + seed / 10
            p = np.tile((np.exp(-own * speed) / 7)[:, None], 7)
            p[:, STAR] = 1 - 6 * p[:, 0]
            c = 0.01 * np.sqrt(p) * (1 + drift * time / 1e3)[:, None]
            w = 3 * np.eye(3) + np.log1p(own / 50)[:, None, None] * np.diag([1, 1, 0])
            loss = 0.5 / (1 + time)
            loss[9] += rise
            write(folder / f"length-{length:g}_seed-{seed}-0123456789abcdef.h5", names, {
                "stage": [np.repeat((1, 2, 3), count)], "step": [np.tile(np.arange(count), 3)],
                "time": [np.tile(time, 3)], "train_loss": [np.tile(loss, 3)],
                "validation_loss": [np.full(3 * count, np.nan)],
                "c": [c, np.tile(c[-1], (2 * count, 1))],
                "w": [np.tile(w[0], (count, 1, 1)), w, np.tile(w[-1], (count, 1, 1))],
                "a": [np.full(2 * count, 0.01), 0.01 + np.log1p(own)]},
                  f"[data]\nlength = {length:g}\nseed = {seed}\n[stage.1]\ntolerance = 1e-08\n")


def write(path, names, log, config="# synthetic\n"):
    log = {name: np.concatenate(parts) for name, parts in log.items()}
    log.setdefault("time", log["step"].astype(float))
    log["C_D"] = (log["c"] ** 2).sum(1)
    log["p"] = log["c"] ** 2 / log["C_D"][:, None]
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "gih-run"
        file.attrs["format_version"] = 1
        file.attrs["config"] = config
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
    "inf": assumptions,
    "finite": lambda path: assumptions(path, finite=True),
    "sharp": limit,
    "chain": limit,
    "rpe": rpe,
    **{f"L{length}": of_length for length in ("inf", *LENGTHS)},
    "alpha001": lambda path: trained(path, selected="001"),
    **{f"length{length}": in_theory_time for length in STUDIED},
    **{f"prompt{length}": lambda path: trained(path, selected="010") for length in STUDIED},
    **{f"released_simplified/seed{seed}": lambda path: published(path, facts_published.SIMPLIFIED)
       for seed in range(1, 6)},
    **dict.fromkeys(("epochs10000", "full"),
                    lambda path: published(path, facts_published.FULL_10000, full=True)),
    **{f"epochs2500_seed{seed}": lambda path, side=side: published(
        path, aside(facts_published.FULL_2500, side), full=True)
       for seed, side in ((1, 0.05), (2, -0.05), (3, 0))},
}


def kind(run):
    """What makes the run file of this name in the folder of its experiment."""
    return KINDS.get(f"{run.parent.name}/{run.stem}", KINDS.get(run.stem, trained))


if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2])
