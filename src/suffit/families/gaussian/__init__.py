"""Gaussian columns from second moments about an origin.

One subject in these files, in the order of a fit:

- ``diagonal.py``: independent columns (n, Σx, Σx²); ``lognormal.py``: the same of log x.
- ``moments.py``: the sums of joint columns, Σxxᵀ by class or pooled; with missing values also by pattern or by pairs.
- ``joint.py``: the family of joint columns. ``covariances`` turns sums into Σ_c(tie), shrunk and ridged; ``scorer``
  factors them.
- ``missing/``: before that, where values are missing, EM over the sums of patterns (``em.py``) makes them the expected
  sums of complete rows; ``few_pairs.py`` says what stands beside classes with few pairs.
- ``few_rows/``: where rows are fewer than columns, rows are kept with their counts, and work happens in their space.
- ``scores.py``: diagonal, own and shared Gaussian scores; ``student_t.py`` heavier tails; ``terms.py`` the same by
  columns, for explanations.
- ``leave_one_out/``: every row without itself: ``diagonal.py`` in closed form, ``exact.py`` by rank-one downdates,
  ``approximate.py`` to compare settings, ``missing.py`` and ``em.py`` where values are missing.
- ``shrinkage.py``: Ledoit–Wolf and OAS from sums; ``auto.py``: which structure of covariances, by leave-one-out.
"""
