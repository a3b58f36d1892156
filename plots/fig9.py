"""Figure 9: the limiting model, from the parameters in RESULTS_FOLDER/limit.h5.

(a) the top left block of W_P^(1), (b) the RPE weights of all heads, (c) c_S for every subset S.
Writes fig9.png, fig9.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, NotReached, report

BLOCK = 10


def draw(run):
    figure = plt.figure(figsize=(style.WIDTH, 0.42 * style.WIDTH))
    left, right = figure.subfigures(1, 2, width_ratios=(2.2, 1.3))
    block, heads = left.subplots(1, 2, width_ratios=(1.25, 1))
    w = run.last["w"]
    limit = np.abs(w).max() or 1
    style.draw_rpe_matrix(block, w[0], BLOCK, limit)
    block.set_title("(a) $W_P^{(1)}$")
    style.draw_weights(heads, w, limit, "(b) $w$ of all heads")
    heads.set_ylabel("lag")
    left.colorbar(style.weight_colours(limit), ax=[block, heads], location="bottom", shrink=0.6,
                  aspect=30, label="weight (grey: \N{MINUS SIGN}\N{INFINITY})")
    for axes in (block, heads):
        axes.set_anchor("N")
    draw_bars(right.subplots(), run.last["c"], run.subsets)
    return figure


def draw_bars(axes, c, codes):
    for index, code in enumerate(codes):
        axes.bar(index, c[index], color=style.subset_style(code)["color"])
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xticks(range(len(codes)), codes, rotation=90)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("subset $S$")
    axes.set_ylabel("$c_S$")
    axes.set_title("(c) $c$")


def attends(run):
    """sigma_{-h} of the head that attends least to its own lag."""
    w = run.last["w"]
    heads, lags = w.shape
    if heads > lags:
        raise NotReached
    sigma = np.exp(w - w.max(1, keepdims=True))
    least = (sigma.diagonal() / sigma.sum(1)).min()
    return f"least {least:.6f}", least > 0.99


def selects(run):
    p = run.last["p"]
    return f"p_{run.subsets[p.argmax()]} = {p.max():.6f}", p.max() > 0.99


CLAIMS = (
    Claim("every head h attends to lag h with weight over 0.99", attends),
    Claim("one subset has p_S > 0.99", selects),
)


def make(folder):
    run = runfile.Run(folder / "limit.h5")
    style.save(draw(run), folder, "fig9")
    return report(CLAIMS, [run], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
