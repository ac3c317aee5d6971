"""Settings of the mail filter tuned on what it has learned: smoothing and calibration by leave-one-out.

The score of a learned message under the sums without it needs no refit: its own tokens are subtracted from the counts.
NumPy is imported inside, so that the path that classifies a message stays light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .model import Sums
from .settings import PARTS, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FIRST, GROWTH = 20, 2  # messages after which settings are first tuned, and the factor to the next time
LEAST = 4  # messages of each class, learned and looked at, below which the defaults stay
ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3)
PRICE = 0.5  # nats of log-loss that a step away from the default α has to gain
SPREAD = 0.4  # prior standard deviation of the weights about the defaults
INTERCEPT = 1.0  # prior standard deviation of the intercepts
# Rate of wrong labels: where EM starts, and its bounds. Ham that looks like spam in every way cannot be told from a
# wrong label; beyond the upper bound it is believed, and messages that look like it are unsure.
FIRST_ERRORS, LEAST_ERRORS, MOST_ERRORS = 0.005, 1e-6, 0.025
EM_STEPS, NEWTON_STEPS = 30, 20
TOLERANCE, SMALLEST_STEP = 1e-6, 1e-4


@dataclass(frozen=True)
class Sample:
    """Learned messages as flat arrays: the counts of their tokens without the message itself."""

    y: NDArray[np.intp]  # class of each message (n,)
    row: NDArray[np.intp]  # message of each token (m,)
    n: Array  # n_c(t) of each token, its own message left out (m, K)
    part: NDArray[np.intp]  # (m,)
    totals: Array  # T_c without the message (n, K)
    vocabulary: Array  # V without the message (n,)


def tune(
    messages: Iterable[tuple[int, Sequence[int]]],
    counts: Sequence[Sequence[int]],
    parts: Sequence[int],
    sums: Sums,
    settings: Settings | None = None,
    others: Iterable[tuple[int, Sequence[int]]] = (),
) -> Settings:
    """Settings tuned by leave-one-out over learned messages.

    The evidence of every message for every class is computed from the sums without it; a logistic regression of the
    class on the evidence of the parts gives the intercepts and the weights. The α of one part after the other is the
    one with the least leave-one-out log-loss.

    Parameters
    ----------
    messages : iterable of tuple of int and sequence of int
        Class and token ids of learned messages; a sample of some thousands does.
    counts : sequence of sequence of int
        n_c(t) by token id.
    parts : sequence of int
        The part of each token id, as `part_of` has it.
    sums : Sums
        What has been learned.
    settings : Settings, optional
        Those to start from: what is not tuned is kept.
    others : iterable of tuple of int and sequence of int, optional
        Messages whose class is known and that were not learned. Where only errors are learned they are needed: those
        are no sample of all messages.

    Returns
    -------
    Settings
        The tuned settings; the ones to start from where a class has fewer than LEAST messages, in the sums or among
        those given.
    """
    import numpy as np

    settings = settings or Settings()
    if len(sums.messages) < 2 or min(sums.messages) < LEAST or not sums.vocabulary:
        return settings
    messages, others = list(messages), list(others)
    if min(np.bincount([c for c, _ in [*messages, *others]], minlength=len(sums.classes))) < LEAST:
        return settings
    sample = sample_of(messages, counts, parts, sums, others)
    by_alpha = {alpha: features_of(sample, alpha, settings) for alpha in ALPHAS}  # (n, K, parts)

    def tried(alpha: tuple[float, ...]) -> tuple[float, Settings]:
        features = np.stack([by_alpha[a][:, :, part] for part, a in enumerate(alpha)], axis=2)
        loss, found = calibrated(features, sample.y, sums.classes, replace(settings, alpha=alpha))
        steps = sum(abs(ALPHAS.index(a) - ALPHAS.index(b)) for a, b in zip(alpha, Settings().alpha, strict=True))
        return loss + PRICE * steps / len(sample.y), found

    best = tried(Settings().alpha)
    for part in range(len(PARTS)):  # one part after the other
        alpha = best[1].alpha
        next_ones = [(*alpha[:part], a, *alpha[part + 1 :]) for a in ALPHAS if a != alpha[part]]
        best = min([best, *map(tried, next_ones)], key=lambda found: found[0])
    return replace(best[1], tuned_on=sum(sums.messages))


def leave_one_out(
    messages: Iterable[tuple[int, Sequence[int]]],
    counts: Sequence[Sequence[int]],
    parts: Sequence[int],
    sums: Sums,
    settings: Settings,
    against: str | None = None,
) -> Array:
    """Log-odds of spam of learned messages, each under the sums without it (of the last class, where none is spam).

    Parameters
    ----------
    messages : iterable of tuple of int and sequence of int
        Class and token ids of learned messages.
    counts : sequence of sequence of int
        n_c(t) by token id.
    parts : sequence of int
        The part of each token id, as `part_of` has it.
    sums : Sums
        What has been learned.
    settings : Settings
        As tuned.
    against : str, optional
        The class that spam is compared with; by default the most probable other.

    Returns
    -------
    array of float
        What `verdict` gives as log-odds, or the log-odds of its two probabilities, when a message has been unlearned.
    """
    import numpy as np

    sample = sample_of(messages, counts, parts, sums)
    features = np.stack([features_of(sample, a, settings)[:, :, p] for p, a in enumerate(settings.alpha)], axis=2)
    n = np.tile(np.asarray(sums.messages, dtype=float), (len(sample.y), 1))
    n[np.arange(len(sample.y)), sample.y] -= 1
    scores = features @ np.asarray(settings.weights) + settings.intercepts_of(sums.classes, sums.messages)  # (n, K)
    one = sums.classes.index("spam") if "spam" in sums.classes else len(sums.classes) - 1
    each = np.arange(len(sample.y))
    other = np.where(np.arange(len(sums.classes)) == one, -np.inf, scores).argmax(axis=1)
    x = np.column_stack([np.ones(len(sample.y)), features[:, one] - features[each, other]])
    variance = np.einsum("ni,ij,nj->n", x, np.asarray(settings.covariance), x)
    variance += settings.messages / 2 * (1 / (n[:, one] + 1) + 1 / (n[each, other] + 1))
    below = scores[:, sums.classes.index(against)] if against in sums.classes else scores[each, other]
    return np.asarray((scores[:, one] - below) / np.sqrt(1 + np.pi / 8 * variance))


def sample_of(
    messages: Iterable[tuple[int, Sequence[int]]],
    counts: Sequence[Sequence[int]],
    parts: Sequence[int],
    sums: Sums,
    others: Iterable[tuple[int, Sequence[int]]] = (),
) -> Sample:
    """The messages as arrays, the tokens of each learned one subtracted from the counts."""
    import numpy as np

    triples = [(c, np.asarray(ids, dtype=np.intp), 1) for c, ids in messages]
    triples += [(c, np.asarray(ids, dtype=np.intp), 0) for c, ids in others]
    y = np.array([c for c, _, _ in triples], dtype=np.intp)
    own = np.array([learned for _, _, learned in triples], dtype=np.intp)
    size = np.array([len(ids) for _, ids, _ in triples], dtype=np.intp)
    ids = np.concatenate([ids for _, ids, _ in triples])
    row = np.repeat(np.arange(len(y)), size)
    n = np.asarray(counts, dtype=float)[ids]  # (m, K)
    n[np.arange(len(ids)), y[row]] -= own[row]
    totals = np.tile(np.asarray(sums.totals, dtype=float), (len(y), 1))
    totals[np.arange(len(y)), y] -= own * size
    known = n.any(axis=1)
    vocabulary = sums.vocabulary - own * np.bincount(row[~known], minlength=len(y)).astype(float)
    return Sample(y, row[known], n[known], np.asarray(parts, dtype=np.intp)[ids[known]], totals, vocabulary)


def features_of(sample: Sample, alpha: float, settings: Settings) -> Array:
    """The evidence of each part for each class under this α, before weights (n, K, parts)."""
    import numpy as np

    below = np.log(sample.totals + alpha * sample.vocabulary[:, None])  # (n, K)
    evidence = np.log(sample.n + alpha) - below[sample.row]  # (m, K)
    evidence -= evidence[:, :1]
    spread = evidence.max(axis=1) - evidence.min(axis=1)
    u = np.where(spread >= settings.threshold, spread**settings.power, 0.0)
    cell, cells = sample.row * len(PARTS) + sample.part, len(sample.y) * len(PARTS)
    scale = (settings.tokens + np.bincount(cell, u, cells)) ** -settings.exponent
    columns = [np.bincount(cell, u * column, cells) * scale for column in evidence.T]
    return np.stack(columns, axis=-1).reshape(len(sample.y), len(PARTS), -1).transpose(0, 2, 1)


def calibrated(
    features: Array, y: NDArray[np.intp], classes: Sequence[str], settings: Settings
) -> tuple[float, Settings]:
    """Log-loss and settings with the weights and intercepts of a logistic regression on these features.

    Labels may be wrong: p(label c) = (1 − ε) p(c) + ε (1 − p(c)) / (K − 1). EM finds the error rate ε and the
    regression, whose targets are the probabilities that a label is right.
    """
    import numpy as np

    n, K, J = len(y), len(classes), len(classes) - 1 + len(PARTS)
    design = np.concatenate([np.tile(np.eye(K)[:, 1:], (n, 1, 1)), features], axis=2)  # (n, K, J)
    prior = Prior(
        np.r_[np.zeros(K - 1), Settings().weights],
        np.r_[np.full(K - 1, INTERCEPT**-2), np.full(len(PARTS), SPREAD**-2)],
        np.r_[np.full(K - 1, -np.inf), np.zeros(len(PARTS))],
    )
    one_hot, epsilon, theta, before = np.eye(K)[y], settings.label_errors or FIRST_ERRORS, prior.mean, np.inf
    targets = one_hot
    for _ in range(EM_STEPS):
        theta, hessian = regression(design, targets, prior, theta)
        p = softmax(design @ theta)[np.arange(n), y]
        likelihood = (1 - epsilon) * p + epsilon * (1 - p) / (K - 1)
        loss = -float(np.log(likelihood).mean())
        if before - loss < TOLERANCE:
            break
        before, right = loss, (1 - epsilon) * p / likelihood
        targets = np.where(one_hot > 0, right[:, None], (1 - right[:, None]) / (K - 1))
        epsilon = min(max(float((1 - right).mean()), LEAST_ERRORS), MOST_ERRORS)
    keep = np.r_[0, K - 1 : J]  # the covariance of one intercept stands for all
    covariance = np.linalg.inv(hessian)[np.ix_(keep, keep)]
    return loss, replace(
        settings,
        weights=tuple(theta[K - 1 :].tolist()),
        intercepts=dict(zip(classes[1:], theta[: K - 1].tolist(), strict=True)),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
        label_errors=epsilon,
    )


@dataclass(frozen=True)
class Prior:
    """Independent normal priors of the coefficients, and the least values that they may have."""

    mean: Array  # (J,)
    precision: Array
    least: Array  # weights are not below 0: more evidence never says less


def regression(design: Array, targets: Array, prior: Prior, start: Array) -> tuple[Array, Array]:
    """Multinomial logistic regression on probabilities of the classes, by Newton's method: θ and the Hessian there."""
    import numpy as np

    theta, own = start, np.einsum("nk,nkj->j", targets, design)

    def value(theta: Array) -> float:
        scores = design @ theta
        top = scores.max(axis=1)
        fit = (top + np.log(np.exp(scores - top[:, None]).sum(axis=1))).sum() - own @ theta
        return float(fit + prior.precision @ (theta - prior.mean) ** 2 / 2)

    for _ in range(NEWTON_STEPS):
        p = softmax(design @ theta)
        center = np.einsum("nk,nkj->nj", p, design)
        gradient = center.sum(axis=0) - own + prior.precision * (theta - prior.mean)
        weighted = np.sqrt(p)[:, :, None] * design
        flat = weighted.reshape(-1, design.shape[2])
        hessian = flat.T @ flat - center.T @ center + np.diag(prior.precision)
        step, size, now = np.linalg.solve(hessian, gradient), 1.0, value(theta)
        while value(moved := np.maximum(theta - size * step, prior.least)) > now and size > SMALLEST_STEP:
            size /= 2
        if size <= SMALLEST_STEP or np.abs(moved - theta).max() < TOLERANCE:
            break
        theta = moved
    return theta, hessian


def softmax(scores: Array) -> Array:
    """e^score over its sum in each row."""
    import numpy as np

    parts: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)
