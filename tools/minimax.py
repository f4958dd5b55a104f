#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the polynomials in wick/kernels/math-inl.h.

Finds minimax polynomials with the exchange algorithm of Remez (see Muller, "Elementary Functions",
chapter 3) in 60-digit arithmetic and prints them, lowest degree first.
Needs mpmath. `minimax.py NAME...` prints the tables named, without names all of them.
"""

import sys

from mpmath import mp, mpf

mp.dps = 60


def solve(f, weight, nodes, degree):
    """The polynomial whose weighted error takes +e, -e, +e, ... at the nodes."""
    a = mp.matrix(degree + 2, degree + 2)
    b = mp.matrix(degree + 2, 1)
    for i, x in enumerate(nodes):
        for j in range(degree + 1):
            a[i, j] = x**j
        a[i, degree + 1] = (-1) ** i / weight(x)
        b[i] = f(x)
    s = mp.lu_solve(a, b)
    return [s[j] for j in range(degree + 1)], s[degree + 1]


def remez(f, low, high, degree, weight=None, rounds=12, grid=None):
    """Minimax coefficients of f on [low, high] and the error weighted by `weight` (default 1/|f|)."""
    low, high = mpf(low), mpf(high)
    if weight is None:
        weight = lambda x: 1 / abs(f(x))
    grid = grid or 24 * (degree + 2)
    half, mid = (high - low) / 2, (high + low) / 2
    nodes = [mid - half * mp.cos(mp.pi * i / (degree + 1)) for i in range(degree + 2)]
    points = [mid - half * mp.cos(mp.pi * (i + mpf("0.5")) / grid) for i in range(grid)]
    points = [low] + points + [high]
    values = [(x, f(x), weight(x)) for x in points]
    worst = None
    for _ in range(rounds):
        c, e = solve(f, weight, nodes, degree)
        errors = [(x, w * (mp.polyval(c[::-1], x) - fx)) for x, fx, w in values]
        # One extremum for each stretch of equal sign.
        extrema = []
        for x, err in errors:
            if extrema and (extrema[-1][1] > 0) == (err > 0):
                if abs(err) > abs(extrema[-1][1]):
                    extrema[-1] = (x, err)
            else:
                extrema.append((x, err))
        while len(extrema) > degree + 2:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        worst = max(abs(err) for _, err in extrema)
        if len(extrema) < degree + 2 or worst < abs(e) * mpf("1.002"):
            break
        nodes = [x for x, _ in extrema]
    return c, worst


def erfcx_mapped(t, k):
    """(1 + 2z) exp(z^2) erfc(z) for t = (z - k) / (z + k), t in [-1, 1)."""
    if t > 1 - mpf(10) ** -12:
        return 2 / mp.sqrt(mp.pi)
    z = k * (1 + t) / (1 - t)
    if z > 200:
        s = mpf(1)
        term = mpf(1)
        for n in range(1, 12):
            term *= -mpf(2 * n - 1) / (2 * z * z)
            s += term
        return (1 + 2 * z) * s / (z * mp.sqrt(mp.pi))
    return (1 + 2 * z) * mp.exp(z * z) * mp.erfc(z)


def gelu_tail(w, c):
    """(z + c) exp(z^2 / 2) erfc(z / sqrt(2)) / 2 for w = z / (z + c)."""
    z = c * w / (1 - w)
    return (z + c) * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2)) / 2


def tables():
    half_ln2 = mp.log(2) / 2
    over = mpf("1.01")
    quarter_pi = mp.pi / 4 * over

    exp_tail = lambda r: (mp.expm1(r) - r) / (r * r)  # exp = 1 + r + r^2 q(r)
    safe = lambda f: lambda x: f(x if abs(x) > mpf(10) ** -20 else mpf(10) ** -20)
    exp_weight = lambda r: r * r + mpf("1e-6")
    s2 = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * over
    # log m = 2 atanh(s) = 2s + s w R(w), w = s^2
    log_tail = lambda w: (2 * mp.atanh(mp.sqrt(w)) / mp.sqrt(w) - 2) / w
    pow_tail = lambda w: (log_tail(w) - mpf(2) / 3) / w
    log32_tail = lambda f: (mp.log1p(f) - f + f * f / 2) / f**3
    sin_tail = lambda w: (mp.sin(mp.sqrt(w)) / mp.sqrt(w) - 1) / w
    cos_tail = lambda w: (mp.cos(mp.sqrt(w)) - 1 + w / 2) / (w * w)
    erf_ratio = lambda w: mp.erf(mp.sqrt(w)) / mp.sqrt(w)
    wide = mpf("1e-8")  # avoids 0/0 at the left end of ranges in w = x^2
    return {
        # name: (function, low, high, degree, weight)
        "exp64": (safe(exp_tail), -half_ln2 * over, half_ln2 * over, 10, exp_weight),
        "exp32": (safe(exp_tail), -half_ln2 * over, half_ln2 * over, 4, exp_weight),
        "exp_short": (safe(exp_tail), -half_ln2 * over, half_ln2 * over, 6, exp_weight),
        "log64": (safe(log_tail), wide, s2, 7, None),
        "log_short": (safe(log_tail), wide, s2, 4, None),
        "pow64": (safe(pow_tail), wide, s2, 7, None),
        "log32": (safe(log32_tail), mp.sqrt(mpf("0.5")) / over - 1, mp.sqrt(2) * over - 1, 8,
                  lambda f: abs(f**3 / mp.log1p(f)) if f else mpf("1e-20")),
        "sin64": (safe(sin_tail), wide, quarter_pi**2, 6, lambda w: w),
        "cos64": (safe(cos_tail), wide, quarter_pi**2, 6, lambda w: w * w),
        "sin_short": (safe(sin_tail), wide, quarter_pi**2, 3, lambda w: w),
        "cos_short": (safe(cos_tail), wide, quarter_pi**2, 3, lambda w: w * w),
        "erf64": (safe(erf_ratio), wide, mpf(1), 12, None),
        "erf_short": (safe(erf_ratio), wide, mpf(1), 7, None),
        "erfcx64": (lambda t: erfcx_mapped(t, mpf("3.75")), -1, 1, 25, None),
        # Where gelu_erf is not 0: z up to 15.
        "gelu_erf32": (lambda t: gelu_tail(t + mpf("0.34375"), mpf("3.5")), -mpf("0.34375"),
                       mpf(15) / mpf("18.5") - mpf("0.34375"), 9, None),
        "erfcx_short": (lambda t: erfcx_mapped(t, mpf("3.75")), -1, 1, 14, None),
    }


def main(names):
    for name, (f, low, high, degree, weight) in tables().items():
        if names and name not in names:
            continue
        c, error = remez(f, low, high, degree, weight)
        print(f"{name}: error 2^{float(mp.log(error, 2)):.2f}")
        for x in c:
            value = float(x)
            print(f"    {value!r},  // {value.hex()}")


if __name__ == "__main__":
    main(sys.argv[1:])
