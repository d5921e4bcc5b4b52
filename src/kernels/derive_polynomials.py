#!/usr/bin/env python3
"""Derives the polynomials of math.inc: Remez exchange in 60 digits, coefficients rounded to float.

The coefficients are rounded one after the other, lowest power first, and the rest is fitted again,
so that rounding costs almost nothing. Needs mpmath and numpy; takes about two minutes. Prints, for
each function, the error bound of the unrounded fit and the coefficients as hexadecimal floats.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def round_to_float(value):
    return mp.mpf(float(np.float32(float(value))))


def extrema(errors, count):
    """Indices of the largest error of each sign run, trimmed to `count` from the weaker end."""
    found = []
    start = 0
    while start < len(errors):
        positive = errors[start] >= 0
        best = end = start
        while end < len(errors) and (errors[end] >= 0) == positive:
            if abs(errors[end]) > abs(errors[best]):
                best = end
            end += 1
        found.append(best)
        start = end
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


def remez(function, powers, interval, weight, grid_size=4000):
    """The polynomial with these powers that minimises max |(p - function) * weight|."""
    low, high = interval
    count = len(powers) + 1
    centre, radius = (low + high) / 2, (high - low) / 2
    points = [centre - radius * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    grid = [centre - radius * mp.cos(mp.pi * i / grid_size) for i in range(grid_size + 1)]
    values = [(x, function(x), weight(x)) for x in grid]
    for _ in range(12):
        matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                matrix[i, j] = x**power
            matrix[i, count - 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(count - 1)]
        errors = [
            (sum(c * x**power for c, power in zip(coefficients, powers)) - y) * w
            for x, y, w in values
        ]
        peaks = extrema(errors, count)
        if len(peaks) < count:
            break
        points = [grid[i] for i in peaks]
        sizes = [abs(errors[i]) for i in peaks]
        if max(sizes) / min(sizes) < 1.001:
            break
    return coefficients, max(abs(e) for e in errors)


def fit(name, function, degree, interval, weight):
    fixed = []
    bound = None
    for first in range(degree + 1):
        def rest(x):
            return function(x) - sum(c * x**power for power, c in enumerate(fixed))

        coefficients, error = remez(rest, list(range(first, degree + 1)), interval, weight)
        bound = bound or error
        fixed.append(round_to_float(coefficients[0]))
    print(name, "2^%.1f" % float(mp.log(bound, 2)), [float(c).hex() for c in fixed], flush=True)


def main():
    tiny = mp.mpf("1e-9")
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0005")

    # e^r = 1 + r + r^2 p(r); weighted for the relative error of e^r - 1, the harder of its uses.
    fit("expm1",
        lambda r: (mp.expm1(r) - r) / r**2 if abs(r) > tiny else mp.mpf(1) / 2 + r / 6, 5,
        (-half_ln2, half_ln2), lambda r: r**2 / abs(mp.expm1(r)) if abs(r) > tiny else tiny)

    # log(1 + f) = f - f^2 / 2 + f^3 p(f).
    fit("log",
        lambda f: (mp.log1p(f) - f + f * f / 2) / f**3 if abs(f) > mp.mpf("1e-8")
        else mp.mpf(1) / 3 - f / 4, 8,
        (mp.sqrt(mp.mpf("0.5")) - 1 - mp.mpf("1e-6"), mp.sqrt(2) - 1 + mp.mpf("1e-6")),
        lambda f: abs(f**3 / mp.log1p(f)) if abs(f) > tiny else tiny**2)

    # erf(x) = x + x p(x^2) up to 0.92, and 1 - exp(-q(x)) from there.
    switch = mp.mpf("0.92")

    def near(t):
        return mp.erf(mp.sqrt(t)) / mp.sqrt(t) - 1 if t > tiny**2 else 2 / mp.sqrt(mp.pi) - 1

    fit("erf near", near, 6, (mp.mpf(0), switch**2), lambda t: 1 / (1 + near(t)))
    fit("erf far", lambda x: -mp.log(mp.erfc(x)), 7, (switch, mp.mpf("3.95")),
        lambda x: mp.erfc(x) / mp.erf(x))


if __name__ == "__main__":
    main()
