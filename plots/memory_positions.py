"""Terms of distance in the logits, from RESULTS_FOLDER/slopes.h5; c = 4, a = 8.

KL from the law that the next token was drawn from, over the slope eta; distances count slots, or positions
(c_offset). (a) Mean pooling on chains whose kernel stays, (b) on chains that draw a new kernel at each
segment with probability 0.3; (c), (d) the same for decimation.
Writes memory_positions.png, memory_positions.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import Measured, curve
from verdict import Claim, report

DISTANCES = {"slot": ("slots", style.FIRST, "o"), "c-offset": ("positions", style.SECOND, "s")}
PANELS = [("mean", 0.0), ("mean", 0.3), ("decimate", 0.0), ("decimate", 0.3)]


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.75 * style.WIDTH))
    for axes, (compressor, switching), letter in zip(panels.flat, PANELS, "abcd"):
        for distance, (label, colour, marker) in DISTANCES.items():
            rows = found.slopes.of(compressor=compressor, switching=switching, distance=distance)
            curve(axes, rows, "slope", "kl_pi", f"distance in {label}", colour, marker)
        axes.set_xscale("symlog", linthresh=0.003, linscale=0.5)
        slopes = np.unique(found.slopes["slope"])
        axes.set_xticks(slopes, [f"{value:g}" for value in slopes])
        axes.set_xticks([], minor=True)
        axes.set_ylim(0)
        axes.set_xlabel(r"slope $\eta$")
        axes.set_ylabel("KL from the true law, nats")
        axes.set_title(f"({letter}) {compressor}, kernel " + ("stays" if switching == 0 else "switches"))
    panels[0, 0].legend(loc="upper left")
    return figure


def best(found, compressor, switching):
    """The smallest KL over slopes and distances, and that without a slope."""
    rows = found.slopes.of(compressor=compressor, switching=switching)
    at = int(np.argmin(rows["kl_pi"]))
    return (rows["kl_pi"][at], rows["slope"][at], rows["distance"][at],
            rows.of(slope=0.0)["kl_pi"][0])


def best_is(found, compressor, switching, helps):
    value, slope, distance, without = best(found, compressor, switching)
    return (f"{without:.3f} without, best {value:.3f} at {slope:g} ({distance})",
            (value < 0.99 * without) == helps)


def offsets_agree(found):
    rows = found.slopes.of(slope=0.0)
    gap = max(np.ptp(rows.of(compressor=compressor, switching=switching)["kl_pi"])
              for compressor, switching in PANELS)
    return f"to {gap:.0e}", gap < 1e-12


CLAIMS = (
    Claim("without a slope the two distances agree", offsets_agree),
    Claim("mean pooling, kernel stays: no slope helps", lambda found: best_is(found, "mean", 0.0, False)),
    Claim("decimation, kernel stays: a small slope helps a little",
          lambda found: best_is(found, "decimate", 0.0, True)),
    Claim("mean pooling, kernel switches: no slope helps, since pooling already favours what is recent",
          lambda found: best_is(found, "mean", 0.3, False)),
    Claim("decimation, kernel switches: a slope helps",
          lambda found: best_is(found, "decimate", 0.3, True)),
)


def make(folder):
    found = Measured("memory_positions", folder, ("slopes",))
    style.save(draw(found), folder, "memory_positions")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
