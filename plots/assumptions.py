"""The theorem where its conditions hold, from RESULTS_FOLDER/inf.h5 and finite.h5.

(a) 1 - p_S* over stage 1 and (b) 1 - prod (sigma^(h)_-h)^2 over stage 2 beside the theorem's bounds,
(c) a over the stages that train it alone, (d) its rate against a beside the theorem's two regimes.
Needs the verdicts that `gih verify --run` leaves in the files. Writes assumptions.png,
assumptions.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

CONDITIONS = ("sizes", "A.1", "A.2", "S*", "a(0)", "3.6", "E.11", "E.26", "E.1", "eps")
COLOURS = {"inf": style.FIRST, "finite": style.SECOND}
LABELS = {"inf": r"$L = \infty$", "finite": "$L = 10{,}000$"}
BOUND = {"color": "black", "linestyle": (0, (4, 1.5)), "linewidth": 1, "label": "theorem's bound"}


# ---- what the theorem speaks of -----------------------------------------------------------------
def attention(w):
    """sigma^(h)_-i of log rows of w."""
    weights = np.exp(w - w.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def own_weights(run, w):
    """sigma^(h)_-h of the heads in S*, rows x heads."""
    heads = star_heads(run)
    return attention(w)[:, heads, heads]


def star_heads(run):
    return [h for h, bit in enumerate(run.subsets[int(np.argmax(run.last["p"]))]) if bit == "1"]


def out_of_focus(run, w):
    return 1 - (own_weights(run, w) ** 2).prod(1)


def facts(run):
    """The gap and I* of the prior, from what the checks compared: that of S* has the gap on its
    right, that of (E.26) Pi gap - 4 (1 - Pi) I* with Pi of the initial w."""
    if "S*" not in run.checks or "E.26" not in run.checks:
        raise runfile.RunFileError(f"{run.path}: no checks of gih verify --run in it")
    gap = run.checks["S*"].right
    lost = out_of_focus(run, run.first["w"][None])[0]
    return gap, ((1 - lost) * gap - run.checks["E.26"].right) / (4 * lost)


def growth(run):
    """Time and a over the stages from 3 on, one after the other, and the stage of each row."""
    time, a, stages = [], [], []
    before, number = 0.0, 3
    while len(rows := run.stage(number)):
        new = slice(1 if time else 0, None)  # a stage repeats the last row of the one before
        time.extend(before + rows.time[new])
        a.extend(rows.a[new])
        stages.extend([number] * len(rows.time[new]))
        before, number = time[-1], number + 1
    return np.array(time), np.array(a), np.array(stages)


# ---- the figure ---------------------------------------------------------------------------------
def draw(runs):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.8 * style.WIDTH))
    draw_selection(panels[0, 0], runs)
    draw_copying(panels[0, 1], runs)
    draw_growth(panels[1, 0], runs)
    draw_rate(panels[1, 1], runs)
    return figure


def curve(axes, run, x, y, **keywords):
    axes.plot(x, y, color=COLOURS[run.name], label=LABELS[run.name],
              linestyle="-" if run.name == "inf" else (0, (1, 1.2)), **keywords)


def draw_selection(axes, runs):
    axes.set_title("(a) stage 1: what $p_{S^*}$ lacks")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for run in runs:
        rows = run.stage(1)
        rest = 1 - run.p(rows, run.subsets[int(np.argmax(run.last["p"]))])
        seen = rest > 1e-13
        curve(axes, run, rows.time[seen], rest[seen])
    first = runs[0].first
    p = first["p"][int(np.argmax(runs[0].last["p"]))]
    rows = runs[0].stage(1)
    gap = facts(runs[0])[0]
    axes.plot(rows.time, (1 - p) * np.exp(-first["a"] * p * gap * rows.time /
                                          (2 * (first["c"] ** 2).sum())), **BOUND)
    axes.set_xlim(rows.time[1], rows.time[-1])
    axes.set_ylim(1e-13, 10)
    axes.set_xlabel("time of stage 1")
    axes.set_ylabel("$1 - p_{S^*}$")
    axes.legend(loc="lower left")


def draw_copying(axes, runs):
    axes.set_title("(b) stage 2: what the heads of $S^*$ lack")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for run in runs:
        rows = run.stage(2)
        curve(axes, run, rows.time[1:], out_of_focus(run, rows.w)[1:])
    run, rows = runs[0], runs[0].stage(2)
    heads, w = star_heads(run), rows.w[0]
    gap, least = facts(run)[0], own_weights(run, rows.w[:1]).min()
    lead = min(w[h, h] - np.delete(w[h], h).max() for h in heads)
    axes.plot(rows.time[1:], 2 * len(heads) * (w.shape[1] - 1) /
              (np.exp(lead) + rows.a[0] * gap * least / 2 * rows.time[1:]), **BOUND)
    axes.set_xlim(rows.time[1], rows.time[-1])
    axes.set_xlabel("time of stage 2")
    axes.set_ylabel(r"$1 - \Pi_{h \in S^*} (\sigma^{(h)}_{-h})^2$")
    axes.legend(loc="lower left")


def draw_growth(axes, runs):
    axes.set_title("(c) stage 3: growth of $a$")
    axes.set_xscale("log")
    for run in runs:
        time, a, _ = growth(run)
        curve(axes, run, time[1:], a[1:])
    time, a, _ = growth(runs[0])
    late = time > 1e3
    axes.plot(time[late], a[-1] + np.log(time[late] / time[-1]) / 2 - 0.7, color="black",
              linestyle=(0, (1, 1.2)), linewidth=1, label=r"slope of $\frac{1}{2} \log t$")
    axes.set_xlim(time[1], time[-1])
    axes.set_ylim(0)
    axes.set_xlabel("time of stage 3")
    axes.set_ylabel("$a$")
    axes.legend(loc="upper left")


def draw_rate(axes, runs):
    axes.set_title("(d) stage 3: rate of $a$")
    axes.set_yscale("log")
    for run in runs:
        curve(axes, run, *rate(run))
    a, speed = rate(runs[0])
    I_star = facts(runs[0])[1]
    small = np.linspace(0, 1.6, 20)
    axes.plot(small, I_star * np.exp(small), color="black", linestyle=(0, (4, 1.5)), linewidth=1,
              label=r"$\tilde I(S^*)\, e^a$, small $a$")
    large = np.linspace(a[-1] - 5, a[-1], 20)
    axes.plot(large, speed[-1] / 4 * np.exp(-2 * (large - a[-1])), color="black",
              linestyle=(0, (1, 1.2)), linewidth=1, label=r"slope of $e^{-2a}$, large $a$")
    axes.set_xlim(0)
    axes.set_ylim(1e-10, 30)
    axes.set_xlabel("$a$")
    axes.set_ylabel("$da/dt$")
    axes.legend(loc="upper right")


# ---- claims -------------------------------------------------------------------------------------
def all_hold(run):
    if not run.checks:
        raise NotReached
    failed = [name for name in CONDITIONS
              if name not in run.checks or run.checks[name].verdict != "PASS"]
    return (f"not {', '.join(failed)}" if failed else f"{len(CONDITIONS)} of {len(CONDITIONS)}",
            not failed)


def holds(name):
    """The verdict of one check of the program, and its two sides where they are closest."""
    def measured(run):
        if name not in run.checks:
            raise NotReached
        check = run.checks[name]
        text = check.verdict.lower() if check.verdict != "PASS" else "holds"
        if (check.left, check.right) != (0, 0):
            text += f", closest {check.left:.6g} against {check.right:.6g}"
        return text, check.verdict == "PASS"

    return measured


def conditions_broken(run):
    if not run.checks:
        raise NotReached
    broken = sorted(name for name in CONDITIONS if run.checks[name].verdict != "PASS")
    return f"{' and '.join(broken)} do not hold", broken == ["E.1", "a(0)"]


def rate(run):
    """a, and da/dt from there to the next log row."""
    time, a, stages = growth(run)
    if not len(stages) or stages[-1] < 6:
        raise NotReached
    return a[:-1], np.diff(a) / np.diff(time)


def follows(limit, length):
    """The rate of a against that of another run, in the range of the theorem."""
    def measured(run):
        a, speed = rate(run)
        seen = a <= np.log(length) / 8
        apart = np.abs(speed / np.interp(a, *rate(limit)) - 1)[seen].max()
        return f"{100 * apart:.1f} %", apart < 0.02

    return measured


def late_slope(theory):
    def measured(run):
        time, a, stages = growth(run)
        if not len(stages) or stages[-1] < 6:
            raise NotReached
        late = time >= time[-1] / 10
        slope = np.polyfit(np.log(time[late]), a[late], 1)[0]
        return f"{slope:.3f}", abs(slope - theory) < 0.02

    return measured


STATEMENTS = (
    ("selected", "stage 1 selects S*"),
    ("I.bound", "stage 1: 1 - p_S* stays below its bound"),
    ("E.1.flow", "stage 1: C_D is conserved within 1 %"),
    ("E.2", "stage 2: the weight of every head of S* on its own lag rises"),
    ("II.bound", "stage 2: 1 - prod (sigma^(h)_-h)^2 stays below its bound"),
    ("II.unused", "stage 2: the head outside S* stays within 4 a (1 - p_S*) t"),
    ("III.rises", "stage 3: a rises"),
    ("III.f5", "stage 3: da/dt is f_5(a) within 1 %"),
    ("III.small", "stage 3: da/dt is e^a I* within the theorem's factors, small a"),
    ("III.large", "stage 3: da/dt is e^-2a E[m^-2 D_0] within the theorem's factors, large a"),
    ("rows", "sum_i w^(h)_-i is conserved"),
    ("blocks", "each stage moves what it trains"),
    ("loss", "the loss never rises"),
)

CLAIMS = (
    Claim("the theorem's conditions hold", all_hold, only="inf"),
    *(Claim(statement, holds(name), only="inf") for name, statement in STATEMENTS),
    Claim("stage 3: over the last decade of time a has slope 1/2 in log t within 0.02", late_slope(0.5),
          only="inf"),
    Claim("at L = 10,000 two conditions are broken", conditions_broken, only="finite"),
    Claim("there stage 1 selects S* all the same", holds("selected"), only="finite"),
    Claim("there 1 - p_S* stays below its bound", holds("I.bound"), only="finite"),
    Claim("there 1 - p_S* ends below 1/L", holds("I.end"), only="finite"),
    Claim("there 1 - prod (sigma^(h)_-h)^2 stays below its bound", holds("II.bound"),
          only="finite"),
    Claim("there a ends with slope 1 in log t within 0.02, as eps > 0 makes it", late_slope(1),
          only="finite"),
)


def make(folder):
    runs = [runfile.Run(folder / f"{name}.h5") for name in ("inf", "finite")]
    style.save(draw(runs), folder, "assumptions")
    near = Claim("there da/dt is that of L = inf within 2 % while a <= (log L)/8",
                 follows(runs[0], 10000), only="finite")
    return report((*CLAIMS, near), runs, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
