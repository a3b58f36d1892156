"""What compression at rate c loses, from RESULTS_FOLDER/rates.h5, plain.h5, counts.h5 and encoded.h5.

(a) KL of the uncompressed answer from the compressed one over the rate, a = 8, log n added to the
logits; (b) the same from Bayes with known parents; (c) attention by age at c = 4, against the share of
items; (d) by how often the query's pattern occurs, c = 4.
Writes memory_rates.png, memory_rates.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import COMPRESSORS, Measured, curve, tick
from verdict import Claim, report

SCALE, RATE = 8.0, 4
LEAST = 2e-3  # of the logarithmic axis: below is no loss
EXACT = 1e-12
PARTS = ("compressed", "memory", "current")

# Of 150 sequences: KL and its standard error at a = 3 and 8, by file, compressor.
REFERENCE = {
    ("plain", "drop"): ((0.128, 0.014), (0.351, 0.053)),
    ("plain", "mean"): ((0.052, 0.005), (0.170, 0.028)),
    ("counts", "mean"): ((0.090, 0.008), (0.126, 0.019)),
    ("counts", "sum"): ((0.206, 0.016), (0.386, 0.038)),
    ("counts", "max"): ((0.141, 0.011), (0.290, 0.021)),
    ("plain", "decimate"): ((0.025, 0.003), (0.119, 0.028)),
    ("plain", "most-used"): ((0.023, 0.003), (0.116, 0.027)),
    ("counts", "conv"): ((0.066, 0.005), (0.120, 0.014)),
    ("encoded", "conv"): ((0.162, 0.013), (0.180, 0.025)),
}
REFERENCE_SEQUENCES = 150


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.82 * style.WIDTH))
    rates = found.rates.of(scale=SCALE)
    for axes, field in zip(panels[0], ("kl_unc", "kl_bayes")):
        for name, (label, colour, marker) in COMPRESSORS.items():
            rows = rates.of(compressor=name)
            rows.fields = {**rows.fields, field: np.maximum(rows[field], LEAST)}
            curve(axes, rows, "rate", field, label, colour, marker)
        axes.set_xscale("log")
        axes.set_yscale("log")
        tick(axes, np.unique(rates["rate"]))
        axes.set_xlabel("rate $c$")
        axes.set_ylabel("KL in nats")
    panels[0, 0].set_title("(a) KL from the uncompressed answer")
    panels[0, 1].set_title("(b) KL from Bayes with known parents")
    panels[0, 0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.06))
    panels[0, 0].text(0.08, 0.07, "0: group, and $c$ = 1", fontsize=7,
                      transform=panels[0, 0].transAxes)
    draw_ages(panels[1, 0], found)
    draw_frequency(panels[1, 1], rates)
    return figure


def draw_ages(axes, found):
    buckets = [(part, age) for part in PARTS for age in range(1, 7)]
    rows = found.rates.of(scale=SCALE, rate=RATE)
    for name in ("mean", "decimate", "most-used", "conv"):
        label, colour, marker = COMPRESSORS[name]
        mass, error = ([rows.one(f"mass_{part}_{age}{ending}", compressor=name)
                        for part, age in buckets] for ending in ("", "_error"))
        axes.errorbar(range(18), mass, error, color=colour, marker=marker, markersize=3, linewidth=1,
                      elinewidth=0.8, label=label)
    items = [rows.one(f"items_{part}_{age}", compressor="mean") for part, age in buckets]
    axes.step(range(18), items, where="mid", color="black", linewidth=1, label="share of items",
              linestyle=(0, (1, 1.2)))
    axes.set_xticks([2.5, 8.5], ["compressed memory", "memory"])
    axes.set_xlim(-0.5, 11.5)
    axes.axvline(5.5, color=style.GREY, linewidth=0.7)
    axes.set_ylim(0, 0.23)
    axes.set_title("(c) attention by age, oldest left, $c$ = 4")
    axes.legend(ncols=2, loc="upper left")


def draw_frequency(axes, rates):
    rows = rates.of(rate=RATE)
    names = ("mean", "decimate", "most-used", "conv")
    kinds = ("rare", "mid", "frequent")
    for index, name in enumerate(names):
        label, colour, _ = COMPRESSORS[name]
        one = rows.of(compressor=name)
        values = [one[f"kl_unc_{kind}"][0] for kind in kinds]
        errors = [one[f"kl_unc_{kind}_error"][0] for kind in kinds]
        axes.bar(np.arange(3) + 0.2 * (index - 1.5), values, 0.18, yerr=errors, color=colour,
                 label=label, error_kw={"elinewidth": 0.8})
    axes.set_xticks(range(3), ["rare", "mid", "frequent"])
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("KL in nats")
    axes.set_title("(d) KL by how often the pattern occurs, $c$ = 4")
    axes.legend(loc="upper right")


def of_group(found):
    worst = np.abs(found.rates.of(compressor="group")["kl_unc"]).max()
    return f"at most {worst:.1e}", worst < EXACT


def at_rate_one(found):
    names = [name for name in COMPRESSORS if name not in ("drop", "conv")]
    worst = max(np.abs(found.rates.of(compressor=name, rate=1)["kl_unc"]).max() for name in names)
    return f"at most {worst:.1e}", worst < EXACT


def head_is_unc(found):
    rows = found.rates.of(scale=SCALE)
    gap = np.abs(rows["kl_gih"] - rows["kl_unc"]).max()
    return f"at most {gap:.4f}", gap < 0.01


def selection_first(found):
    rows = found.rates.of(scale=SCALE, rate=2)
    value = {name: rows.one("kl_unc", compressor=name) for name in COMPRESSORS}
    best = sorted((name for name in value if name != "group"), key=value.get)[:2]
    return ", ".join(f"{name} {value[name]:.3f}" for name in best), set(best) == {"decimate",
                                                                                  "most-used"}


def ar_before_ae(found):
    ar, ae = found.counts.of(compressor="conv"), found.encoded.of(compressor="conv")
    pairs = [(ar.one("kl_unc", scale=scale), ae.one("kl_unc", scale=scale)) for scale in (3, 8)]
    return ", ".join(f"{x:.3f} and {y:.3f}" for x, y in pairs), all(x < y for x, y in pairs)


def mean_loses_mass(found):
    mean, true = found.plain.one("mass_compressed", compressor="mean", scale=8), 0.9
    return f"{mean:.2f} of {true}", mean < 0.5 * true


def like_the_reference(found):
    """In standard errors of the difference, that of 150 sequences taken from the larger sample."""
    worst, where = 0.0, ""
    for (table, name), cells in REFERENCE.items():
        rows = getattr(found, table).of(compressor=name)
        for scale, (value, _) in zip((3, 8), cells):
            one = rows.of(scale=scale)
            error, count = one["kl_unc_error"][0], one["kl_unc_count"][0]
            both = error * np.sqrt(1 + count / REFERENCE_SEQUENCES)
            distance = abs(one["kl_unc"][0] - value) / both
            if distance > worst:
                worst, where = distance, f"{name}, a = {scale}"
    return f"at most {worst:.1f} ({where})", worst <= 3


CLAIMS = (
    Claim("content grouping loses nothing, at any rate", of_group),
    Claim("rate 1 loses nothing: it is a longer memory", at_rate_one),
    Claim("at a = 8 the KL from the induction head is that from the uncompressed answer within 0.01",
          head_is_unc),
    Claim("at rate 2 selection (decimate, most-used) loses least of what is not exact",
          selection_first),
    Claim("a convolution trained by attention reconstruction loses less than by auto-encoding, "
          "a = 3 and 8", ar_before_ae),
    Claim("mean pooling moves attention away: less than half of its true share at a = 8, c = 4",
          mean_loses_mass),
    Claim("a reference table of 150 sequences is met within 3 standard errors", like_the_reference),
)


def make(folder):
    found = Measured("memory_rates", folder, ("rates", "plain", "counts", "encoded"))
    style.save(draw(found), folder, "memory_rates")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
