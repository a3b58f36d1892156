"""One look for all figures: sizes for print at 17 cm, colours that the colour-blind tell apart, and
for each subset S one colour and line style wherever it appears."""

import io
import re

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

WIDTH = 17 / 2.54  # inches

# Okabe and Ito's palette, by the integer whose bit i-1 is element i of S. Yellow, the weakest on
# paper, goes to 111, which degree 2 leaves out.
_COLOURS = ("#000000", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#0072B2", "#F0E442")
_DASHES = ((0, (1, 1.2)), (0, (4, 1.5)), "-", (0, (6, 1.5, 1, 1.5)),
           (0, (2, 1)), (0, (8, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 3)))

# For whatever is not a subset: any number of curves, two of them, or what stands back.
SERIES = _COLOURS[:7]
FIRST, SECOND, GREY = "#0072B2", "#D55E00", "#999999"

# Fill of a box that holds a token, whose number stands in it in black.
TOKENS = ("#E69F00", "#56B4E9", "#8FD3B6", "#CC79A7")

# Predictors, by their names in `gih evaluate`: label and keywords of plot().
PREDICTORS = {
    "unigram": ("unigram", {"color": "#E69F00", "marker": "v"}),
    "bigram": ("bigram", {"color": "#CC79A7", "marker": "^"}),
    "trigram": ("trigram", {"color": "#009E73", "marker": "D"}),
    "gih": ("GIH", {"color": "#D55E00", "marker": "s"}),
    "model": ("transformer", {"color": "#000000", "marker": "o"}),
    "bayes-mixture": ("Bayes, parents open", {"color": "#56B4E9", "marker": "P"}),
    "bayes": ("Bayes, parents known", {"color": "#0072B2", "marker": "X"}),
    "conditional": ("the true law", {"color": GREY, "marker": ""}),
}

plt.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "lines.linewidth": 1.4,
    "legend.frameon": False, "legend.handlelength": 2.6, "axes.grid": True, "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5, "axes.axisbelow": True, "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.06,
    "pdf.fonttype": 42, "savefig.dpi": 200, "svg.hashsalt": "gih",
})


def subset_style(code):
    """Keywords of plot() for the subset of a code such as "110"."""
    mask = int(code[::-1], 2)
    dash = code[:3].count("1") + mask // 8  # of three heads: by the size of S
    return {"color": _COLOURS[mask % 8], "linestyle": _DASHES[dash % len(_DASHES)], "label": code}


def draw_p(axes, steps, p, codes):
    """p_S against the epoch; the legend names the eight largest at the end."""
    named = np.argsort(-p[-1], kind="stable")[:8]
    for index, code in enumerate(codes):
        style = subset_style(code)
        if index not in named:
            style["label"] = None
        axes.plot(steps, p[:, index], clip_on=False, zorder=3, **style)
    axes.set_ylim(0, 1)
    log_epochs(axes, steps[-1])


def subset_legend(axes, codes, place=None, **keywords):
    """Legend of the curves in axes, in the order of the file so that figures agree, drawn there or
    in the axes `place`."""
    handles = {handle.get_label(): handle for handle in axes.get_lines()}
    found = [code for code in codes if code in handles]
    title = "subset $S$" if len(found) == len(codes) else f"{len(found)} of {len(codes)} subsets $S$"
    (place or axes).legend([handles[code] for code in found], found, title=title, title_fontsize=7,
                           **keywords)


def label_ends(axes, ends, space=0.085):
    """Names curves at the right of axes: ends has (text, y in data, colour). Texts that would lie on
    each other are moved apart, at least `space` of the axes' height, and tied to their ends."""
    place = axes.transData + axes.transAxes.inverted()
    x = axes.get_xlim()[1]
    height = sorted((place.transform((x, y))[1], text, colour) for text, y, colour in ends)
    at = np.array([y for y, _, _ in height])
    for _ in range(200):
        lack = space - np.diff(at)
        if (lack <= 1e-9).all():
            break
        push = np.maximum(lack, 0) / 2
        at[:-1] -= push
        at[1:] += push
    at += max(0, -at[0]) - max(0, at[-1] - 1)
    for (y, text, colour), moved in zip(height, at):
        axes.annotate(text, (1, y), (1.06, moved), "axes fraction", "axes fraction", color=colour,
                      fontsize=7, va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5,
                                  "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0})


def log_epochs(axes, last):
    """An axis of epochs, logarithmic from 1 on and with room for 0."""
    axes.set_xscale("symlog", linthresh=1, linscale=0.35)
    axes.set_xlim(0, max(last, 1))
    decades = 10 ** np.arange(0, np.floor(np.log10(max(last, 1))) + 1)
    axes.set_xticks([0, *decades])
    axes.set_xticks([], minor=True)
    axes.set_xticklabels(["0", *(f"{int(tick):,}" for tick in decades)])


def weight_colours(limit):
    """The colours of RPE weights, -limit .. limit, white at 0."""
    return ScalarMappable(Normalize(-limit, limit), "RdBu_r")


def draw_matrix(axes, values, limit):
    """Numbers as a heat map with the numbers in it; those that are not there are left white."""
    colours = weight_colours(limit)
    rows, columns = values.shape
    axes.imshow(values, cmap=colours.cmap, norm=colours.norm)
    size = min(7.5, 26 / max(rows, columns))
    for (row, column), value in np.ndenumerate(values):
        if size > 3 and np.isfinite(value):
            number = f"{round(float(value), 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
            axes.text(column, row, number, ha="center", va="center", fontsize=size,
                      color="white" if abs(value) > 0.6 * limit else "black")
    axes.set_xticks(range(columns), range(1, columns + 1))
    axes.set_yticks(range(rows), range(1, rows + 1))
    plain(axes)


def draw_weights(axes, w, limit, title, shifted=False):
    """RPE weights as the paper shows them: column h is head h, rows are lags -1, -2, ... With
    `shifted`, head h sees the lags from h on."""
    heads, lags = w.shape
    table = np.full((lags + (heads - 1 if shifted else 0), heads), np.nan)
    for h in range(heads):
        first = h if shifted else 0
        table[first:first + lags, h] = w[h]
    draw_matrix(axes, table, limit)
    axes.set_yticks(range(len(table)), [f"\N{MINUS SIGN}{i}" for i in range(1, len(table) + 1)])
    axes.set_xlabel("head $h$")
    axes.set_title(title)


def rpe_matrix(w, size):
    """W_P(i, j) = w_{-(i-j)} for lags i-j from 1 to M, elsewhere -infinity."""
    block = np.full((size, size), -np.inf)
    for lag, weight in enumerate(w, 1):
        for j in range(size - lag):
            block[j + lag, j] = weight
    return block


def draw_rpe_matrix(axes, w, size, limit):
    """The top left block of W_P for the weights w of one head."""
    block = rpe_matrix(w, size)
    colours = weight_colours(limit)
    axes.set_facecolor("#bdbdbd")
    axes.imshow(np.where(np.isfinite(block), block, np.nan), cmap=colours.cmap, norm=colours.norm)
    label_positions(axes, size)


def label_positions(axes, size):
    """For a matrix from position i to position j."""
    axes.set_xticks(range(size), range(1, size + 1))
    axes.set_yticks(range(size), range(1, size + 1))
    axes.set_xlabel("position $j$ attended to")
    axes.set_ylabel("position $i$")
    plain(axes)


def draw_tokens(axes, tokens, height, positions=None, size=0.8, strength=None, text=True):
    """A row of boxes at this height, one a token; `strength` from 0 to 1 fades them."""
    positions = range(1, len(tokens) + 1) if positions is None else positions
    for index, (place, token) in enumerate(zip(positions, tokens)):
        faded = 1 if strength is None else float(strength[index])
        axes.add_patch(plt.Rectangle((place - size / 2, height - size / 2), size, size, linewidth=0.5,
                                     edgecolor="black", alpha=faded,
                                     facecolor=TOKENS[token % len(TOKENS)]))
        if text:
            axes.text(place, height, str(token), ha="center", va="center", fontsize=7)


def draw_law(axes, laws, labels, colours):
    """Laws over the tokens as bars side by side."""
    width = 0.8 / len(laws)
    for index, (law, label, colour) in enumerate(zip(laws, labels, colours)):
        axes.bar(np.arange(len(law)) + (index - (len(laws) - 1) / 2) * width, law, width * 0.92,
                 color=colour, label=label)
    axes.set_xticks(range(len(laws[0])))
    axes.set_xlabel("token")
    axes.set_ylim(0, 1.25)
    axes.set_yticks(np.arange(0, 1.1, 0.2))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper center", ncols=len(laws), handlelength=1, columnspacing=1)


def draw_table(axes, rows, limit, numbers=2):
    """Probabilities from 0 to `limit` as a heat map with their numbers."""
    axes.imshow(rows, cmap="Blues", vmin=0, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(rows):
        axes.text(column, row, f"{value:.{numbers}f}", ha="center", va="center", fontsize=7,
                  color="white" if value > 0.6 * limit else "black")
    plain(axes)


def plain(axes):
    """No grid, ticks or frame, for pictures."""
    axes.grid(False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def absent(axes, text):
    """An empty panel that says why."""
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=GREY)
    axes.set_axis_off()


def svg(figure):
    """The figure as the text of an SVG file. Letters are outlines, so it looks the same everywhere."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    # Names of clipping paths come from addresses in memory; numbers are the same every time.
    names = dict.fromkeys(re.findall(r"url\(#(\w+)\)", text.getvalue()))
    numbers = {name: f"clip{index}" for index, name in enumerate(names)}
    return re.sub(r"\b\w+\b", lambda word: numbers.get(word[0], word[0]), text.getvalue())


def save(figure, folder, name):
    """Writes PNG, PDF and SVG and says where; no date inside, so the same data gives the same bytes."""
    for path, metadata in ((folder / f"{name}.png", {}),
                           (folder / f"{name}.pdf", {"CreationDate": None})):
        figure.savefig(path, metadata=metadata)
        print(f"figure {path}")
    path = folder / f"{name}.svg"
    path.write_text(svg(figure))
    print(f"figure {path}")
    plt.close(figure)
