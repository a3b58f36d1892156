"""Prints 50 kernels whose parent at lag 2 is strong and whose parent at lag 1 counts for a share:
kernels.py SHARE > shareSHARE.json. pi = (1 - SHARE) q(. | x_-2) + SHARE r(. | x_-1, x_-2), every entry of
q and r being 0.05 + 0.9 Beta(1/2, 1/2)."""

import json
import random
import sys

share = float(sys.argv[1])
draw = random.Random(1)


def chance():
    return 0.05 + 0.9 * draw.betavariate(0.5, 0.5)


kernels = []
for _ in range(50):
    q = [chance() for _ in range(2)]
    r = [[chance() for _ in range(2)] for _ in range(2)]
    one = [[round((1 - share) * q[second] + share * r[first][second], 4) for second in range(2)]
           for first in range(2)]
    kernels.append({"vocab": 2, "parents": [1, 2],
                    "pi": [[[round(1 - p, 4), p] for p in row] for row in one]})
print('{"kernels": [\n' + ",\n".join(map(json.dumps, kernels)) + "\n]}")
