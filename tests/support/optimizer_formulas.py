"""Steps of every optimizer in plain NumPy, float64, from the formula of its source.

`FORMULAS[name](settings)` gives a function of (parameter, gradient, step from 1) -> parameter.
"""

import numpy as np


def sgd(lr, momentum=0.0, nesterov=False, weight_decay=0.0):
    """Sutskever et al. 2013 in PyTorch's form."""
    v = 0.0

    def step(p, g, t):
        nonlocal v
        g = g + weight_decay * p
        v = momentum * v + g
        return p - lr * (g + momentum * v if nesterov else v)

    return step


def adam(lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    """Kingma, Ba 2015; decoupled: Loshchilov, Hutter 2019."""
    m = v = 0.0

    def step(p, g, t):
        nonlocal m, v
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        return p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)

    return step


def adamw(lr, weight_decay=1e-2, **settings):
    """Loshchilov, Hutter 2019."""
    return adam(lr, weight_decay=weight_decay, decoupled=True, **settings)


def adagrad(lr, lr_decay=0.0, eps=1e-10, weight_decay=0.0):
    """Duchi et al. 2011."""
    s = 0.0

    def step(p, g, t):
        nonlocal s
        g = g + weight_decay * p
        s = s + g * g
        return p - lr / (1 + (t - 1) * lr_decay) * g / np.sqrt(s + eps)

    return step


def adadelta(lr, rho=0.9, eps=1e-6, weight_decay=0.0):
    """Zeiler 2012, algorithm 1."""
    u = v = 0.0

    def step(p, g, t):
        nonlocal u, v
        g = g + weight_decay * p
        v = rho * v + (1 - rho) * g * g
        d = g * np.sqrt(u + eps) / np.sqrt(v + eps)
        u = rho * u + (1 - rho) * d * d
        return p - lr * d

    return step


def rmsprop(lr, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False):
    """Tieleman, Hinton 2012; centered: Graves 2013."""
    v = mean = b = 0.0

    def step(p, g, t):
        nonlocal v, mean, b
        g = g + weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        mean = alpha * mean + (1 - alpha) * g
        variance = v - mean**2 if centered else v
        b = momentum * b + g / (np.sqrt(variance) + eps)
        return p - lr * b

    return step


def adamax(lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """Kingma, Ba 2015, algorithm 2."""
    m = u = 0.0

    def step(p, g, t):
        nonlocal m, u
        g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        u = np.maximum(betas[1] * u, np.abs(g) + eps)
        return p - lr / (1 - betas[0] ** t) * m / u

    return step


def nadam(lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
    """Dozat 2016."""
    m = v = 0.0
    product = 1.0

    def mu(t):
        return betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))

    def step(p, g, t):
        nonlocal m, v, product
        g = g + weight_decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        product = product * mu(t)
        ahead = (1 - mu(t)) * g / (1 - product) + mu(t + 1) * m / (1 - product * mu(t + 1))
        return p - lr * ahead / (np.sqrt(v / (1 - betas[1] ** t)) + eps)

    return step


def radam(lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """Liu et al. 2020, algorithm 2."""
    m = v = 0.0
    longest = 2 / (1 - betas[1]) - 1

    def step(p, g, t):
        nonlocal m, v
        g = g + weight_decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        corrected, power = m / (1 - betas[0] ** t), betas[1] ** t
        length = longest - 2 * t * power / (1 - power)
        if length <= 5:
            return p - lr * corrected
        share = (length - 4) * (length - 2) * longest
        share /= (longest - 4) * (longest - 2) * length
        return p - lr * np.sqrt(share) * corrected / (np.sqrt(v / (1 - power)) + eps)

    return step


def adafactor(lr=1e-2, beta2_decay=-0.8, eps=(1e-3, 1e-3), d=1.0, weight_decay=0.0):
    """Shazeer, Stern 2018, algorithms 4 and 5, with the limits of PyTorch's Adafactor."""
    rows = columns = 0.0

    def step(p, g, t):
        nonlocal rows, columns
        new = t**beta2_decay
        rows = (1 - new) * rows + new * (g * g).mean(-1, keepdims=True)
        columns = (1 - new) * columns + new * (g * g).mean(-2, keepdims=True)
        v = rows @ columns / np.maximum(rows.mean(-2, keepdims=True), eps[0])
        u = g / np.sqrt(np.maximum(v, eps[0] ** 2))
        scale = max(eps[1], np.sqrt((p * p).mean())) * min(lr, 1 / np.sqrt(t))
        return p * (1 - lr * weight_decay) - scale * u / max(1, np.sqrt((u * u).mean()) / d)

    return step


def lion(lr, betas=(0.9, 0.99), weight_decay=0.0):
    """Chen et al. 2023, algorithm 2."""
    m = 0.0

    def step(p, g, t):
        nonlocal m
        direction = np.sign(betas[0] * m + (1 - betas[0]) * g)
        m = betas[1] * m + (1 - betas[1]) * g
        return p - lr * (direction + weight_decay * p)

    return step


def ftrl(lr, beta=1.0, l1=0.0, l2=0.0, weight_decay=0.0):
    """McMahan et al. 2013, algorithm 1: alpha is lr."""
    z = n = 0.0

    def step(p, g, t):
        nonlocal z, n
        g = g + weight_decay * p
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / lr
        z, n = z + g - sigma * p, n + g**2
        value = -(z - np.sign(z) * l1) / ((beta + np.sqrt(n)) / lr + l2)
        return np.where(np.abs(z) <= l1, 0.0, value)

    return step


def lamb(lr, betas=(0.9, 0.999), eps=1e-8, bias_correction=True, weight_decay=0.0,
         always_adapt=False):  # fmt: skip
    """You et al. 2020, algorithm 2, with MegEngine's choices."""
    m = v = 0.0

    def step(p, g, t):
        nonlocal m, v
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        both = [1 - beta**t if bias_correction else 1 for beta in betas]
        d = (m / both[0]) / (np.sqrt(v / both[1]) + eps) + weight_decay * p
        norms, ratio = (np.linalg.norm(p), np.linalg.norm(d)), 1.0
        if (always_adapt or weight_decay > 0) and min(norms) > 0:
            ratio = norms[0] / norms[1]
        return p - lr * ratio * d

    return step


def lars(lr, momentum=0.9, weight_decay=0.0, trust=1e-3, eps=1e-8):
    """You et al. 2017, algorithm 1."""
    v = 0.0

    def step(p, g, t):
        nonlocal v
        norms, ratio = (np.linalg.norm(p), np.linalg.norm(g)), 1.0
        if min(norms) > 0:
            ratio = trust * norms[0] / (norms[1] + weight_decay * norms[0] + eps)
        v = momentum * v + lr * ratio * (g + weight_decay * p)
        return p - v

    return step


FORMULAS = {
    "Adadelta": adadelta,
    "Adafactor": adafactor,
    "Adagrad": adagrad,
    "Adam": adam,
    "AdamW": adamw,
    "Adamax": adamax,
    "Ftrl": ftrl,
    "LAMB": lamb,
    "LARS": lars,
    "Lion": lion,
    "Nadam": nadam,
    "RAdam": radam,
    "RMSprop": rmsprop,
    "SGD": sgd,
}

# (name, settings): each setting of each optimizer takes part at least once.
CASES = [
    ("SGD", {"lr": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.01, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.2}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.5, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 1.0}),
    ("Adadelta", {"lr": 0.5, "rho": 0.5, "eps": 1e-3, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "eps": 1e-2, "centered": True}),
    ("Adamax", {"lr": 0.01}),
    ("Adamax", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Nadam", {"lr": 0.01}),
    ("Nadam", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1,
               "momentum_decay": 0.1}),
    ("RAdam", {"lr": 0.01}),
    ("RAdam", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.001, "betas": (0.0, 0.5)}),
    ("Adafactor", {"lr": 0.1, "eps": (1e-3, 1e-3)}),
    ("Adafactor", {"lr": 0.1, "eps": (1e-3, 0.1), "beta2_decay": -0.5, "d": 0.5,
                   "weight_decay": 0.1}),
    ("Lion", {"lr": 0.001}),
    ("Lion", {"lr": 0.001, "betas": (0.5, 0.9), "weight_decay": 0.1}),
    ("Ftrl", {"lr": 0.1}),
    ("Ftrl", {"lr": 0.1, "beta": 0.5, "l1": 0.5, "l2": 0.1, "weight_decay": 0.1}),
    ("LAMB", {"lr": 0.01}),
    ("LAMB", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("LAMB", {"lr": 0.01, "bias_correction": False, "always_adapt": True}),
    ("LARS", {"lr": 1.0}),
    ("LARS", {"lr": 1.0, "momentum": 0.5, "weight_decay": 0.1, "trust": 0.01, "eps": 1e-3}),
]  # fmt: skip
