#!/usr/bin/env python3
"""A run beside an archive (.npz) of the authors' published results: training loss, p_S, a, and the RPE
weights at the end, ours on the left.

Reads from the archive: C_list (epochs x subsets), alphas (codes of the subsets, first the residual
block), a_list, W_after (column h: head h, which sees lags h to h+M-1), train_loss_list*, which is
divided once more by the number of sequences. Makes OUTPUT.png and OUTPUT.pdf.
"""

import argparse
import pathlib
import zipfile

import matplotlib.pyplot as plt
import numpy as np

import runfile
import style


class Archive:
    """One published result, in the terms of a run file."""

    def __init__(self, path, sequences, lags):
        try:
            with np.load(path, allow_pickle=False) as stored:
                found = {name: stored[name] for name in stored.files}
            loss = next(name for name in sorted(found) if name.startswith("train_loss_list"))
            c = found["C_list"].astype(float)
            self.subsets = [str(code)[1:] for code in found["alphas"]]
            self.p = c**2 / (c**2).sum(1, keepdims=True)
            self.a = found["a_list"].ravel()
            self.loss = found[loss].ravel() * sequences
            columns = found["W_after"].reshape(-1, found["W_after"].shape[-1])
        except StopIteration:
            raise runfile.RunFileError(f"{path}: has no train_loss_list") from None
        except KeyError as error:
            raise runfile.RunFileError(f"{path}: has no {error.args[0]}") from None
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise runfile.RunFileError(f"{path}: not an archive of numpy arrays: {error}") from None
        self.w = np.array([columns[h:h + lags, h] for h in range(columns.shape[1])])


def draw(run, archive, name):
    rows = run.stage(1)
    figure = plt.figure(figsize=(style.WIDTH, 0.95 * style.WIDTH))
    curves, weights = figure.subfigures(2, 1, height_ratios=(2, 1))
    (ours, theirs), (growth, loss) = curves.subplots(2, 2)
    last = max(rows.step[-1], len(archive.a) - 1)
    for axes, steps, p, subsets, title in (
            (ours, rows.step, rows.p, run.subsets, f"(a) subsets: {run.name}"),
            (theirs, np.arange(len(archive.p)), archive.p, archive.subsets, f"(b) subsets: {name}")):
        axes.set_title(title)
        axes.set_ylabel("$p_S$")
        style.draw_p(axes, steps, p, subsets)
    style.subset_legend(ours, run.subsets, loc="center right")
    for axes, ours_y, theirs_y, label in ((growth, rows.a, archive.a, "$a$"),
                                          (loss, rows.train_loss, archive.loss,
                                           "training loss [nats]")):
        axes.set_title(f"({'c' if axes is growth else 'd'}) {label}")
        axes.plot(rows.step, ours_y, color=style.FIRST, label=run.name)
        axes.plot(np.arange(len(theirs_y)), theirs_y, color=style.SECOND, linestyle=(0, (4, 1.5)),
                  label=name)
        axes.set_ylabel(label)
        axes.legend()
    for axes in (ours, theirs, growth, loss):
        style.log_epochs(axes, last)
        axes.set_xlabel("epoch")
    limit = max(np.abs(run.last["w"]).max(), np.abs(archive.w).max())
    panels = weights.subplots(1, 2)
    for axes, w, title in zip(panels, (run.last["w"], archive.w),
                              (f"(e) RPE at the end: {run.name}", f"(f) {name}")):
        style.draw_weights(axes, w, limit, title, shifted=True)
        axes.set_ylabel("lag")
    weights.colorbar(style.weight_colours(limit), ax=list(panels), label="weight $w^{(h)}$")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path, metavar="RUN.h5")
    parser.add_argument("archive", type=pathlib.Path, metavar="ARCHIVE.npz")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("compare_released"),
                        help="beginning of the names of the pictures (default: %(default)s)")
    parser.add_argument("--sequences", type=int, default=9000,
                        help="training sequences of the published run (default: %(default)s)")
    options = parser.parse_args()
    try:
        for ending in ("png", "pdf"):
            if (there := options.output.with_name(f"{options.output.name}.{ending}")).exists():
                raise runfile.RunFileError(f"{there}: exists; choose another name with -o")
        run = runfile.Run(options.run)
        archive = Archive(options.archive, options.sequences, run.last["w"].shape[1])
        if archive.w.shape != run.last["w"].shape or set(archive.subsets) != set(run.subsets):
            raise runfile.RunFileError(
                f"{options.archive}: {archive.w.shape[0]} heads and {len(archive.subsets)} subsets, "
                f"the run has {run.last['w'].shape[0]} and {len(run.subsets)}")
        style.save(draw(run, archive, options.archive.stem), options.output.parent,
                   options.output.name)
    except (runfile.RunFileError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
