"""Memories against what theory says of pooled items, from RESULTS_FOLDER/pooled.h5, mass.h5 and
freezing.h5.

(a) Memories of 4,000 tokens, mean pooling: KL of the measured answer from the closed form, and of the uncompressed
answer from it; (b) sum pooling; (c) J, the log mass that a slot lacks, mean over slots, and its largest
possible value; (d) the share of matches in what is attended to, sum pooling,
c = 6, for 20, 200 and 2,000 slots.
Writes memory_theory.png, memory_theory.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import Measured, curve, tick
from verdict import Claim, report

COLOURS = dict(zip((1, 2, 4, 8), ("#56B4E9", "#009E73", "#0072B2", "#000000")))
SMALL_SCALE = 4


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.82 * style.WIDTH))
    for axes, name, letter in zip(panels[0], ("mean", "sum"), "ab"):
        for scale, colour in COLOURS.items():
            rows = found.pooled.of(compressor=name, scale=scale)
            curve(axes, rows, "rate", "kl_pooled", f"$a$ = {scale}", colour)
            far = rows.of().fields
            chosen = far["memory.rate"] > 1
            axes.plot(far["memory.rate"][chosen], far["kl_unc_pooled"][chosen], color=colour,
                      linestyle=(0, (1, 1.2)), linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        tick(axes, np.unique(found.pooled["rate"]))
        axes.set_xlabel("rate $c$")
        axes.set_ylabel("KL from the closed form, nats")
        axes.set_title(f"({letter}) {name} pooling; dotted: uncompressed")
    panels[0, 0].legend(loc="center left", bbox_to_anchor=(0, 0.42))
    draw_mass(panels[1, 0], found.mass)
    axes = panels[1, 1]
    for count, colour in zip((20, 200, 2000), ("#56B4E9", "#0072B2", "#000000")):
        curve(axes, found.freezing.of(compressed_slots=count), "scale", "match_mass",
              f"{count:,} slots".replace(",", "\N{THIN SPACE}"), colour)
    axes.plot(*found.freezing.of(compressed_slots=2000).sorted("scale", "match_share"),
              color=style.GREY, label="share of items")
    axes.set_ylim(0, 0.72)
    axes.set_xlabel("$a$")
    axes.set_title("(d) matches in what is attended to")
    axes.legend(loc="lower right")
    return figure


def largest(a):
    return np.log(np.expm1(a) / a) - 1 + a / np.expm1(a)


def draw_mass(axes, table):
    for rate, colour in zip((2, 4, 8), ("#56B4E9", "#0072B2", "#000000")):
        curve(axes, table.of(rate=rate), "scale", "jensen", f"$c$ = {rate}", colour)
    a = np.linspace(0.1, table["scale"].max(), 200)
    axes.plot(a, largest(a), color=style.GREY, label="largest for any share")
    axes.set_xlabel("$a$")
    axes.set_ylabel("nats")
    axes.set_title("(c) $J$, the log mass that a slot lacks")
    axes.legend(loc="upper left")


def closed_form(found):
    rows = found.pooled.of(compressor="mean")
    chosen = (rows["scale"] <= SMALL_SCALE) & (rows["rate"] > 1)
    near, far = rows["kl_pooled"][chosen], rows["kl_unc_pooled"][chosen]
    return f"at most {near.max():.4f}, a share of {(near / far).max():.2f}", (near < 0.2 * far).all()


def below_largest(found):
    worst = (found.mass["jensen"] / largest(found.mass["scale"])).max()
    return f"at most {worst:.2f} of it", worst <= 1 + 1e-12


def grows(found):
    values = [found.mass.of(rate=rate).sorted("scale", "jensen")[1] for rate in (2, 4, 8)]
    good = all((np.diff(one) > 0).all() for one in values) and (np.diff(values, axis=0) > 0).all()
    return f"{values[0][0]:.3f} to {values[-1][-1]:.1f} nats", good


def freezes(found):
    few, more, most = (found.freezing.of(compressed_slots=count) for count in (20, 200, 2000))
    at = [table.one("match_mass", scale=8) for table in (few, more, most)]
    late = few.one("match_mass", scale=8) - few.one("match_mass", scale=4)
    return (" < ".join(f"{value:.3f}" for value in at) +
            f"; with 20 slots {late:+.3f} from a = 4 to 8"), (at[0] < at[1] < at[2] and late < 0.02)


def never_full(found):
    top = found.freezing["match_mass"].max()
    return f"at most {top:.2f}", top < 0.95


CLAIMS = (
    Claim(f"a long memory of means answers as the closed form says, up to a = {SMALL_SCALE}: KL below a "
          "fifth of that of the uncompressed answer", closed_form),
    Claim("no slot lacks more mass than Jensen's bound", below_largest),
    Claim("what slots lack grows with a and with c", grows),
    Claim("few slots freeze: more slots find more matches, and with 20 a larger a changes nothing",
          freezes),
    Claim("consecutive items do not become an induction head: what is attended to never matches wholly",
          never_full),
)


def make(folder):
    found = Measured("memory_theory", folder, ("pooled", "mass", "freezing"))
    style.save(draw(found), folder, "memory_theory")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
