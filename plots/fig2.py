"""Figure 2: the RPE vector w^(1) and the matrix W_P^(1), from RESULTS_FOLDER/rpe.h5 and attention.json.

Above before, below after training: (a) w of all heads, (b) the top left block of W_P^(1), whose
(-i)-th diagonal holds w^(1)_-i, (c) the softmax of its rows, where head 1 attends. Writes fig2.png,
fig2.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import EXACT, Claim, report

BLOCK = 6


class Measured:
    """w before and after, and what the program says of the first attention after; one prompt."""

    name = "rpe"

    def __init__(self, folder):
        run = runfile.Run(folder / "rpe.h5")
        self.epochs = run.stage(1).step
        self.logged = run.stage(1).w
        self.before, self.after = run.first["w"], run.last["w"]
        answer = runfile.Attention(folder / "attention.json")
        if not answer.prompts or answer.prompts[0].heads.shape[::2] != self.after.shape:
            raise runfile.RunFileError(f"{answer.path}: not of the model in {run.path}")
        self.heads = answer.prompts[0].heads


def softmax_rows(block):
    """Row by row; a row that sees nothing, the first, is 0."""
    weights = np.exp(block - np.maximum(block.max(1, keepdims=True), -1e300))
    return weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)


# ---- the figure ---------------------------------------------------------------------------------
def draw(measured):
    figure = plt.figure(figsize=(style.WIDTH, 0.8 * style.WIDTH))
    panels = figure.subplots(2, 3, width_ratios=(0.8, 1, 1))
    limit = np.abs([measured.before, measured.after]).max()
    for row, (w, when) in enumerate(((measured.before, "before"),
                                     (measured.after, f"epoch {measured.epochs[-1]}"))):
        style.draw_weights(panels[row, 0], w, limit, f"(a) $w$, {when}")
        panels[row, 0].set_ylabel("lag")
        draw_matrix(panels[row, 1], w[0], limit)
        panels[row, 1].set_title(f"(b) $W_P^{{(1)}}$, {when}")
        attention = softmax_rows(style.rpe_matrix(w[0], BLOCK))
        panels[row, 2].imshow(attention, cmap="Blues", vmin=0, vmax=1)
        write(panels[row, 2], attention, attention > 0, lambda value: value > 0.6, 2)
        panels[row, 2].set_title(f"(c) its softmax, {when}")
        style.label_positions(panels[row, 2], BLOCK)
    figure.colorbar(style.weight_colours(limit), ax=panels[:, :2], location="bottom", shrink=0.6,
                    aspect=40, label="weight (grey: \N{MINUS SIGN}\N{INFINITY})")
    figure.colorbar(panels[1, 2].images[0], ax=panels[:, 2], location="bottom", shrink=0.9,
                    aspect=25, label="attention")
    return figure


def draw_matrix(axes, w, limit):
    style.draw_rpe_matrix(axes, w, BLOCK, limit)
    block = style.rpe_matrix(w, BLOCK)
    write(axes, block, np.isfinite(block), lambda value: abs(value) > 0.6 * limit, 1)


def write(axes, block, shown, bright, decimals):
    for row, column in zip(*np.nonzero(shown)):
        value = block[row, column]
        axes.text(column, row, f"{value:.{decimals}f}".replace("-", "\N{MINUS SIGN}"), ha="center",
                  va="center", fontsize=6, color="white" if bright(value) else "black")


# ---- claims -------------------------------------------------------------------------------------
def is_the_softmax(measured):
    """The program's first attention of every head from every position, against that of W_P."""
    positions, lags = measured.heads.shape[1:]
    apart = 0.0
    for w, heads in zip(measured.after, measured.heads):
        found = np.zeros((positions, positions))
        for lag in range(1, lags + 1):
            for i in range(lag, positions):
                found[i, i - lag] = heads[i, lag - 1]
        apart = max(apart, np.abs(found - softmax_rows(style.rpe_matrix(w, positions))).max())
    return f"apart {apart:.0e}", apart <= EXACT


def rows_sum_to_one(measured):
    apart = np.abs(measured.heads[:, 1:].sum(2) - 1).max()
    return f"apart {apart:.0e}", apart <= EXACT


def sums_are_kept(measured):
    sums = measured.logged.sum(2)
    moved = np.abs(sums - sums[0]).max()
    return f"moved {moved:.0e}", moved <= EXACT


def turns(measured):
    size = measured.after.shape[1] + 1  # the last position has a full window; before it lies lag -1
    own = [softmax_rows(style.rpe_matrix(w[0], size))[-1, -2] for w in (measured.before, measured.after)]
    return f"{own[0]:.3f} to {own[1]:.3f}", own[1] > own[0]


CLAIMS = (
    Claim("every head's attention is the softmax of the rows of W_P, within 1e-10", is_the_softmax),
    Claim("from position 2 on it sums to 1 within the window, within 1e-10", rows_sum_to_one),
    Claim("training keeps sum_i w^(h)_-i of every head, within 1e-10", sums_are_kept),
    Claim("training raises the attention of head 1 on lag -1", turns),
)


def make(folder):
    measured = Measured(folder)
    style.save(draw(measured), folder, "fig2")
    return report(CLAIMS, [measured], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
