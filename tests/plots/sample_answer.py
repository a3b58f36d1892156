"""Synthetic answers of `gih evaluate` and `gih information`, for testing what reads them: the numbers
have the shape of real ones but are invented. Needs no package, so a stand-in for gih starts fast."""

import math

SUBSETS = ["000", "100", "010", "110", "001", "101", "011"]

# Factor of 1/L and what stays at L = inf of each predictor's distance to the true law.
EXCESS = {"conditional": (0, 0), "bayes": (1, 0), "bayes-mixture": (1.1, 0), "gih": (1.3, 0),
          "model": (1.35, 0), "trigram": (1.4, 0), "bigram": (1, 0.1), "unigram": (1, 0.3)}
# ||y - GIH||_1 at a = (log L)/8, from the closed form.
TO_GIH = {30: 0.4296, 100: 0.4043, 300: 0.3811, 1000: 0.3556, 3000: 0.3325, 10000: 0.3076}


def answer(length, *, against="model", only=None, rest=0.0, excess=None, loss=0.2):
    """What `gih evaluate --summary --json` says of sequences of this length, in part. The model never
    comes nearer to the true law than `rest`; `excess` may change rows of EXCESS."""
    known = {**EXCESS, "model": (EXCESS["model"][0], rest), **(excess or {})}
    names = ["model", *(only or (name for name in known if name != "model"))]
    apart = {name: factor / length + stays for name, (factor, stays) in known.items()}

    def number(mean, error):
        return {"mean": mean, "error": error, "count": 20000, "infinite": 0}

    def measures(name, less=None):
        found = {}
        for measure, power in (("loss", 1), ("risk", 1), ("squared", 1), ("tv", 0.5), ("kl", 1)):
            mean = apart[name] ** power + (loss if measure in ("loss", "risk") else 0)
            if less:
                mean = apart[less] ** power - apart[name] ** power
            found[measure] = number(mean, 1e-3 * (abs(mean) + 1e-3))
            if measure == "kl" and not name.startswith(("bayes", "cond")):
                found[measure] = {"mean": None, "error": None, "count": 20000, "infinite": 9}
        return found

    others = [name for name in names if name != against]
    return {"against": against, "measures": {name: measures(name) for name in names},
            "differences": {name: measures(name, against) for name in others},
            "distances": {name: number(TO_GIH.get(length, 0.3), 0.004) for name in others}}


def preference(share, *, finite):
    """What `gih information --json` says of kernels in which lag 1 has this share, in part."""
    lead = 0.04 * (0.6 - share)
    star, other = ("010", "110") if lead > 0 else ("110", "010")
    modified = [0, 0.01, 0.04, 0.04 - lead, 0.005, 0.01, 0.02]
    found = {"subsets": SUBSETS, "modified": modified,
             "standard": [0, 0.02, 0.13, 0.15, 0.01, 0.02, 0.14], "S_star": star}
    if finite:
        found.update(finite=modified, finite_S_star=star, finite_runner_up=other, finite_gap_error=1e-4)
    return found


def predictions(length, *, power=-0.5):
    """What `gih evaluate --json` says of sequences of this length, in part."""
    tv = {"mean": length ** power, "error": length ** power / 50}
    kl = {"mean": tv["mean"] ** 2, "error": tv["mean"] ** 2 / 30}
    return {"measures": {name: {"tv": tv, "kl": kl} for name in ("model", "gih")}}


def evaluate(arguments, length):
    """What `gih evaluate` with these arguments says in one of the experiments."""
    options = dict(zip(arguments, arguments[1:]))
    run = options["--parameters"]
    if "--summary" not in arguments:
        return predictions(length)
    both = "/partial/" in run and options.get("--subset") == "010"
    return answer(
        length, against=options.get("--against", "model"),
        only=options["--only"].split(",") if "--only" in options else None,
        rest=0.2 if "alpha001" in run else 0.007 if "/partial/" in run else 0,
        excess={"bayes": (0.5, 0), "gih": (1.35, 0.0071) if both else (3, 0)} if "/partial/" in run else None,
        loss=0.2 + 0.1 * math.log10(length / 100) if options.get("--epsilon") == "auto" else 0.2)


def information(arguments):
    """What `gih information` with these arguments says in one of the experiments."""
    options = dict(zip(arguments, arguments[1:]))
    kernels = options.get("--kernel") or options["--data.kernels"]
    share = float(kernels.rsplit("share")[-1].removesuffix(".json"))
    return preference(share, finite="--finite" in arguments)
