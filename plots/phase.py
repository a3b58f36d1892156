"""Which subset stage 1 selects, from RESULTS_FOLDER/finite.h5 and limit.h5, the tables of two sweeps.

(a) At length 100, (b) at L = inf: the subset with the largest p_S after time 2,000, over the
concentration alpha of the kernels and the initial lead Delta_w of each head's own lag. White crosses
mark points where seeds disagree, white dots those where no p_S exceeds 1/2. Above the solid line the
theorem's condition (3.6) holds, above the dashed one what its first stage needs.
Writes phase.png, phase.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

import runfile
import style
import sweep
from verdict import Claim, NotReached, report

X, Y = "data.alpha", "init.w-diagonal"  # w-off is 0, so the diagonal is Delta_w
TOP = 10.5


class Phase(sweep.Sweep):
    """One panel; all points count as one run."""

    def __init__(self, path, name, title):
        super().__init__(path)
        self.name, self.title = name, title
        for field in (X, Y, "selected", "delta_w_demanded", "verdict_forecast"):
            self.values(field)

    def counts(self, chosen, field):
        """How often each word of a field stands among the chosen points."""
        words, counts = np.unique(self.values(field)[chosen], return_counts=True)
        return dict(zip(words.tolist(), counts.tolist()))

    def demanded(self, field):
        """Delta_w demanded over alpha, mean over seeds; only where S* is decided for some."""
        decided = self.values("verdict_S_star") == "PASS"
        alphas = [a for a in sweep.order(self.values(X)) if (decided & (self.values(X) == a)).any()]
        return alphas, [self.values(field)[decided & (self.values(X) == a)].mean() for a in alphas]


# ---- the figure ---------------------------------------------------------------------------------
def draw(panels):
    figure, all_axes = plt.subplots(1, 2, figsize=(style.WIDTH, 0.5 * style.WIDTH), sharey=True)
    shown = {}
    for axes, panel in zip(all_axes, panels):
        sweep.draw_heat(axes, panel, X, Y, "selected")
        legend = axes.get_legend()
        for patch, text in zip(legend.get_patches(), legend.get_texts()):
            shown[text.get_text()] = patch
        legend.remove()
        unsure = panel.values("selected_p") < 0.5
        for alpha, lead in set(zip(panel.values(X)[unsure], panel.values(Y)[unsure])):
            axes.plot(alpha, lead, ".", color="white", markersize=2.5)
        for field, dash in (("delta_w_demanded", "-"), ("delta_w_demanded_k8", (0, (3, 1.2)))):
            alphas, leads = panel.demanded(field)
            axes.plot(alphas, leads, color="black", linestyle=dash, linewidth=1.1)
        axes.set_title(panel.title)
        axes.set_xlabel(r"concentration $\alpha$")
        axes.set_ylabel(r"initial lead $\Delta_w$" if axes is all_axes[0] else "")
        axes.set_ylim(-0.25, TOP)
    handles = [shown[code] for code in sorted(shown, key=lambda code: code[::-1])]
    names = sorted(shown, key=lambda code: code[::-1])
    handles += [Line2D([], [], color="black", linewidth=1.1),
                Line2D([], [], color="black", linewidth=1.1, linestyle=(0, (3, 1.2)))]
    names += ["(3.6)", "(3.6), stage I"]
    # White marks are drawn dark in the legend, where the ground is white.
    handles += [Line2D([], [], color=style.GREY, linestyle="none", marker=".", markersize=4),
                Line2D([], [], color=style.GREY, linestyle="none", marker="x", markersize=4)]
    names += ["no $p_S$ over 1/2", "seeds differ"]
    all_axes[1].legend(handles, names, title="selected $S$", title_fontsize=7, loc="center left",
                       bbox_to_anchor=(1, 0.5), handlelength=1.6)
    return figure


# ---- claims -------------------------------------------------------------------------------------
def selected_where(field):
    """S* is what was selected, at every point where the start satisfies this and S* is known."""
    def measured(panel):
        chosen = (panel.values(field) == "PASS") & (panel.values("verdict_S_star") == "PASS")
        if not chosen.any():
            raise NotReached
        counts = panel.counts(chosen, "verdict_selects_S_star")
        return f"{counts.get('PASS', 0)} of {chosen.sum()}", set(counts) == {"PASS"}
    return measured


def forecast(panel):
    counts = panel.counts(np.ones(len(panel.values(X)), bool), "verdict_forecast")
    text = ", ".join(f"{counts.get(word, 0)} {word}" for word in ("PASS", "UNDECIDED", "FAIL"))
    return text, counts.get("PASS", 0) > 0 and "FAIL" not in counts


def flip(panel):
    """Finding 1, with seeds as it was found."""
    found = []
    for lead in (3.0, 3.5):
        here = (panel.values(X) == 0.01) & (panel.values(Y) == lead)
        if not here.any():
            raise NotReached
        found.append(sorted(set(panel.values("selected")[here].tolist())))
    return f"{'/'.join(found[0])} at 3, {'/'.join(found[1])} at 3.5", found == [["001"], ["110"]]


CLAIMS = (
    Claim("S* is selected wherever (3.6) holds", selected_where("verdict_3.6")),
    Claim("S* is selected wherever (3.6) holds with the constant of stage I",
          selected_where("verdict_3.6.k8")),
    Claim("what leads g_1 by 3 standard errors at the start is what is selected", forecast),
    Claim("at alpha = 0.01 the selection turns from 001 to 110 between Delta_w = 3 and 3.5", flip,
          only="L = 100"),
)


def make(folder):
    panels = [Phase(folder / "finite.h5", "L = 100", r"(a) $L = 100$"),
              Phase(folder / "limit.h5", "L = inf", r"(b) $L = \infty$")]
    style.save(draw(panels), folder, "phase")
    return report(CLAIMS, panels, folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
