"""Figure 1: a chain with two parents, from RESULTS_FOLDER/sequence.h5 and starts.h5.

(a) The beginning of the sequence, each token drawn given its two parents; (b) the kernel, one row a
pair of parents; (c) how often each token followed. Writes fig1.png, fig1.pdf and verdict.txt, and
prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch

import runfile
import style
from verdict import Claim, report

SHOWN = 12
LEVEL = 0.001  # a true statement fails with this probability
CERTAIN = 1e-6


class Chain:
    """The sequence, its kernel, and counts."""

    name = "chain"

    def __init__(self, folder):
        data = runfile.Data(folder / "sequence.h5")
        if data.kernels is None:
            raise runfile.RunFileError(f"{data.path}: no kernels in it (gih sample --kernels)")
        self.tokens, self.pi, self.d = data.tokens[0], data.kernels[0], data.vocab
        self.parents = data.parents
        self.conditional = data.conditional[0]
        self.starts = runfile.Data(folder / "starts.h5").tokens

    def lag(self, i, first):
        """x_{l-i} for every l from `first` (counted from 0) on; lag 0 is x_l."""
        return self.tokens[first - i:len(self.tokens) - i]

    def counts(self, *lags):
        """How often the tokens at these lags occur together."""
        first = max(*lags, *self.parents)
        table = np.zeros((self.d,) * len(lags))
        np.add.at(table, tuple(self.lag(i, first) for i in lags), 1)
        return table

    def followed(self):
        """Counts of x_l, one row a parent code."""
        return self.counts(*self.parents, 0).reshape(-1, self.d)


# ---- tests --------------------------------------------------------------------------------------
def tail(statistic, freedom):
    """P(chi^2 > statistic) for an even number of degrees of freedom."""
    assert freedom % 2 == 0
    half = statistic / 2
    k = np.arange(freedom // 2)
    return float(np.sum(np.exp(k * np.log(half) - half - np.cumsum(np.log(np.maximum(k, 1))))))


def independence(table):
    """G statistic and degrees of freedom of: axes 1 and 2 are independent given axis 0."""
    expected = table.sum(2, keepdims=True) * table.sum(1, keepdims=True) / table.sum((1, 2), keepdims=True)
    seen = table > 0
    statistic = 2 * (table[seen] * np.log(table[seen] / expected[seen])).sum()
    return statistic, table.shape[0] * (table.shape[1] - 1) * (table.shape[2] - 1)


# ---- the figure ---------------------------------------------------------------------------------
def draw(chain):
    figure = plt.figure(figsize=(style.WIDTH, 0.62 * style.WIDTH))
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.6))
    draw_chain(above.subplots(), chain)
    kernel, counted = below.subplots(1, 2, sharey=True)
    pi = chain.pi.reshape(-1, chain.d)
    followed = chain.followed()
    style.draw_table(kernel, pi, 1)
    style.draw_table(counted, followed / followed.sum(1, keepdims=True), 1)
    kernel.set_title(r"(b) kernel $\pi(x_l \mid x_{l-1}, x_{l-2})$")
    counted.set_title(f"(c) share among {len(chain.tokens) - max(chain.parents):,} positions")
    codes = np.ndindex((chain.d,) * len(chain.parents))
    kernel.set_yticks(range(len(pi)), [", ".join(map(str, code)) for code in codes])
    kernel.set_ylabel("$x_{l-1},\\ x_{l-2}$")
    for axes in (kernel, counted):
        axes.set_xticks(range(chain.d))
        axes.set_xlabel("$x_l$")
    return figure


def draw_chain(axes, chain):
    axes.set_title("(a) each token is drawn given its parents "
                   + ", ".join(f"\N{MINUS SIGN}{r}" for r in chain.parents))
    first, last = max(chain.parents) + 1, SHOWN
    for l in range(first, SHOWN + 1):
        for r, colour, aside in zip(chain.parents, (style.FIRST, style.SECOND), (-0.18, 0.12)):
            axes.add_patch(FancyArrowPatch(
                (l - r + 0.12, 0.42), (l + aside, 0.42), connectionstyle=f"arc3,rad={-0.28 - 0.12 * r}",
                arrowstyle="-|>", mutation_scale=7, linewidth=1.6 if l == last else 0.8,
                color=colour, alpha=1 if l == last else 0.45, shrinkA=1, shrinkB=1))
    style.draw_tokens(axes, chain.tokens[:SHOWN], 0)
    for l in range(1, SHOWN + 1):
        axes.text(l, -0.6, f"$x_{{{l}}}$", ha="center", va="top", fontsize=8)
    axes.text(SHOWN + 0.75, 0, "\N{HORIZONTAL ELLIPSIS}", ha="center", va="center")
    for l in range(1, first):
        axes.text(l, -1.05, r"$\mu_0$", ha="center", va="top", fontsize=7, color=style.GREY)
    handles = [plt.Line2D([], [], color=colour, label=f"parent \N{MINUS SIGN}{r}")
               for r, colour in zip(chain.parents, (style.FIRST, style.SECOND))]
    axes.legend(handles=handles, loc="upper left", ncols=2, borderaxespad=0)
    axes.set_xlim(0.4, SHOWN + 1.1)
    axes.set_ylim(-1.5, 2.0)
    axes.set_aspect("equal")
    axes.set_axis_off()


# ---- claims -------------------------------------------------------------------------------------
def follows_the_kernel(chain):
    found = chain.followed()
    expected = found.sum(1, keepdims=True) * chain.pi.reshape(-1, chain.d)
    statistic = ((found - expected) ** 2 / expected).sum()
    freedom = expected.shape[0] * (chain.d - 1)
    p = tail(statistic, freedom)
    return f"chi^2 {statistic:.1f} of {freedom}, p = {p:.3f}", p > LEVEL


def nothing_from_farther(chain):
    farther = max(chain.parents) + 1
    table = chain.counts(*chain.parents, farther, 0).reshape(-1, chain.d, chain.d)
    statistic, freedom = independence(table)
    p = tail(statistic, freedom)
    return f"G {statistic:.1f} of {freedom}, p = {p:.3f}", p > LEVEL


def needs_both(chain):
    shown, holds = [], True
    for given, asked in (chain.parents, chain.parents[::-1]):
        statistic, freedom = independence(chain.counts(given, asked, 0))
        p = tail(statistic, freedom)
        shown.append(f"-{asked} given -{given}: G {statistic:.0f} of {freedom}")
        holds = holds and p < CERTAIN
    return ", ".join(shown), holds


def starts_uniform(chain):
    n = max(chain.parents)
    codes = chain.starts[:, :n] @ chain.d ** np.arange(n)
    found = np.bincount(codes, minlength=chain.d ** n)
    expected = len(codes) / chain.d ** n
    statistic = ((found - expected) ** 2).sum() / expected
    p = tail(statistic, len(found) - 1)
    return f"chi^2 {statistic:.1f} of {len(found) - 1}, p = {p:.3f}", p > LEVEL


def last_law(chain):
    """The stored law of the last token is the row of its parents."""
    row = chain.pi.reshape((chain.d,) * (len(chain.parents) + 1))[
        tuple(chain.tokens[-1 - r] for r in chain.parents)]
    apart = np.abs(row - chain.conditional).max()
    return f"apart {apart:.0e}", apart == 0


CLAIMS = (
    Claim("x_l given its parents has the law pi, chi^2 test at level 0.001", follows_the_kernel),
    Claim("given the parents, x_{l-3} tells nothing, G test at level 0.001", nothing_from_farther),
    Claim("given one parent, the other tells something, G test with p < 1e-6", needs_both),
    Claim("the first r_n tokens are uniform, chi^2 test at level 0.001", starts_uniform),
    Claim("the law stored for x_{L+1} is the kernel's row of its parents", last_law),
)


def make(folder):
    chain = Chain(folder)
    style.save(draw(chain), folder, "fig1")
    return report(CLAIMS, [chain], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
