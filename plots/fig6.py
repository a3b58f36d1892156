"""Figure 6: word matrices of the full model after training, from RESULTS_FOLDER/full.h5.

Rows: heads; columns: W_Q, W_K, W_V. Writes fig6.png, fig6.pdf and verdict.txt, and prints the
verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

NAMES = ("W_Q", "W_K", "W_V")


def draw(run):
    heads, d, _ = run.last["W_V"].shape
    figure, grid = plt.subplots(heads, 3, figsize=(style.WIDTH, 0.3 * heads * style.WIDTH),
                                squeeze=False)
    for column, name in enumerate(NAMES):
        unit = 10.0 ** np.floor(np.log10(np.abs(run.last[name]).max() * 1.1))
        matrices = run.last[name] / unit
        limit = np.abs(matrices).max()
        for h in range(heads):
            axes = grid[h, column]
            style.draw_matrix(axes, matrices[h], limit)
            axes.set_title(f"${name[0]}_{name[2]}$, head {h + 1}, in $10^{{{np.log10(unit):.0f}}}$")
        figure.colorbar(style.weight_colours(limit), ax=list(grid[:, column]), location="bottom",
                        shrink=0.9, aspect=25, label="entry")
    return figure


def parts(matrices):
    """Diagonal entries, and the others."""
    mask = np.eye(matrices.shape[-1], dtype=bool)
    return matrices[:, mask], matrices[:, ~mask]


# ---- the claims ---------------------------------------------------------------------------------
def stays(name):
    def measured(run):
        moved = np.abs(run.last[name] - run.first[name]).max()
        top = np.abs(run.last[name]).max()
        return f"moves by {moved:.2g}, at most {top:.2g}", top < 0.002

    return Claim(f"every entry of {name} stays below 0.002, twice its start", measured)


def diagonal(run):
    diagonal, others = parts(run.last["W_V"])
    return (f"{diagonal.mean():.4f} beside {others.mean():.4f}",
            diagonal.min() > 5 * abs(run.first["W_V"]).max() and others.max() < 0)


def as_printed(run):
    entries = np.diag(run.last["W_V"][0])
    return " ".join(f"{x:.3f}" for x in entries), np.abs(entries - 0.07).max() <= 0.02


CLAIMS = (
    stays("W_Q"),
    stays("W_K"),
    Claim("W_V grows a diagonal: over five times its start, entries beside it negative", diagonal),
    Claim("the diagonal of W_V of head 1 is within 0.02 of the paper's 0.07", as_printed),
)


def make(folder):
    run = runfile.Run(folder / "full.h5")
    if "W_V" not in run.last:
        raise runfile.RunFileError(f"{run.path}: has no word matrices; Figure 6 is of the full model")
    style.save(draw(run), folder, "fig6")
    return report(CLAIMS, [run], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
