"""How compressors are trained, from RESULTS_FOLDER/curves.h5, depth.h5 and trained.h5; c = 4, a = 8.

(a) Loss over steps of Adam, relative to its start: attention reconstruction (AR), with log Z (AR-Z),
auto-encoding (AE); (b) the squared error of log Z meanwhile; (c) length of the gradient of the
cross-entropy when compressed slots older than U segments are constants, one level of compressed memory
and two, mean and deviation over steps; (d) KL from the uncompressed answer, and attention on the compressed memory.
Writes memory_training.png, memory_training.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import Measured
from verdict import Claim, report

LOSSES = {"ar": ("AR", "#D55E00"), "ar-z": ("AR-Z", "#0072B2"), "ae": ("AE", "#009E73")}
SHARE = 0.9  # items that are compressed


def smooth(values, width=25):
    """Means of neighbours and their standard errors: single batches are noisy."""
    count = len(values) // width * width
    if not count:
        return np.arange(len(values)), values, np.zeros(len(values))
    parts = values[:count].reshape(-1, width)
    return (np.arange(count).reshape(-1, width).mean(1), parts.mean(1),
            parts.std(1, ddof=1) / np.sqrt(width))


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.8 * style.WIDTH))
    for axes, field, which in ((panels[0, 0], "loss", LOSSES),
                               (panels[0, 1], "log_Z_loss", ("ar", "ar-z"))):
        for name in which:
            label, colour = LOSSES[name]
            rows = found.curves.of(train=name)
            steps, values = rows.sorted("step", field)
            at, mean, error = smooth(values)
            start = mean[0] if field == "loss" else 1
            step = steps[1] - steps[0] if len(steps) > 1 else 1
            axes.errorbar(at * step, mean / start, error / start, label=label, color=colour,
                          elinewidth=0.8)
        axes.set_xlabel("step of Adam")
        axes.set_ylim(0)
        axes.legend()
    panels[0, 0].set_title("(a) loss, share of its start")
    panels[0, 1].set_title(r"(b) $(\log Z - \log Z^*)^2$")
    draw_depth(panels[1, 0], found.depth)
    draw_trained(panels[1, 1], found.trained)
    return figure


def depths(table, levels):
    """U, and mean and deviation of the gradient's length."""
    rows = table.of(levels=levels)
    segments = np.unique(rows["backward-segments"])
    norms = [rows.of(backward_segments=U)["gradient_norm"] for U in segments]
    return segments, np.array([one.mean() for one in norms]), np.array([one.std() for one in norms])


def draw_depth(axes, table):
    for levels, colour, marker in ((1, style.FIRST, "o"), (2, style.SECOND, "s")):
        segments, mean, deviation = depths(table, levels)
        axes.errorbar(range(len(segments)), mean, deviation, color=colour, marker=marker,
                      markersize=4, elinewidth=0.8, label=f"{levels} level" + "s" * (levels > 1))
    axes.set_xticks(range(len(segments)),
                    [r"$\infty$" if np.isinf(U) else f"{U:g}" for U in segments])
    axes.set_xlabel("segments $U$ that the gradient reaches back")
    axes.set_ylabel("length of the gradient")
    axes.set_ylim(0)
    axes.set_title("(c) cross-entropy through the memory")
    axes.legend(loc="lower right")


def draw_trained(axes, table):
    names = ("none", "ar", "ar-z", "ae")
    labels = ("mean\n(untrained)", "AR", "AR-Z", "AE")
    loss = [table.one("kl_unc", train=name) for name in names]
    error = [table.one("kl_unc_error", train=name) for name in names]
    gamma = [table.one("mass_compressed", train=name) for name in names]
    places = np.arange(len(names))
    axes.bar(places - 0.18, loss, 0.34, yerr=error, color=style.FIRST, label="KL in nats",
             error_kw={"elinewidth": 0.8})
    axes.bar(places + 0.18, gamma, 0.34, color="#E69F00", label="attention on compressed")
    axes.axhline(SHARE, color=style.GREY, linewidth=0.9, linestyle=(0, (4, 1.5)))
    axes.text(-0.4, SHARE + 0.02, "share of items", color="#666666", fontsize=7)
    axes.set_xticks(places, labels)
    axes.set_ylim(0, 1.3)
    axes.grid(axis="x", visible=False)
    axes.set_title("(d) what the trained compressor does")
    axes.legend(loc="upper right", ncols=2)


def ends(table, name, field):
    values = table.of(train=name).sorted("step", field)[1]
    part = max(1, len(values) // 20)
    return values[:part].mean(), values[-part:].mean()


def all_fall(found):
    pairs = {name: ends(found.curves, name, "loss") for name in LOSSES}
    return ", ".join(f"{name} to {last / first:.2f}" for name, (first, last) in pairs.items()), all(
        last < first for first, last in pairs.values())


def blind(found):
    (_, ar), (_, ar_z) = (ends(found.curves, name, "log_Z_loss") for name in ("ar", "ar-z"))
    return f"{ar:.1f} against {ar_z:.1f}", ar > 3 * ar_z


def diagnostic(found):
    gamma = {name: found.trained.one("mass_compressed", train=name) for name in ("ar", "ar-z")}
    loss = {name: found.trained.one("kl_unc", train=name) for name in ("ar", "ar-z")}
    return (f"attention {gamma['ar']:.2f} to {gamma['ar-z']:.2f}, KL {loss['ar']:.3f} to "
            f"{loss['ar-z']:.3f}"), (abs(gamma["ar-z"] - SHARE) < abs(gamma["ar"] - SHARE) and
                                     loss["ar-z"] > loss["ar"])


def one_hop(found):
    segments, mean, _ = depths(found.depth, 1)
    deep = mean[np.isinf(segments)][0]
    within = mean[segments == 2][0]
    return f"{within:.4f} at U = 2, {deep:.4f} without end", abs(within / deep - 1) < 1e-12


def two_levels(found):
    segments, mean, _ = depths(found.depth, 2)
    return (f"{mean[segments == 2][0]:.4f} at U = 2, {mean[np.isinf(segments)][0]:.4f} without end",
            mean[np.isinf(segments)][0] > 1.05 * mean[segments == 2][0])


def stays_finite(found):
    worst = found.depth["gradient_norm"].max()
    return f"at most {worst:.2f}", bool(np.isfinite(worst) and worst < 10)


CLAIMS = (
    Claim("all three losses fall", all_fall),
    Claim("attention reconstruction does not see the mass: its error of log Z stays above three times "
          "that of AR-Z", blind),
    Claim("with log Z the mass is nearer to the share of items, and the answer farther from the "
          "uncompressed one", diagnostic),
    Claim("with one level of 8 slots of 2 the gradient ends after two segments", one_hop),
    Claim("with two levels it reaches farther", two_levels),
    Claim("the gradient through any number of segments stays bounded", stays_finite),
)


def make(folder):
    found = Measured("memory_training", folder, ("curves", "depth", "trained"))
    style.save(draw(found), folder, "memory_training")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
