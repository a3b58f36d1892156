"""What the paper's authors published of their runs (logs beside their code), at a few epochs, as facts
to hold runs against. Their losses are divided once more by the number of sequences; here they are
means in nats. They hold one loss less than epochs, so the last is that of the epoch before."""

import numpy as np


def _table(first, text):
    """Columns by name: epoch, a, loss (of training) and p_S of the subsets that grow; first: what the
    first epoch adds to a."""
    names, *rows = (line.split() for line in text.split("\n") if line)
    return dict(zip(names, np.array(rows, dtype=float).T), first=first)


#: Joint training of the simplified model.
SIMPLIFIED = _table(0.05413, """
epoch       a    loss   p_110   p_101   p_011
    0    0.01  0.9031  0.1429  0.1429  0.1429
   10  0.7011  0.8487  0.9959  0.0002  0.0024
  100   4.278  0.6690  1.0000  0.0000  0.0000
 1000   7.281  0.6507  1.0000  0.0000  0.0000
 5000   8.983  0.6498  1.0000  0.0000  0.0000
20000  10.395  0.6496  1.0000  0.0000  0.0000
50000  11.351  0.6496  1.0000  0.0000  0.0000
""")

#: The full model from small word matrices, rate 0.001.
FULL_10000 = _table(6.724e-7, """
epoch       a    loss   p_110   p_101   p_011
    0    0.01  0.9036  0.1429  0.1429  0.1429
  100 0.01009  0.9036  0.1422  0.1422  0.1422
  500 0.01193  0.9035  0.1343  0.1323  0.1359
  800  0.0304  0.8985  0.2111  0.1440  0.3207
 1000 0.09418  0.8624  0.0221  0.0059  0.9720
 1200  0.1803  0.8137  0.0000  0.0000  1.0000
 1500  0.2911  0.7554  0.0000  0.0000  1.0000
 2000  0.4045  0.6954  0.4379  0.1584  0.4037
 3000  0.5138  0.6634  0.4972  0.2530  0.2497
 5000  0.5728  0.6573  0.5376  0.2325  0.2299
10000  0.6096  0.6547  0.5728  0.2197  0.2075
""")

#: The full model from W_V = I, rate 0.01.
FULL_2500 = _table(3.586e-3, """
epoch       a    loss   p_110   p_101   p_011
    0    0.01  0.9001  0.1429  0.1429  0.1429
   10 0.06756  0.8547  0.7813  0.0801  0.1386
   30  0.2089  0.7426  1.0000  0.0000  0.0000
  100  0.3897  0.6606  1.0000  0.0000  0.0000
  300  0.4691  0.6536  1.0000  0.0000  0.0000
 1000  0.5398  0.6508  0.7562  0.1105  0.1333
 2500  0.5796  0.6505  0.7518  0.1092  0.1390
""")
