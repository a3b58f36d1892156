"""Figure 5: the full model, trained without stages, from RESULTS_FOLDER/full.h5.

(a) training loss, (b) p_S of every subset, (c) RPE weights before and after, (d) a. Writes fig5.png,
fig5.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from verdict import Claim, report

CORRECT, WRONG = "110", "011"


def draw(run):
    rows = run.stage(1)
    figure = plt.figure(figsize=(style.WIDTH, 0.72 * style.WIDTH))
    left, right = figure.subfigures(1, 2)
    loss, weights = left.subfigures(2, 1)
    selection, growth = right.subplots(2, 1)
    draw_loss(loss.subplots(), rows)
    draw_weights(weights, rows)
    selection.set_title("(b) subsets")
    selection.set_ylabel("$p_S$")
    selection.set_xlabel("epoch")
    style.draw_p(selection, rows.step, rows.p, run.subsets)
    style.subset_legend(selection, run.subsets, loc="center left")
    growth.set_title("(d) $a$")
    growth.plot(rows.step, rows.a, color=style.FIRST)
    growth.set_ylim(0)
    growth.set_xlim(0, rows.step[-1])
    growth.set_ylabel("$a$")
    growth.set_xlabel("epoch")
    growth.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def draw_loss(axes, rows):
    axes.set_title("(a) loss")
    axes.plot(rows.step, rows.train_loss, color=style.FIRST, label="train")
    axes.plot(rows.step, rows.validation_loss, color=style.SECOND, linestyle=(0, (4, 1.5)),
              label="validation")
    axes.set_xlim(0, rows.step[-1])
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss [nats]")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend()


def draw_weights(figure, rows):
    before, after = figure.subplots(1, 2)
    limit = np.abs(rows.w[[0, -1]]).max()
    style.draw_weights(before, rows.w[0], limit, "(c) RPE: epoch 0", shifted=True)
    style.draw_weights(after, rows.w[-1], limit, f"epoch {rows.step[-1]:,}", shifted=True)
    before.set_ylabel("lag")
    figure.colorbar(style.weight_colours(limit), ax=[before, after], label="weight $w^{(h)}$")


# ---- the claims ---------------------------------------------------------------------------------
def converges(run):
    rows = run.stage(1)
    loss = rows.train_loss
    tail = loss[rows.step >= 0.8 * rows.step[-1]]
    share = (tail[0] - loss[-1]) / (loss[0] - loss[-1])
    return f"{100 * share:.2f} %", loss[-1] < loss[0] and 0 <= share < 0.02


def wrong_first(run):
    rows = run.stage(1)
    first = {}
    for code in (WRONG, CORRECT):
        above = run.p(rows, code) > 0.5
        first[code] = rows.step[above.argmax()] if above.any() else np.inf
    return (", ".join(f"{code} from epoch {epoch:,}" for code, epoch in first.items()),
            first[WRONG] < first[CORRECT])


def right_last(run):
    p = dict(zip(run.subsets, run.last["p"]))
    largest = max(p, key=p.get)
    return f"p_{largest} = {p[largest]:.3f}", largest == CORRECT


def as_printed(code, expected):
    def measured(run):
        p = run.p(run.stage(1), code)[-1]
        return f"{p:.3f}", abs(p - expected) <= 0.1

    return Claim(f"p_{code} ends within 0.1 of the paper's {expected}", measured)


def parents_turn(run):
    rise = (run.last["w"] - run.first["w"])[:, 0]  # windows start at the head's own lag
    return " ".join(f"{x:+.3f}" for x in rise), rise[:2].min() > rise[2] > 0


def elbow(run):
    rows = run.stage(1)
    rate = np.diff(rows.a) / np.diff(rows.step)
    return (f"{rate[0]:.2g}, {rate.max():.2g}, {rate[-1]:.2g}",
            rate.max() > 10 * max(rate[0], rate[-1]))


CLAIMS = (
    Claim("the last fifth of the epochs brings under 2 % of the fall of the loss", converges),
    Claim(f"at first a wrong subset leads: p_{WRONG} exceeds 0.5 before p_{CORRECT} does", wrong_first),
    Claim(f"at the end p_{CORRECT} is the largest", right_last),
    as_printed("110", 0.6),
    as_printed("101", 0.2),
    as_printed("011", 0.2),
    Claim("heads 1 and 2 turn to their own lags more than head 3, which does so a little", parents_turn),
    Claim("a has an elbow: its rate at most is over 10 times that at start and end", elbow),
)


def make(folder):
    run = runfile.Run(folder / "full.h5")
    style.save(draw(run), folder, "fig5")
    return report(CLAIMS, [run], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
