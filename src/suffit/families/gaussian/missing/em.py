"""Jointly Gaussian columns with missing values, completed by EM: expected sums of complete rows, from sums by pattern.

The sums of a pattern are those of few vectors: √n x̄ of each class and the roots of the scatter about it; a pattern of
one row is one vector.  A step completes every vector by regression on the columns that are there, adds the covariances
that the regressions leave, and takes the parameters of what that gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core.stats import CLASS, PATTERN, Layout, Stats
from ....core.stats import ROUNDING as TAKEN_OUT
from ....data.arrays import Array, freeze
from ....data.labels import Index
from ....data.warn import MissingValuesWarning, warn_absent, warn_once
from ....kernels.runtime.threads import in_order, one_blas_thread, row_blocks
from .few_pairs import Prior, without_maximum
from .patterns import NO_VARIANCE, Flags, cells_of, cells_of_pairs, completed_pairs, pair_covariances, rows_of, there

Parameters = Callable[[Stats], tuple[Array, Array]]  # completed sums → means (K, p), covariances (K, p, p) or (1, p, p)
Known = Sequence["Completed | None"]  # what EM comes to for each class, where that is known before
Priors = Callable[["Completion", Array], Prior | None]  # with at least so many rows of each class (K,)

CONVERGED = 1e-11  # a step that changes no mean or covariance by more than this, in standard deviations, is the last
MOST_STEPS = 500
MOST_WORK = 2e10  # products that all steps may take, about 20 seconds of a core: more, and pairs take the place of EM
MEMORY = 10  # steps that are looked back on for where they lead
PATIENCE = 100  # steps after which the last ten need to have gained something
ENOUGH = 1e-6  # log-likelihood for each row: less is no gain
ROUNDING = 1e-14  # share of a sum that is no more than rounding
BLOCK = 1 << 19  # numbers in the covariances of the units that a thread takes at once
WELL = 1e-8  # share of each column's variance left after regression on the others, for S⁻¹ to have digits enough
FEW_ROWS = (
    10  # times the number of columns: with fewer rows, the likelihood of rows with missing values may have no maximum
)
LEAST_SPREAD = 0.02  # eigenvalue of correlations that EM's steps then keep to


def spread_out(cov: Array, n: float) -> Array:
    """The covariance, with few rows for its columns raised to a least correlation eigenvalue where it is below that."""
    if n >= FEW_ROWS * len(cov):
        return cov
    scale = np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    there = scale > 0
    R = cov[np.ix_(there, there)] / scale[there, None] / scale[there]
    try:
        if (np.diagonal(np.linalg.cholesky(R)) ** 2 >= LEAST_SPREAD).all():
            return cov
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(R)
    out = np.zeros_like(cov)
    raised = (vectors * np.maximum(values, LEAST_SPREAD)) @ vectors.T
    out[np.ix_(there, there)] = raised * scale[there, None] * scale[there]
    return out


@dataclass(frozen=True)
class Vectors:
    """The sums of patterns as vectors z with Σ z zᵀ the sum of squares; z stands for z − root·μ of its class."""

    patterns: NDArray[np.int64]  # of each unit
    n: Array  # rows of each unit
    first: NDArray[np.int64]  # where the vectors of each unit begin, and where the last end
    Z: Array
    root: Array
    of_class: NDArray[np.int64]

    @staticmethod
    def of(observed: Flags, n: Array, x: Array, xx: Array, noise: Array, group: int) -> Vectors:
        """The vectors of one class, or of all that share their squares (−1); ``noise`` (p,) is rounding in squares."""
        from ....kernels.missing import pattern_vectors

        counts, p = np.zeros(len(observed), np.int64), x.shape[-1]
        for _ in range(2):  # count, then write
            V = int(counts.sum())
            Z, root, of_class = np.zeros((V, p)), np.zeros(V), np.zeros(V, np.int64)
            pattern_vectors(observed, n, x, xx, group, ROUNDING, noise, counts, Z, root, of_class)
        some = np.flatnonzero(counts)
        rows = np.maximum(n, 0.0).sum(axis=0) if group < 0 else n[group]
        first = np.concatenate([[0], np.cumsum(counts[some])])
        return Vectors(some, freeze(rows[some]), first, freeze(Z), freeze(root), of_class)


@dataclass(frozen=True)
class Normal:
    """A covariance S as steps need it: with S⁻¹ = WᵀW and log|S| over the columns that vary, where these are sound."""

    S: Array
    P: Array
    W: Array
    log_det: float

    rank: int  # −1 where S is no covariance

    @staticmethod
    def of(S: Array) -> Normal:
        """Without S⁻¹ where columns are combinations of others, or nearly."""
        p = len(S)
        varies = np.diagonal(S) > 0
        scale = np.sqrt(np.diagonal(S)[varies])
        R = S[np.ix_(varies, varies)] / scale[:, None] / scale
        nothing = np.zeros((0, p))
        try:
            L = np.linalg.cholesky(R)
            inverse = np.linalg.solve(L, np.eye(len(L)))
        except np.linalg.LinAlgError:
            values = np.linalg.eigvalsh(R)
            rank = -1 if values.min() < -p * NO_VARIANCE else int((values > p * NO_VARIANCE).sum())
            return Normal(freeze(S), freeze(nothing), nothing, 0.0, rank)
        if ((inverse**2).sum(axis=0) > 1 / WELL).any():  # the diagonal of S⁻¹ is 1 over the share of variance left
            values = np.linalg.eigvalsh(R)
            return Normal(freeze(S), freeze(nothing), nothing, 0.0, int((values > p * NO_VARIANCE).sum()))
        W = np.zeros((p, p))
        W[np.ix_(varies, varies)] = inverse / scale
        log_det = float(2 * (np.log(np.diagonal(L)).sum() + np.log(scale).sum()))
        return Normal(freeze(S), freeze(W.T @ W), W, log_det, len(L))


@dataclass(frozen=True)
class Step:
    """From sums to expected sums (both as one vector, the latter as they are too), with the parameters between."""

    start: Array
    end: Array
    sums: dict[str, Array]
    likelihood: float
    relative: Array  # means, from the origin
    normals: list[Normal]  # covariances, in standardised columns

    @property
    def length(self) -> float:
        """How far the sums moved, in standard deviations."""
        return float(np.abs(self.end - self.start).max(initial=0.0))


@dataclass(frozen=True)
class Completed:
    """Expected sums of complete rows, and the observed-data log-likelihood along the way to them."""

    sums: dict[str, Array]
    likelihoods: tuple[float, ...]
    converged: bool
    singular: Flags  # which covariances have columns that are combinations of others, or nearly
    each: Known = ()  # the same of every class, where they have no parameters in common


class Completion:
    """EM over the sums of patterns, in standardised columns: expected sums, parameters, expected sums, …"""

    prior: Prior | None = None  # rows that stand beside those of the classes

    def __init__(self, stats: Stats, parameters: Parameters, unseen: tuple[Array, Array] | None = None) -> None:
        """``unseen`` are means (K, p) and variances (p,) to begin with where a class has no value of a column."""
        self.stats, self.parameters = stats, parameters
        p = stats["x"].shape[1]
        o = there(stats)
        self.observed = freeze(np.concatenate([o, np.ones((1, p), bool)]))  # complete rows are a pattern too
        self.rows = rows_of(stats)
        self.cells = cells_of(stats)[0]  # values of each class and column, (K, p)
        shift, within = self.available = self._available(unseen)
        self.scale = np.where(within > 0, np.sqrt(np.maximum(within, 0.0)), 1.0)
        self.first = self._sums(self.rows[:, None] * shift, self._spread(shift, within))
        self.unit = self._units(shift)
        s, pooled = self.scale, stats["xx"].ndim == 2
        n = freeze(np.concatenate([stats["part_n"], stats["n"][:, None]], axis=1))
        x = freeze(np.concatenate([stats["part_x"], stats["x"][:, None]], axis=1) / s)
        xx = np.concatenate([stats["part_xx"], stats["xx"][..., None, :, :]], axis=-3) / s[:, None] / s
        self.most_steps = int(max(PATIENCE, min(MOST_STEPS, MOST_WORK / work_of(stats))))
        groups = [(-1, xx)] if pooled else list(enumerate(xx))
        noise = _rounding_in(stats) / s**2
        self.groups = [Vectors.of(self.observed, n, x, freeze(squares), noise[g], g) for g, squares in groups]

    def _available(self, unseen: tuple[Array, Array] | None) -> tuple[Array, Array]:
        """Means of the values that are there, from the origin, and variances within classes.  # → (K, p), (p,)"""
        n, x, squares = cells_of(self.stats)
        origin = np.asarray(self.stats.origin)
        shift = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
        squares = squares.sum(axis=0) if squares.ndim == 2 else squares
        N = n.sum(axis=0)
        within = np.divide(squares - (x * shift).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
        middle = np.divide((n * (origin + shift)).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
        within = np.where(within > 1e-13 * squares / np.maximum(N, 1), within, 0)
        means, variances = (middle - origin, within) if unseen is None else unseen
        return np.where(n > 0, shift, means), np.where(N > 0, within, variances)

    def _units(self, shift: Array) -> Array:
        """The standard deviations that steps are measured in: each class's own, where squares are kept by class."""
        n, _, squares = cells_of(self.stats)
        if squares.ndim == 1:
            return np.broadcast_to(self.scale, shift.shape)
        own = np.divide(squares, n, out=np.zeros_like(n), where=n > 0) - shift**2
        return np.where(own > 1e-13 * shift**2, np.sqrt(np.maximum(own, 0.0)), self.scale)

    def _spread(self, shift: Array, within: Array) -> Array:
        """Squares of rows with these means and variances and no correlations."""
        own = self.rows[:, None, None] * (np.diag(within) + shift[:, :, None] * shift[:, None, :])
        return own.sum(axis=0) if self.stats["xx"].ndim == 2 else own

    def _sums(self, x: Array, xx: Array) -> dict[str, Array]:
        return {"n": self.rows, "x": x, "xx": xx}

    def beside(self, stats: Stats) -> Stats:
        """Sums with the rows of the prior beside them."""
        return stats if self.prior is None else self.prior.added(stats)

    def step(self, sums: dict[str, Array]) -> Step:
        """M, then E: expected sums under the parameters of these sums, and the log-likelihood of these parameters.

        With the logarithm of the prior, where there is one.
        """
        means, S = self.parameters(self.beside(replace(self.stats, sums={**self.stats.sums, **sums})))
        s = self.scale
        relative = means - np.asarray(self.stats.origin)
        m = freeze(relative / s)
        normals = [Normal.of(cov / s[:, None] / s) for cov in S]
        likelihood, e, T = -float(self.cells.sum(axis=0) @ np.log(s)), np.zeros_like(m), []
        with one_blas_thread():
            for g, vectors in enumerate(self.groups):
                part, de, squares = self._expected(vectors, m, normals[g if len(normals) > 1 else 0])
                likelihood, e = likelihood + part, e + de
                T.append(squares)
        likelihood += 0.0 if self.prior is None else self.prior.log_density(normals, s)
        e = e * s
        xx = np.stack(T) * s[:, None] * s
        cross = e[:, :, None] * relative[:, None, :]
        moved = cross + cross.transpose(0, 2, 1) + np.einsum("c,ci,cj->cij", self.rows, relative, relative)
        xx = xx[0] + moved.sum(axis=0) if self.stats["xx"].ndim == 2 else xx + moved
        after = self._sums(e + self.rows[:, None] * relative, xx)
        return Step(self._flat(sums), self._flat(after), after, likelihood, relative, normals)

    def _expected(self, vectors: Vectors, m: Array, normal: Normal) -> tuple[float, Array, Array]:
        """Log-likelihood, E Σ(x − μ) by class and E Σ(x − μ)(x − μ)ᵀ of the rows that these vectors stand for."""
        from ....kernels.missing import expect

        p, v = m.shape[1], vectors

        def work(lo: int, hi: int) -> tuple[float, Array, Array]:
            out, e, C = np.empty((v.first[hi] - v.first[lo], p)), np.zeros_like(m), np.zeros((p, p))
            likelihood = expect(
                self.observed, v.patterns, v.n, v.first, v.Z, v.root, v.of_class, m, normal.S, normal.P,
                normal.log_det, NO_VARIANCE, lo, hi, out, e, C,
            )  # fmt: skip
            squares = out @ normal.W.T  # empty where S⁻¹ is
            return likelihood - 0.5 * float((squares * squares).sum()), e, out.T @ out + C + np.tril(C, -1).T

        likelihood, e, T = 0.0, np.zeros_like(m), np.zeros((p, p))
        for part, de, dT in in_order(work, row_blocks(len(v.patterns), p * p, BLOCK)):
            likelihood, e, T = likelihood + part, e + de, T + dT
        return likelihood, e, T

    def _flat(self, sums: dict[str, Array]) -> Array:
        """Sums as one vector of means and mean squares in standard deviations."""
        return np.concatenate([(sums[k] / size).reshape(-1) for k, size in self._sizes.items()])

    def _unflat(self, v: Array) -> dict[str, Array]:
        x, xx = self._sizes["x"], self._sizes["xx"]
        return self._sums(v[: x.size].reshape(x.shape) * x, v[x.size :].reshape(xx.shape) * xx)

    @property
    def _sizes(self) -> dict[str, Array]:
        n, u, s = np.where(self.rows > 0, self.rows, 1.0), self.unit, self.scale
        if self.stats["xx"].ndim == 2:
            return {"x": u * n[:, None], "xx": s[:, None] * s * n.sum()}
        return {"x": u * n[:, None], "xx": u[:, :, None] * u[:, None, :] * n[:, None, None]}

    def run(self) -> Completed:
        """Steps until nothing moves; each from where the last few lead (Anderson 1965), if that is no worse for it, and
        else from where the last one came to.

        Worse by likelihood.  Covariances that are shrunk or tied are not the likeliest, and a step may lower the
        likelihood: where one has, the length of steps decides.  Where the values that are there say next to nothing of
        some direction, steps move along it for ever: after many of them, no more gain is enough.
        """
        seen = [self.step(self.first)]
        path, lengths, rises = [seen[0].likelihood], [seen[0].length], True
        for _ in range(self.most_steps - 1):
            last = seen[-1]
            if last.length < CONVERGED:
                return self._ended(last, path, True)
            if len(path) > PATIENCE and not self._gains(path if rises else lengths, rises):
                falls = np.diff(path[-1 - MEMORY :]).min() < -self._little  # to and fro: no end is near
                return self._ended(last, path, rises and not falls)
            reached = self._leap(seen) if len(seen) > 1 else None
            if reached is None or self._is_worse(reached, last, rises):
                seen, reached = [last], self._sound_step(last.sums)
                rises = rises and reached is not None and not self._is_worse(reached, last, True)
            if reached is None:
                return self._ended(last, path, False)
            path.append(reached.likelihood)
            lengths.append(reached.length)
            seen = [*seen[-MEMORY:], reached]
        return self._ended(seen[-1], path, False)

    @property
    def _little(self) -> float:
        return ENOUGH * float(self.rows.sum())

    def _gains(self, path: list[float], rises: bool) -> bool:
        """Whether the last few steps have: likelihood, or half of the shortest length before."""
        if rises:
            return path[-1] - path[-1 - MEMORY] >= self._little
        return min(path[-PATIENCE // 2 :]) < 0.5 * min(path[: -PATIENCE // 2])

    @staticmethod
    def _is_worse(reached: Step, last: Step, rises: bool) -> bool:
        if rises:
            return reached.likelihood < last.likelihood - ROUNDING * abs(last.likelihood)
        return reached.length > last.length

    def run_each(self, known: Known = ()) -> Completed:
        """The same for classes that have no parameters in common, one by one; what is known of others is taken."""
        means, variances = self.available
        ended: list[Completed] = []
        for c in range(len(self.rows)):
            if known and (found := known[c]) is not None:
                ended.append(found)
                continue
            one = Completion(self.stats.take(CLASS, [c]), self.parameters, (means[[c]], variances))
            one.prior = None if self.prior is None else self.prior.of_class(c)
            one.most_steps = self.most_steps
            ended.append(one.run())
        sums = {k: np.concatenate([done.sums[k] for done in ended]) for k in ended[0].sums}
        steps = max(len(done.likelihoods) for done in ended)
        paths = [np.pad(done.likelihoods, (0, steps - len(done.likelihoods)), mode="edge") for done in ended]
        converged = all(done.converged for done in ended)
        likelihoods, singular = tuple(np.sum(paths, axis=0).tolist()), np.concatenate([d.singular for d in ended])
        return Completed(sums, likelihoods, converged, singular, tuple(ended))

    @staticmethod
    def _ended(last: Step, path: list[float], converged: bool) -> Completed:
        return Completed(last.sums, tuple(path), converged, np.array([not len(v.W) for v in last.normals]))

    def _leap(self, seen: list[Step]) -> Step | None:
        """A step from Σ wₖ (end of step k), Σ wₖ = 1, with the w for which Σ wₖ (length of step k) is least."""
        felt = self._felt(np.stack([step.end - step.start for step in seen]), seen[-1])
        if not np.isfinite(felt).all():
            return None
        back = np.diff(felt, axis=0).T
        size = np.linalg.norm(back, axis=0)
        size = np.where(size > 0, size, 1.0)
        Q, R = np.linalg.qr(back / size)
        w = np.linalg.lstsq(R, Q.T @ felt[-1], rcond=1e-10)[0] / size
        there = self._unflat(seen[-1].end - w @ np.diff(np.stack([step.end for step in seen]), axis=0))
        reached = self._sound_step(there)  # a leap may land where no covariance is: it is then not taken
        if reached is None:
            return None
        alike = [normal.rank for normal in reached.normals] == [normal.rank for normal in seen[-1].normals]
        return reached if alike else None  # likelihoods of unlike ranks do not compare

    def _sound_step(self, sums: dict[str, Array]) -> Step | None:
        """A step, unless it leads to what is no number: from sums that no covariance has, or hardly one."""
        with np.errstate(all="ignore"):
            try:
                reached = self.step(sums)
            except np.linalg.LinAlgError:
                return None
        return reached if np.isfinite(reached.likelihood) and np.isfinite(reached.end).all() else None

    def _felt(self, moves: Array, at: Step) -> Array:
        """Moves of sums as the likelihood feels them: W dΣz and W(dΣzzᵀ − μ dΣzᵀ − dΣz μᵀ)Wᵀ with WᵀW = Σ⁻¹.

        In units of the columns where some Σ is singular.
        """
        if not all(len(normal.W) for normal in at.normals):
            return moves
        sizes, K = self._sizes, len(self.rows)
        dx = moves[:, : sizes["x"].size].reshape(-1, *sizes["x"].shape) * sizes["x"]
        dxx = moves[:, sizes["x"].size :].reshape(-1, *sizes["xx"].shape) * sizes["xx"]
        W = np.stack([normal.W for normal in at.normals]) / self.scale  # (K or 1, p, p)
        n = np.maximum(self.rows, 1.0)
        cross = at.relative[:, :, None] * dx[:, :, None, :]
        cross = cross + np.swapaxes(cross, -1, -2)
        squares = dxx - cross.sum(axis=1) if dxx.ndim == 3 else dxx - cross  # (k, p, p) or (k, K, p, p)
        each = W if dxx.ndim == 4 else W[0]
        weigh = 1 / np.sqrt(2 * n)[:, None, None] if dxx.ndim == 4 else 1 / np.sqrt(2 * n.sum())
        a = np.einsum("cij,kcj->kci", np.broadcast_to(W, (K, *W.shape[1:])), dx, optimize=True) / np.sqrt(n)[:, None]
        b = each @ squares @ np.swapaxes(each, -1, -2) * weigh
        return np.concatenate([a.reshape(len(moves), -1), b.reshape(len(moves), -1)], axis=1)


def _rounding_in(stats: Stats) -> Array:
    """How much of the squares of each class is rounding, once rows have been taken out.  # → (K, p), or (1, p)"""
    squares = cells_of(stats)[2]
    return np.atleast_2d(np.zeros_like(squares) if stats.noise is None else TAKEN_OUT * stats.noise)


def work_of(stats: Stats) -> float:
    """About how many products a step of EM takes: to invert the smaller side of each pattern, and to complete rows."""
    o = there(stats)
    p, a = o.shape[1], o.sum(axis=1).astype(np.float64)
    b = p - a
    each = np.minimum(b**3 / 2, (a**3 + 3 * a * b * p) / 6) + 2 * p**2
    has = stats["part_n"] > 0
    units = has.any(axis=0) if stats["xx"].ndim == 2 else has.sum(axis=0)
    return float(units @ each) + 20.0 * p**3  # and the parameters


def completed(
    stats: Stats,
    parameters: Parameters,
    columns: Sequence[str],
    plain: Layout,
    asked: bool,
    prior: Priors | None = None,
    apart: bool = False,
    known: Known = (),
) -> Stats:
    """The sums that complete rows are expected to have had; the sums themselves where no row has a missing value.

    Sums of pairs are there because they were asked for, or because patterns were too many, which is said.
    """
    if "pair_n" not in stats.sums and not stats["part_n"].any():
        return stats
    coarser = stats.layout.coarser
    short = "keep the sums of each pattern"
    if coarser is not None and PATIENCE * work_of(stats) > MOST_WORK:
        stats, short = coarser.turn(stats), "run EM over them"
    if "pair_n" in stats.sums:
        if not asked:
            warn_once(
                MissingValuesWarning,
                f"the rows have too many patterns of missing values to {short}: each covariance is estimated from the "
                "rows that have both columns, which is less exact than maximum likelihood; drop columns that are "
                "mostly missing, or use fewer columns",
            )
        warn_absent(cells_of_pairs(stats)[0], stats.axes[CLASS].labels, columns)
        sums = completed_pairs(stats, pair_covariances(stats))
        return Stats(plain, {**stats.axes, PATTERN: Index(())}, sums, stats.origin)
    completion, done = solved(stats, parameters, prior, apart, known)
    warn_absent(completion.cells, stats.axes[CLASS].labels, columns)
    if completion.prior is not None:
        _warn_made_up(completion, completion.prior, done)
    if not done.converged:
        warn_once(
            MissingValuesWarning,
            f"EM for the missing values has not converged after {len(done.likelihoods)} steps; use shrinkage if there "
            "are few rows for so many columns",
        )
    empty = {k: stats[k].take([], axis=stats.layout.dims[k].index(PATTERN)) for k in ("part_n", "part_x", "part_xx")}
    sums = {k: a for k, a in {**stats.sums, **done.sums, **empty}.items() if k in plain.dims}
    return completion.beside(Stats(plain, {**stats.axes, PATTERN: Index(())}, sums, stats.origin))


def solved(
    stats: Stats, parameters: Parameters, prior: Priors | None, apart: bool = False, known: Known = ()
) -> tuple[Completion, Completed]:
    """EM, with the prior's rows beside those of classes that need them: once more where it shows only at the end.

    Where classes share no parameters (``apart``), EM of each ends by itself: no class depends on the rows of others,
    and what is ``known`` of them, without rows of a prior, holds where they have none now.
    """
    completion = Completion(stats, parameters)
    completion.prior = prior(completion, np.zeros(len(stats["n"]))) if prior else None

    def run() -> Completed:
        return completion.run_each(without_prior(known, completion.prior)) if apart else completion.run()

    done = run()
    if prior and done.singular.any():
        before = completion.prior
        completion.prior = prior(completion, np.where(done.singular, stats["x"].shape[1] + 1.0, 0.0))
        done = done if completion.prior is before else run()
    return completion, replace(done, each=without_prior(done.each, completion.prior))


def without_prior(known: Known, prior: Prior | None) -> Known:
    """What is known of the classes beside which no rows of a prior stand; None for the others."""
    return known if prior is None else [k if rows <= 0 else None for k, rows in zip(known, prior.rows, strict=False)]


def _warn_made_up(completion: Completion, prior: Prior, done: Completed) -> None:
    """Name the classes whose likelihood has no maximum."""
    varies = np.einsum("cjj->cj", prior.target).any(axis=0)
    odd = [
        c
        for c, (rows, v) in enumerate(zip(prior.rows, completion.groups, strict=True))
        if rows and without_maximum(completion.observed[:, varies], v.patterns, np.diff(v.first) - 1)
    ]
    if odd:
        classes = completion.stats.axes[CLASS].labels
        names = ", ".join(repr(classes[c]) for c in odd[:10]) + (" …" if len(odd) > 10 else "")
        warn_once(
            MissingValuesWarning,
            f"class {names}: with so many values missing, the likelihood of its covariance has no maximum "
            f"({completion.rows[odd].min():g} rows, {int(varies.sum())} columns that vary): about "
            f"{prior.rows[odd].max():.3g} pseudo-rows with the correlations of all classes are added; set tie or "
            "shrinkage to control this",
        )
