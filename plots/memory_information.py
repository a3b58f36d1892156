"""What memories no longer know, and what a past tells beside the last k tokens, from
RESULTS_FOLDER/split.h5 and the answers of gih information there.

(a) Loss against Bayes, split into information that is lost and what the softmax makes of the rest; (b)
Delta I over k under a prior, for a full snapshot, the table of transitions, and token counts, n = 12;
(c) the same for two known chains of order 2; (d) mutual information of tokens over their lag, with the
slope 2 log |lambda_2|, and under the prior.
Writes memory_information.png, memory_information.pdf and verdict.txt, and prints the verdicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style
from memory_table import Table
from verdict import Claim, report

ORDER = 2
EXACT = 1e-12
SNAPSHOTS = {"full": ("full", "#000000", "o"), "table": ("transition table", "#0072B2", "s"),
             "counts": ("token counts", "#D55E00", "^")}
CHAINS = {"chain": ("chain", style.FIRST), "xor": ("chain of parities", style.SECOND)}


class Information:
    name = "memory_information"

    def __init__(self, folder):
        self.split = Table(folder / "split.h5")
        read = lambda name: runfile.read_json(folder / f"{name}.json")
        self.annealed = {name: np.array(read(f"annealed_{name}")["delta"]) for name in SNAPSHOTS}
        self.known = {(chain, name): np.array(read(f"{chain}_{name}")["delta"])
                      for chain in CHAINS for name in ("full", "counts")}
        self.lags = {name: read(f"{name}_lags") for name in (*CHAINS, "prior")}

    def of(self, compressor, field):
        return self.split.one(field, compressor=compressor)


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(style.WIDTH, 0.8 * style.WIDTH))
    axes = panels[0, 0]
    names = list(found.split["compressor"])
    information = np.array([found.of(name, "information") for name in names])
    reading = np.array([found.of(name, "reading") for name in names])
    axes.bar(names, information, color=style.SECOND, label="information lost",
             yerr=[found.of(name, "information_error") for name in names],
             error_kw={"elinewidth": 0.8})
    axes.bar(names, reading, bottom=information, color="#56B4E9", label="lost in reading",
             yerr=[found.of(name, "total_error") for name in names], error_kw={"elinewidth": 0.8})
    for place, value in enumerate(information):
        axes.text(place, information[place] + reading[place] + 0.022, f"{value:.1g}", ha="center",
                  fontsize=7, color=style.SECOND)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("KL from Bayes, nats")
    axes.set_ylim(0, 1.25 * (information + reading).max())
    axes.set_title("(a) what is lost, $c$ = 4, $L$ = 61")
    axes.legend(loc="upper right", ncols=2)
    axes = panels[0, 1]
    for name, (label, colour, marker) in SNAPSHOTS.items():
        axes.plot(found.annealed[name], color=colour, marker=marker, markersize=4, label=label)
    axes.axvline(1, color=style.GREY, linewidth=0.8)
    axes.set_title("(b) under a Dirichlet(1/2) prior of order 1")
    axes = panels[1, 0]
    for chain, (label, colour) in CHAINS.items():
        for name, dash in (("full", "-"), ("counts", (0, (3, 1.2)))):
            axes.plot(found.known[chain, name], color=colour, linestyle=dash,
                      marker=SNAPSHOTS[name][2], markersize=4, label=f"{label}, {name}")
    axes.axvline(ORDER, color=style.GREY, linewidth=0.8)
    axes.set_title("(c) of known kernels of order 2")
    for axes in (panels[0, 1], panels[1, 0]):
        axes.set_ylim(0)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("tokens $k$ that are known beside it (line: order)")
        axes.set_ylabel(r"$\Delta I(k)$, nats")
        axes.legend()
    draw_lags(panels[1, 1], found)
    return figure


def draw_lags(axes, found):
    for name, (label, colour) in CHAINS.items():
        values = np.array(found.lags[name]["mutual"])
        lags = np.arange(1, len(values) + 1)
        seen = values > 1e-20  # the parities' information is 0 at most lags
        axes.plot(lags[seen], values[seen], ".", color=colour, label=label)
        rate = 2 * np.log(found.lags[name]["lambda_2"])
        last = np.flatnonzero(seen)[-1]
        axes.plot(lags, values[last] * np.exp(rate * (lags - lags[last])), color=colour,
                  linewidth=0.8, linestyle=(0, (4, 1.5)))
    prior = found.lags["prior"]
    axes.plot(range(1, len(prior["mutual"]) + 1), prior["mutual"], color="black", marker=".",
              markersize=3, linewidth=0.8, label="under the prior")
    axes.axhline(prior["plateau"], color=style.GREY, linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(1e-12, 3)
    axes.set_xlabel("lag")
    axes.set_ylabel("mutual information, nats")
    axes.set_title(r"(d) by lag; dashed: slope $2 \log |\lambda_2|$")
    axes.legend(loc="lower left")


def keeps_information(found):
    lost = {name: found.of(name, "information") for name in ("drop", "mean")}
    return f"drop {lost['drop']:.3f}, mean {lost['mean']:.1e}", lost["mean"] < 0.05 * lost["drop"]


def adds_up(found):
    worst = np.abs(found.split["total"] - found.split["information"] - found.split["reading"]).max()
    return f"to {worst:.0e}", worst < EXACT


def screened(found):
    worst = max(np.abs(values[ORDER:]).max() for values in found.known.values())
    return f"at most {worst:.0e}", worst < EXACT


def stays_above(found):
    last = found.annealed["full"][-1]
    return f"{last:.3f} at k = {len(found.annealed['full']) - 1}", last > 1e-3


def table_suffices(found):
    worst = np.abs(found.annealed["table"][1:] - found.annealed["full"][1:]).max()
    return f"to {worst:.0e}", worst < EXACT


def rises(found):
    values = {chain: found.known[chain, "counts"] for chain in CHAINS}
    return ", ".join(f"{chain} {one[0]:.4f} to {one[1]:.4f}" for chain, one in values.items()), all(
        one[1] > one[0] for one in values.values())


def full_falls(found):
    falls = max(np.diff(values).max() for name, values in
                [*((name, values) for (_, name), values in found.known.items() if name == "full"),
                 ("full", found.annealed["full"])])
    return f"largest step {falls:+.0e}", falls < EXACT


def slope(found):
    chain = found.lags["chain"]
    rate = 2 * np.log(chain["lambda_2"])
    return f"{chain['slope']:.4f} against {rate:.4f}", abs(chain["slope"] / rate - 1) < 0.02


def not_monotone(found):
    values = found.lags["chain"]["mutual"]
    return ", ".join(f"{value:.3f}" for value in values[:4]), values[0] < values[1] < values[2]


def plateau(found):
    prior = found.lags["prior"]
    last = np.mean(prior["mutual"][-2:])
    return f"{last:.4f}, at infinite lag {prior['plateau']:.4f}", (
        prior["plateau"] > 0 and abs(last / prior["plateau"] - 1) < 0.25)


CLAIMS = (
    Claim("the loss is the sum of its two parts", adds_up),
    Claim("means lose next to no information, and dropping the same items does", keeps_information),
    Claim("beside r tokens of a known kernel no snapshot adds anything", screened),
    Claim("under a prior a past of any length does", stays_above),
    Claim("from k = 1 on the table of transitions is as good as the whole past", table_suffices),
    Claim("a full snapshot is needed less the more tokens are known", full_falls),
    Claim("token counts are not: of both chains they add more at k = 1 than at k = 0", rises),
    Claim("the information of two tokens falls with the slope 2 log |lambda_2| in the end, within 2 %",
          slope),
    Claim("but not from the start: it rises up to lag 3", not_monotone),
    Claim("under a prior it does not fall to 0", plateau),
)


def make(folder):
    found = Information(folder)
    style.save(draw(found), folder, "memory_information")
    return report(CLAIMS, [found], folder / "verdict.txt")


if __name__ == "__main__":
    runfile.main(__doc__, make)
