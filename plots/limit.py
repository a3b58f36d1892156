"""L = inf as the limit of growing L, from RESULTS_FOLDER/L*.h5 and predictions_L*.json.

(a) Loss and gradient of fixed parameters at length L less their values at L = inf, with the same
kernels: biases, which fall like 1/L. (b) The induction head's prediction at length L against that at
L = inf, which is the true law: its mean distance falls like L^-1/2, its mean divergence like 1/L.
Writes limit.png, limit.pdf and verdict.txt, and prints the verdicts.
"""

import json

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

TOLERANCE = 0.15  # of a slope
FIT_FROM = 200  # shorter prompts still show the terms of order 1/L^2
COLOURS = ("black", *(style.subset_style(code)["color"] for code in ("100", "010", "110")))
MARKERS = "osD^"


class Curve:
    """An error against L, its fitted power of L and the power that theory says."""

    def __init__(self, label, lengths, error, theory, spread=None):
        self.label, self.theory, self.spread = label, theory, spread
        self.lengths = np.array(lengths, dtype=float)
        self.error = np.array(error)
        self.fitted = self.lengths >= FIT_FROM

    def slope(self):
        long, error = self.lengths[self.fitted], self.error[self.fitted]
        if len(long) < 3 or (error <= 0).any():
            raise NotReached
        return np.polyfit(np.log(long), np.log(error), 1)[0]


class Measured:
    """What the verdicts are about; all files count as one run."""

    name = "limit"

    def __init__(self, folder):
        self.biases = biases(folder)
        self.predictions = predictions(folder)


# ---- reading ------------------------------------------------------------------------------------
def loss_and_gradient(run):
    """Loss, and the gradient in c, w and a, from one step of gradient descent."""
    rows = run.stage(1)
    if len(rows) != 2:
        raise runfile.RunFileError(f"{run.path}: not one step of gradient descent")
    rate = rows.time[1]
    return rows.train_loss[0], *(-(now[1] - now[0]).ravel() / rate
                                 for now in (rows.c, rows.w, np.atleast_2d(rows.a).T))


def biases(folder):
    limit = loss_and_gradient(runfile.Run(folder / "Linf.h5"))
    runs = {int(run.name[1:]): loss_and_gradient(run)
            for run in runfile.read_runs(folder, "L[0-9]*")}
    lengths = sorted(runs)
    apart = [[np.linalg.norm(at - of) for at, of in zip(runs[length], limit)]
             for length in lengths]
    labels = ("loss", r"$\nabla_c$ loss", r"$\nabla_w$ loss", "$d_a$ loss")
    return [Curve(label, lengths, error, -1) for label, error in zip(labels, zip(*apart))]


def predictions(folder):
    measured = {}
    for path in folder.glob("predictions_L*.json"):
        try:
            measures = json.loads(path.read_text())["measures"]["model"]
            measured[int(path.stem.split("_L")[1])] = [
                (measures[name]["mean"], measures[name]["error"]) for name in ("tv", "kl")]
        except (ValueError, KeyError, TypeError) as error:
            raise runfile.RunFileError(f"{path}: not an answer of gih evaluate: {error}") from None
    if not measured:
        raise runfile.RunFileError(f"{folder}: no predictions_L*.json there")
    lengths = sorted(measured)
    values = np.array([measured[length] for length in lengths])
    return [Curve(label, lengths, values[:, i, 0], theory, values[:, i, 1])
            for i, (label, theory) in enumerate((("total variation", -0.5), ("KL divergence", -1)))]


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure, (left, right) = plt.subplots(1, 2, figsize=(style.WIDTH, 0.46 * style.WIDTH))
    left.set_title(r"(a) loss and gradient: $|L - \infty|$")
    draw_curves(left, measured.biases, COLOURS)
    left.set_ylabel(r"distance to the value at $L = \infty$")
    right.set_title("(b) predictions of the induction head")
    draw_curves(right, measured.predictions, (style.FIRST, style.SECOND))
    right.set_ylabel("mean distance to the true law")
    return figure


def draw_curves(axes, curves, colours):
    axes.set_xscale("log")
    axes.set_yscale("log")
    for curve, colour, marker in zip(curves, colours, MARKERS):
        # The line of the power that theory says, through the middle of the fitted points.
        factor = np.log(curve.error) - curve.theory * np.log(curve.lengths)
        middle = np.exp(np.mean(factor[curve.fitted]))
        axes.plot(curve.lengths, middle * curve.lengths ** curve.theory, color=colour,
                  linewidth=0.9, linestyle=(0, (4, 1.5)))
        axes.errorbar(curve.lengths, curve.error, yerr=curve.spread, color=colour, marker=marker,
                      markersize=4, linestyle="", linewidth=1,
                      label=f"{curve.label}: slope {curve.slope():.2f}".replace("-", "\u2212"))
    axes.set_xlabel("length $L$")
    axes.legend(loc="lower left", handlelength=1.2)


# ---- claims -------------------------------------------------------------------------------------
def has_slope(group, index, statement):
    def measured(found):
        curve = getattr(found, group)[index]
        slope = curve.slope()
        long = curve.lengths[curve.fitted]
        return (f"{slope:.3f} over L = {long[0]:,.0f} .. {long[-1]:,.0f}",
                abs(slope - curve.theory) <= TOLERANCE)

    return Claim(statement, measured)


CLAIMS = (
    has_slope("biases", 0, "loss less its value at L = inf: slope -1 within 0.15"),
    has_slope("biases", 1, "gradient in c less its value at L = inf: slope -1 within 0.15"),
    has_slope("biases", 2, "gradient in w less its value at L = inf: slope -1 within 0.15"),
    has_slope("biases", 3, "gradient in a less its value at L = inf: slope -1 within 0.15"),
    has_slope("predictions", 0, "sampling error, total variation: slope -1/2 within 0.15"),
    has_slope("predictions", 1, "its square, KL divergence: slope -1 within 0.15"),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "limit")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
