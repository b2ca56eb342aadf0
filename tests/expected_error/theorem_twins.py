"""The theorems as they are printed: sums over subsets, in exact rationals or in many digits."""

from fractions import Fraction
from itertools import combinations
from math import comb

import mpmath


def pmf(m, e):
    e = Fraction(e)
    return [comb(m, s) * e**s * (1 - e) ** (m - s) for s in range(m + 1)]


def subset_sum(errors, counts, m):
    """Equation 3.4 literally: over hypotheses, minima and subsets of tied hypotheses."""
    hypotheses = [k for k, n in enumerate(counts) for _ in range(n)]
    laws = [pmf(m, e) for e in errors]
    answer = [Fraction(0)] * len(errors)
    for j, k in enumerate(hypotheses):
        others = hypotheses[:j] + hypotheses[j + 1 :]
        for s in range(m + 1):
            inner = Fraction(0)
            for size in range(len(others) + 1):
                for tied in combinations(range(len(others)), size):
                    product = Fraction(1, size + 1)
                    for i, other in enumerate(others):
                        law = laws[other]
                        product *= law[s] if i in tied else sum(law[s + 1 :])
                    inner += product
            answer[k] += laws[k][s] * inner
    return answer


def many_digits(errors, counts, m, digits=40):
    """Theorem 6 with the ties as an integral over t of a polynomial, by mpmath."""
    with mpmath.workdps(digits):
        e = [mpmath.mpf(x) for x in errors]
        n = [mpmath.mpf(x) for x in counts]
        b = [[mpmath.binomial(m, s) * x**s * (1 - x) ** (m - s) for s in range(m + 1)] for x in e]
        above = [[mpmath.mpf(0)] for _ in e]  # from the right: all terms are positive
        for law, sums in zip(b, above, strict=True):
            for mass in law[:0:-1]:
                sums.insert(0, sums[0] + mass)
        answer = [mpmath.mpf(0)] * len(e)
        for s in range(m + 1):
            at_least = [b[k][s] + above[k][s] for k in range(len(e))]
            if not all(at_least):
                break
            log_all = mpmath.fsum(x * mpmath.log(c) for x, c in zip(n, at_least, strict=True))
            if log_all < -80:
                break
            rate = mpmath.fsum(n[k] * b[k][s] / at_least[k] for k in range(len(e)))
            scale = 1 / (1 + rate)
            points = [mpmath.mpf(0)]
            while points[-1] < 1:  # all of the integral lies within some multiples of 1/rate of t = 1
                points.append(min(mpmath.mpf(1), scale if len(points) == 1 else 2 * points[-1]))

            def others(u, k, s=s):
                t = 1 - u
                powers = [
                    (n[i] - (i == k)) * mpmath.log(t * b[i][s] + above[i][s])
                    for i in range(len(e))
                    if n[i] != (i == k) and t * b[i][s] + above[i][s]
                ]
                return mpmath.exp(mpmath.fsum(powers))

            for k in range(len(e)):
                answer[k] += n[k] * b[k][s] * mpmath.quad(lambda u, k=k: others(u, k), points, maxdegree=5)
        return [float(x) for x in answer]
