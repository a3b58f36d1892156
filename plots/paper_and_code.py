"""What each difference between the paper's text and the authors' code changes, from
RESULTS_FOLDER/{simplified,full}*.h5 and the predictions in the .json beside them.

(a) total variation between prediction and true law on fresh prompts, one row a variant, beside the
induction head's; (b) p_S at the end. Writes paper_and_code.png, paper_and_code.pdf, table.md and
verdict.txt, and prints the verdicts.
"""

import json
import math

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

LABELS = {
    "": "released code", "window": "all heads see lags 1 to 3", "norm": "no norm of head outputs",
    "loss": "cross-entropy of y", "w-off": "w beside the diagonal 0.01",
    "feature": "feature of length 1", "self": "no attention to itself",
    "rectify": "negative products count", "residual": "residual block in the kernel",
    "text": "all as in the text",
}
GROWING = ("110", "101", "011")


class Variant:
    """One run and how it predicts fresh prompts."""

    def __init__(self, path):
        self.run = runfile.Run(path)
        self.name = self.run.name
        self.model, _, change = self.name.partition("_")
        self.label = LABELS.get(change, change)
        answer = path.with_suffix(".json")
        try:
            measures = json.loads(answer.read_text())["measures"]
            self.tv, self.gih = (measures[who]["tv"] for who in ("model", "gih"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise runfile.RunFileError(f"{answer}: not an answer of gih evaluate: {error}") from None
        # Codes of four begin with the residual block.
        self.p = {code[-3:]: p for code, p in zip(self.run.subsets, self.run.last["p"])
                  if code[:-3] in ("", "0")}
        self.soft = change not in ("loss", "text")


def variants(folder):
    found = [Variant(folder / f"{model}{'_' * bool(change)}{change}.h5")
             for model in ("simplified", "full") for change in LABELS
             if (folder / f"{model}{'_' * bool(change)}{change}.h5").exists()]
    if not {"simplified", "full"} <= {variant.name for variant in found}:
        raise runfile.RunFileError(f"{folder}: simplified.h5 and full.h5 must be there")
    return found


def draw(found):
    figure, (errors, shares) = plt.subplots(1, 2, figsize=(style.WIDTH, 0.56 * style.WIDTH),
                                            sharey=True, width_ratios=(1.1, 1))
    rows = np.array([i + (variant.model == "full") for i, variant in enumerate(found)], dtype=float)
    errors.set_title("(a) distance to the true law")
    errors.errorbar([v.tv["mean"] for v in found], rows, xerr=[v.tv["error"] for v in found], fmt="o",
                    color=style.FIRST, markersize=4, label="trained")
    errors.plot([v.gih["mean"] for v in found], rows, "|", color=style.SECOND, markersize=9,
                label="induction head")
    errors.set_xlim(0)
    errors.set_xlabel("total variation")
    errors.legend(loc="center right")
    shares.set_title("(b) subsets at the end")
    left = np.zeros(len(found))
    for code in GROWING:
        width = np.array([variant.p[code] for variant in found])
        shares.barh(rows, width, 0.7, left, color=style.subset_style(code)["color"], label=code)
        left += width
    shares.set_xlim(0, 1)
    shares.set_xlabel("$p_S$")
    shares.grid(axis="y", visible=False)
    shares.legend(title="subset $S$", title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    errors.set_yticks(rows, [variant.label for variant in found])
    for label, variant in zip(errors.get_yticklabels(), found):
        if variant.name == variant.model:
            label.set_fontweight("bold")
    errors.text(0, -0.9, "simplified model", fontsize=8, style="italic")
    errors.text(0, rows[-1] - sum(v.model == "full" for v in found) + 0.1, "full model", fontsize=8,
                style="italic")
    errors.set_ylim(rows[-1] + 0.6, -1.4)
    return figure


def table(found):
    lines = ["| model | change | $a$ | largest $p_S$ | total variation |", "| --- | --- | --- | --- | --- |"]
    for v in found:
        code = max(v.p, key=v.p.get)
        lines.append(f"| {v.model} | {v.label} | {v.run.last['a']:.3g} | {code} {v.p[code]:.3f} | "
                     f"{v.tv['mean']:.4f} ± {v.tv['error']:.4f} |")
    return "\n".join(lines) + "\n"


# ---- the claims ---------------------------------------------------------------------------------
class All:
    def __init__(self, found):
        self.found = found
        self.name = f"{len(found)} runs"


def selects(runs):
    largest = {max(variant.p, key=variant.p.get) for variant in runs.found}
    return " ".join(sorted(largest)), largest == {"110"}


def floor(runs):
    bound = math.log(1 + 2 / math.e)
    least = min(variant.run.stage(1).train_loss.min() for variant in runs.found if variant.soft)
    return f"least {least:.4f}", least > bound


CLAIMS = (
    Claim("every variant ends with the largest p_S at the parents, 110", selects),
    Claim("a softmax of y keeps the loss above log(1 + 2/e) = 0.5514", floor),
)


def make(folder):
    found = variants(folder)
    style.save(draw(found), folder, "paper_and_code")
    (folder / "table.md").write_text(table(found))
    return report(CLAIMS, [All(found)], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
