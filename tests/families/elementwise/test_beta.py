"""Beta: the concentration, and log B where log Γ has lost its digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from suffit.families.elementwise.beta import Beta, log_beta, parameters_of


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (9e3, 2e4), (1.1e4, 1.2e4), (1e5, 1e10), (1e10, 3e4), (2e8, 3e8)])
def test_log_beta_is_exact_for_large_numbers(a: float, b: float):
    with mpmath.workdps(50):
        exact = float(mpmath.log(mpmath.beta(mpmath.mpf(a), mpmath.mpf(b))))
    np.testing.assert_allclose(log_beta(np.array(a), np.array(b)), exact, rtol=1e-14)


@pytest.mark.parametrize("share", [1e-9, 1e-5, 0.003, 0.5, 0.7, 0.99999])
def test_a_class_that_does_not_vary_has_its_mean_and_a_concentration_that_rounding_does_not_move(share: float):
    t = Beta().T(np.full((1, 1), share))[0]
    each = [parameters_of(t[:, 0] * (1 + e), t[:, 1] * (1 + f)) for e in (-1e-15, 1e-15) for f in (-1e-15, 1e-15)]
    a, b = np.array(each)[:, :, 0].T
    np.testing.assert_allclose(a / (a + b), share, rtol=0.06)  # a is ½ too many
    assert np.ptp(np.log(a)) < 1e-13
    assert np.ptp(np.log(b)) < 1e-13
