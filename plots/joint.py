"""Joint against staged training and the sequential against the last-position loss, from
RESULTS_FOLDER/*.h5, *.fresh.json and fresh.data.

(a) p of the parents, (b) attention of heads 1 and 2 on their own lags and (c) a over joint training,
beside the ends of staged training; (d) loss and distance to the true law on fresh sequences, less
those of staged training. Needs what experiments/joint/after.sh measures. Writes joint.png, joint.pdf
and verdict.txt, and prints the verdicts.
"""

import json

import h5py
import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

PARENTS = "110"
SEEDS = (1, 2, 3)
KINDS = {"staged": "staged, 9,700 last tokens", "joint": "joint, 9,700 last tokens",
         "few": "joint, 100 last tokens", "sequential": "joint, 100 × 97 tokens"}
JOINT = ("joint", "few", "sequential")
COLOURS = dict(zip(KINDS, ("black", style.FIRST, style.SERIES[1], style.SERIES[4])))
DASHES = dict(zip(SEEDS, ("-", (0, (4, 1.5)), (0, (1, 1.2)))))
MARKERS = dict(zip(SEEDS, "osD"))
MEASURES = {"loss": "loss (2.1)", "tv": "total variation"}

# Not from theory. HALF: more than all other subsets together. STRAIGHT: as in fig3. CLEAR: standard
# errors, as in the checks of the program.
HALF = 0.5
STRAIGHT = 0.99
CLEAR = 3


class Trained(runfile.Run):
    """A run, and for each fresh sequence the measures of its prediction."""

    def __init__(self, folder, kind, seed, targets, eps):
        super().__init__(folder / f"{kind}{seed}.h5")
        self.seed = seed
        path = folder / f"{kind}{seed}.fresh.json"
        try:
            found = json.loads(path.read_text())
            y = np.array(found["predictions"])
            law = np.array(found["estimators"]["conditional"])
            self.fresh = {"loss": -np.log(y[np.arange(len(targets)), targets] + eps),
                          "tv": np.abs(y - law).sum(1) / 2}
        except OSError as error:
            raise runfile.RunFileError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise runfile.RunFileError(f"{path}: not an answer of gih evaluate: {error}") from None

    def own(self, rows):
        """sigma^(h)_-h of heads 1 and 2, rows x 2."""
        weights = np.exp(rows.w - rows.w.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return weights[:, (0, 1), (0, 1)]


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "joint"

    def __init__(self, folder):
        path = folder / "fresh.data"
        try:
            with h5py.File(path, "r") as file:
                tokens = file["tokens"][()]
        except (OSError, KeyError) as error:
            raise runfile.RunFileError(f"{path}: no data file of gih: {error}") from None
        eps = (tokens.shape[1] - 1) ** -0.5
        self.runs = {(kind, seed): Trained(folder, kind, seed, tokens[:, -1], eps)
                     for kind in KINDS for seed in SEEDS}

    def of(self, kind):
        return [self.runs[kind, seed] for seed in SEEDS]

    def less(self, kind, other, seed, measure):
        """Mean of a measure less that of another run, sequence by sequence, and its error."""
        apart = self.runs[kind, seed].fresh[measure] - self.runs[other, seed].fresh[measure]
        return apart.mean(), apart.std(ddof=1) / np.sqrt(len(apart))


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.84 * style.WIDTH))
    draw_path(panels[0, 0], measured, lambda run, rows: run.p(rows, PARENTS))
    panels[0, 0].set_title(f"(a) $p_S$ of the parents, {PARENTS}")
    panels[0, 0].legend(loc="lower right", title="seeds 1, 2, 3: solid, dashed, dotted",
                        title_fontsize=7)
    draw_path(panels[0, 1], measured, lambda run, rows: run.own(rows).mean(1))
    panels[0, 1].set_title(r"(b) $\sigma^{(h)}_{-h}$, mean of heads 1 and 2")
    draw_path(panels[1, 0], measured, lambda run, rows: rows.a)
    panels[1, 0].set_title("(c) $a$")
    draw_fresh(panels[1, 1], measured)
    return figure


def draw_path(axes, measured, value):
    """Joint training, a line a seed; the end of staged training is a line across."""
    for kind in JOINT:
        for run in measured.of(kind):
            rows = run.stage(1)
            axes.plot(rows.step, value(run, rows), color=COLOURS[kind], linestyle=DASHES[run.seed],
                      label=KINDS[kind] if run.seed == 1 else None)
    for run in measured.of("staged"):
        axes.axhline(value(run, run.stage(3))[-1], color=COLOURS["staged"], linewidth=0.8,
                     linestyle=(0, (6, 3)), zorder=1,
                     label="end of staged training" if run.seed == 1 else None)
    style.log_epochs(axes, measured.of("joint")[0].stage(1).step[-1])
    axes.set_xlabel("epoch")


def draw_fresh(axes, measured):
    axes.set_title("(d) fresh sequences: less staged training")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=3e-4)
    for at, measure in enumerate(MEASURES):
        for shift, kind in zip((-0.25, 0, 0.25), JOINT):
            for seed in SEEDS:
                mean, error = measured.less(kind, "staged", seed, measure)
                axes.errorbar(at + shift + 0.06 * (seed - 2), mean, yerr=error, marker=MARKERS[seed],
                              markersize=3.5, color=COLOURS[kind], linewidth=1, linestyle="")
    for seed in SEEDS:
        axes.plot([], [], MARKERS[seed], color=style.GREY, markersize=3.5, label=f"seed {seed}")
    axes.legend(loc="upper center", handlelength=1)
    axes.set_xticks(range(len(MEASURES)), MEASURES.values())
    axes.set_yticks([-1e-3, -1e-4, 0, 1e-4, 1e-3, 1e-2],
                    [r"$-10^{-3}$", r"$-10^{-4}$", "0", "$10^{-4}$", "$10^{-3}$", "$10^{-2}$"])
    axes.set_yticks([], minor=True)


# ---- claims -------------------------------------------------------------------------------------
def selected(kinds):
    def measured(found):
        ends = {kind: [run.last["p"][run.subsets.index(PARENTS)] for run in found.of(kind)]
                for kind in kinds}
        return (", ".join(f"{kind} " + " ".join(f"{p:.3f}" for p in values)
                          for kind, values in ends.items()),
                all(p > HALF for values in ends.values() for p in values))

    return measured


def half_way(steps, values):
    """The first epoch beyond the middle of what a rise has covered in the end."""
    beyond = values > (values[0] + values[-1]) / 2
    if not beyond.any():
        raise NotReached
    return steps[np.argmax(beyond)]


def in_order(found):
    shown, holds = [], True
    for kind in JOINT:
        for run in found.of(kind):
            rows = run.stage(1)
            times = [half_way(rows.step, values) for values in
                     (run.p(rows, PARENTS), run.own(rows).mean(1), rows.a)]
            shown.append(f"{kind} seed {run.seed}: {' '.join(map(str, times))}")
            holds = holds and times == sorted(set(times))
    return ", ".join(shown), holds


def straight(found):
    shown, holds = [], True
    for kind in JOINT:
        values = []
        for run in found.of(kind):
            rows = run.stage(1)
            late = rows.step >= rows.step[-1] / 10
            values.append(np.corrcoef(np.log(rows.step[late]), rows.a[late])[0, 1] ** 2)
        shown.append(f"{kind} " + " ".join(f"{value:.4f}" for value in values))
        holds = holds and min(values) > STRAIGHT
    return ", ".join(shown), holds


def as_good(measure):
    def measured(found):
        apart = [found.less("joint", "staged", seed, measure) for seed in SEEDS]
        return (" ".join(f"{mean:.1e}+-{error:.0e}" for mean, error in apart),
                all(abs(mean) <= CLEAR * error for mean, error in apart))

    return measured


def better(kind, other, measure):
    def measured(found):
        apart = [found.less(kind, other, seed, measure) for seed in SEEDS]
        return (" ".join(f"{mean:.1e}+-{error:.0e}" for mean, error in apart),
                all(mean < 0 for mean, _ in apart))

    return measured


CLAIMS = (
    Claim("p_110 > 0.5 at the end of every run", selected(KINDS)),
    Claim("joint training is half-way with p_110, then with the heads, then with a (epochs)",
          in_order),
    Claim("joint training: over the last decade a is straight in log t in every run, R^2 > 0.99",
          straight),
    *(Claim(f"fresh {MEASURES[measure]}: joint and staged training differ by at most 3 standard errors",
            as_good(measure)) for measure in MEASURES),
    *(Claim(f"fresh {MEASURES[measure]}, equal sequences (100): sequential below last-position, every seed",
            better("sequential", "few", measure)) for measure in MEASURES),
    *(Claim(f"fresh {MEASURES[measure]}, equal tokens (9,700): last-position below sequential, every seed",
            better("joint", "sequential", measure)) for measure in MEASURES),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "joint")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
