"""The transformer's formulas once more, in another language and for one prompt."""
import numpy as np


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def by_hand(x, model, mask, subsets):
    """(2.2) to (2.5) and (B.2) for one prompt: the heads' attention, s, sigma and y."""
    w = np.array(model["w"])
    H, M = w.shape
    d, L = model["vocab"], len(x)
    full = "W_Q" in model
    one_hot = np.vstack([np.eye(d)[x], np.zeros(d)])  # the query is a row of zeros
    heads = np.zeros((H, L + 1, M))
    blocks = np.zeros((H + full, L + 1, d))
    if full:
        blocks[0] = one_hot
    for h in range(H):
        W_Q, W_K, W_V = (np.array(model[name][h]) if full else np.eye(d)
                         for name in ("W_Q", "W_K", "W_V"))
        for l in range(1, L + 1):  # from 0, the first position sees nothing
            lags = np.arange(1, min(l, M) + 1)
            content = one_hot[l] @ W_Q @ W_K.T @ one_hot[l - lags].T if full else 0
            heads[h, l, :len(lags)] = softmax(w[h, :len(lags)] + content)
            blocks[h + full, l] = heads[h, l, :len(lags)] @ one_hot[l - lags] @ W_V

    def kernel(l, m):
        products = (blocks[:, l] * blocks[:, m]).sum(1)
        return sum(c * c * products[[bit == "1" for bit in S]].prod()
                   for c, S in zip(model["c"], subsets) if c)

    seen = range(M if mask else 0, L)
    C_D = np.square(model["c"]).sum()
    lengths = [np.sqrt(kernel(l, l) * kernel(L, L)) if full else C_D for l in seen]
    s = np.array([kernel(l, L) / length if length else 0 for l, length in zip(seen, lengths)])
    sigma = np.zeros(L)
    sigma[seen] = softmax(model["a"] * s)
    return heads, s, sigma, sigma @ one_hot[:L]
