"""Figure 8: the induction head at work on a prompt, with the attention of a trained model, from
RESULTS_FOLDER/trained_L*.json and limit_L*.json.

(a) A prompt with what the heads of S* copy to each position, and (b) the second attention beside that
of the generalised induction head (GIH); (c) the first attention, (d) p_S, (e) the prediction. Writes
fig8.png, fig8.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import EXACT, Claim, NotReached, report

LENGTHS = (24, 100)
FEW, MANY = 3, 6  # matches of the prompt that is drawn


class Model:
    """The attention of one model on the prompts of both lengths, and the model's a. S* is the
    subset of the GIH, of heads that have their own lag."""

    def __init__(self, folder, name):
        self.name = name
        self.a = float(runfile.Run(folder / f"{name}.h5").last["a"])
        self.short, self.long = (runfile.Attention(folder / f"{name}_L{L}.json") for L in LENGTHS)
        self.prompts = [*self.short.prompts, *self.long.prompts]
        self.star = [h for h, bit in enumerate(self.short.subset) if bit == "1"]
        # The query sees a full window, and so do all positions that the mask leaves.
        query = self.prompts[0].heads[:, -1]
        self.own = np.array([query[h, h] for h in self.star])
        self.p = self.short.p[self.short.subsets.index(self.short.subset)]
        self.window = query.shape[1]

    # Heads of S* put sigma_h on their lag, so s_l >= p prod sigma_h^2 where all their lags match, and
    # s_l <= 1 - p + p (1 - sigma_h^2) where that of h does not.
    def least_match(self):
        return self.p * (self.own ** 2).prod()

    def largest_other(self):
        return 1 - self.p + self.p * (1 - self.own.min() ** 2)

    def least_on_matches(self, prompt):
        matches = len(prompt.matches)
        others = len(prompt.tokens) - self.window - matches
        gap = self.least_match() - self.largest_other()
        return matches / (matches + others * np.exp(-self.a * gap))

    def largest_distance(self, prompt):
        """In TV, of the prediction to that of the GIH: what is not on the matches, and what weights
        differ among them. Weights of a ratio up to r are up to (sqrt r - 1) / (sqrt r + 1) from
        equal ones. Without a match this is about all positions, and s_l ranges over 0 to the largest."""
        if len(prompt.matches):
            root = np.exp(self.a * (1 - self.least_match()) / 2)
            return 1 - self.least_on_matches(prompt) + (root - 1) / (root + 1)
        root = np.exp(self.a * self.largest_other() / 2)
        return (root - 1) / (root + 1)


def chosen(attention):
    """The first prompt that is worth a picture: a few matches, followed by different tokens."""
    for prompt in attention.prompts:
        if (FEW <= len(prompt.matches) <= MANY
                and len(set(prompt.tokens[prompt.matches].tolist())) > 1):
            return prompt
    raise runfile.RunFileError(f"{attention.path}: no prompt with {FEW} to {MANY} matches that "
                               "different tokens follow")


# ---- the figure ---------------------------------------------------------------------------------
def draw(model):
    prompt = chosen(model.short)
    figure = plt.figure(figsize=(style.WIDTH, 0.8 * style.WIDTH))
    above, below = figure.subfigures(2, 1, height_ratios=(1.7, 1))
    strip, bars = above.subplots(2, 1, sharex=True, height_ratios=(1.25, 1))
    draw_prompt(strip, model, prompt)
    draw_attention(bars, prompt)
    heads, subsets, law = below.subplots(1, 3, width_ratios=(1, 1.2, 1.2))
    style.draw_table(heads, prompt.heads[:, -1].T, 1, numbers=3)
    heads.set_xticks(range(len(prompt.heads)), range(1, len(prompt.heads) + 1))
    heads.set_yticks(range(model.window), [f"\N{MINUS SIGN}{i + 1}" for i in range(model.window)])
    heads.set_xlabel("head $h$")
    heads.set_ylabel("lag")
    heads.set_title(r"(c) first attention $\sigma^{(h)}$")
    draw_subsets(subsets, model)
    style.draw_law(law, [prompt.y, prompt.estimators["gih"], prompt.estimators["conditional"]],
                   ("model $y$", "GIH", r"true law $\pi$"), (style.FIRST, style.SECOND, style.GREY))
    law.set_title("(e) prediction of $x_{L+1}$")
    return figure


def draw_prompt(axes, model, prompt):
    L = len(prompt.tokens)
    rows = ["$x_l$"]
    style.draw_tokens(axes, prompt.tokens, 0)
    axes.text(L + 1, 0, "?", ha="center", va="center", fontsize=8)
    for row, h in enumerate(model.star, 1):
        rows.append(f"head {h + 1}")
        # What the head copies to each position, as strong as its attention there.
        for place in range(model.window, L + 1):
            lag = int(prompt.heads[h, place].argmax())
            style.draw_tokens(axes, [prompt.tokens[place - lag - 1]], -row, [place + 1],
                              strength=[prompt.heads[h, place, lag]])
    bottom = -len(model.star) - 0.55
    for place in (*prompt.matches, L):
        axes.add_patch(plt.Rectangle((place + 0.5, bottom), 1, -bottom - 0.5, fill=False,
                                     edgecolor=style.SECOND, linewidth=1.6, zorder=4))
    for place in prompt.matches:
        axes.annotate("", (place + 1, 0.45), (L + 1, 0.45), arrowprops={
            "arrowstyle": "<-", "connectionstyle": "arc3,rad=0.22", "color": style.SECOND,
            "linewidth": 0.4 + 6 * prompt.sigma[place], "shrinkA": 1, "shrinkB": 1})
    axes.set_yticks(range(0, -len(rows), -1), rows)
    axes.set_ylim(bottom - 0.1, 3.4)
    axes.set_xlim(0.3, L + 1.7)
    axes.tick_params(labelbottom=False)
    axes.set_title("(a) a prompt; below, what the heads of $S^*$ copy; framed, where it matches the query's")
    style.plain(axes)


def draw_attention(axes, prompt):
    L = len(prompt.tokens)
    places = np.arange(1, L + 1)
    matching = np.isin(places - 1, prompt.matches)
    axes.bar(places, prompt.sigma, 0.7, color=style.FIRST, label=r"model, second attention $\sigma_l$")
    axes.plot(places[prompt.gih > 0], prompt.gih[prompt.gih > 0], linestyle="", marker="_",
              markersize=13, markeredgewidth=2, color=style.SECOND, label="GIH, $1/N$")
    for place in places[matching]:
        axes.text(place, prompt.sigma[place - 1] / 2, f"{prompt.sigma[place - 1]:.4f}",
                  ha="center", va="center", fontsize=6.5, color="white", rotation=90)
    axes.set_title(f"(b) second attention from the query: {prompt.on_matches:.4f} of it on the "
                   f"{len(prompt.matches)} matches")
    axes.set_xticks([*places, L + 1], [*places, "$L{+}1$"])
    axes.set_xlabel("position $l$")
    axes.set_ylabel("weight")
    axes.set_ylim(0, 1.5 * max(prompt.sigma.max(), prompt.gih.max()))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper right", ncols=2)


def draw_subsets(axes, model):
    codes, p = model.short.subsets, model.short.p
    axes.bar(range(len(codes)), p, color=[style.subset_style(code)["color"] for code in codes])
    axes.set_xticks(range(len(codes)), codes, rotation=90)
    axes.set_ylim(0, 1)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("subset $S$")
    axes.set_title("(d) $p_S$ of the features")


# ---- claims -------------------------------------------------------------------------------------
def copies(model):
    return f"least {model.own.min():.4f}", model.own.min() > 0.99


def selects(model):
    return f"p_{model.short.subset} = {model.p:.6f}", model.p > 0.99


def gih_looks_at_matches(model):
    """All of the GIH's weight lies on the matches, where there are any, and is equal there."""
    seen = [prompt for prompt in model.prompts if len(prompt.matches)]
    if not seen:
        raise NotReached
    off = max(abs(1 - prompt.gih[prompt.matches].sum()) for prompt in seen)
    return f"1 less it at most {off:.0e} in {len(seen)} prompts", off <= EXACT


def attends_to_matches(model):
    seen = [(prompt.on_matches, model.least_on_matches(prompt))
            for prompt in model.prompts if len(prompt.matches)]
    if not seen:
        raise NotReached
    weight, bound = min(seen)
    return (f"least {weight:.4f}, bound there {bound:.4f}",
            all(weight >= bound - EXACT for weight, bound in seen))


def predicts_like_the_gih(model):
    seen = [(np.abs(prompt.y - prompt.estimators["gih"]).sum() / 2, model.largest_distance(prompt))
            for prompt in model.prompts]
    distance, bound = max(seen)
    return (f"largest {distance:.4f}, bound there {bound:.4f}",
            all(distance <= bound + EXACT for distance, bound in seen))


def is_the_gih(model):
    apart = max(np.abs(prompt.sigma - prompt.gih).max() for prompt in model.prompts)
    return f"apart {apart:.0e}", apart <= EXACT


def is_the_average(model):
    """y = sum_l sigma_l x_l."""
    apart = max(np.abs(np.bincount(prompt.tokens, prompt.sigma, len(prompt.y)) - prompt.y).max()
                for prompt in model.prompts)
    return f"apart {apart:.0e}", apart <= EXACT


CLAIMS = (
    Claim("every head h of S* attends to lag h with weight over 0.99", copies),
    Claim("the features are those of S*: p_S* > 0.99", selects),
    Claim("the prediction is the average of the tokens by attention, within 1e-10", is_the_average),
    Claim("all of the GIH's weight is on matching positions, within 1e-10", gih_looks_at_matches),
    Claim("the attention on matching positions is above its bound", attends_to_matches),
    Claim("the prediction is as near to the GIH's as its bound says, in TV", predicts_like_the_gih),
    Claim("the limit attends as the GIH does, within 1e-10", is_the_gih, only="limit"),
)


def make(folder):
    models = [Model(folder, name) for name in ("trained", "limit")]
    style.save(draw(models[0]), folder, "fig8")
    return report(CLAIMS, models, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
