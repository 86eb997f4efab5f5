"""Student's t distribution, for any degrees of freedom greater than 0: fractions of one, too.

SciPy has it, but takes longer to import than all that a table needs otherwise. Standard library only.
"""

import math
from functools import lru_cache

_MAX_GAMMA = 150.0
"""`math.gamma` overflows beyond 171."""
_MAX_LOG = 340.0
"""Of a quantile, whose square is a float; a larger one is infinite."""
_SMALL = 1e-300
_LAST_STEP = 1e-9
"""Newton's steps become smaller by their square: after this one, only the float's own error is left."""
_PRECISION = 1e-15
_MAX_STEPS = 10_000


def two_sided_p(df: float, t: float) -> float:
    """Return the probability that the absolute value of a t with `df` degrees of freedom exceeds `|t|`."""
    a, square = df / 2, t * t
    x, y = 1 / (1 + square / df), 1 / (1 + df / square) if square else 0.0
    if not x or not y:
        return x
    log_scale = -a * math.log1p(square / df) - math.log1p(df / square) / 2
    scale = math.exp(log_scale) * _gamma_ratio(a) / math.sqrt(math.pi)
    # The regularized incomplete beta function I_x(a, 1/2), from whichever side converges.
    if x <= (a + 1) / (a + 2.5):
        return scale / (a * _continued_fraction(a, 0.5, x))
    return 1 - scale / (0.5 * _continued_fraction(0.5, a, y))


@lru_cache(maxsize=1024)
def two_sided_quantile(df: float, p: float) -> float:
    """Return the t that `two_sided_p` gives the probability `p`, which is greater than 0 and at most 1.

    The logarithm of the probability is a concave function of the logarithm of t, so Newton's method finds it
    from anywhere.
    """
    if p >= 1:
        return 0.0
    log_t, step = 0.0, 1.0
    while abs(step) > _LAST_STEP:
        t = math.exp(log_t)
        found = two_sided_p(df, t)
        if not found:  # far beyond it
            log_t /= 2
            continue
        step = found * math.log(found / p) / (2 * t * _density(df, t))
        if log_t + step > _MAX_LOG and log_t == _MAX_LOG:
            return math.inf
        log_t = min(log_t + step, _MAX_LOG)
    return math.exp(log_t)


def _density(df: float, t: float) -> float:
    scale = _gamma_ratio(df / 2) / math.sqrt(math.pi * df)
    return scale * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


def _gamma_ratio(a: float) -> float:
    """Return gamma(a + 1/2) / gamma(a)."""
    if a < _MAX_GAMMA:
        return math.gamma(a + 0.5) / math.gamma(a)
    # The asymptotic series: the next term is below the precision of a float.
    terms = 1 - 1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4)
    return math.sqrt(a) * (terms - 399 / (262144 * a**5))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, _MAX_STEPS):
        m, odd = divmod(step, 2)
        if odd:
            factor = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)) * x
        else:
            factor = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)) * x
        d = 1 / (1 + factor * d or _SMALL)
        c = 1 + factor / c or _SMALL
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value
