"""The model of the mail filter: sums of tokens by class, and the verdict that follows from them.

Standard library only: this is all that runs when a message is classified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat

from .settings import CUTOFF, PARTS, Settings

Counts = tuple[int, ...]
Evidence = tuple[float, ...]  # of a token: its strength u(t), then u(t) l_c(t) of each class
Part = tuple[list[str], list[Evidence | None]]  # tokens, and the evidence of each; None where it does not count
UNSURE = "unsure"
TRANSPORT, HEADER, BODY = range(len(PARTS))
# Parts by tag; every other tag is the name of a header that programs write on the way.
PART_OF_TAG = dict.fromkeys(("subject", "from", "to", "cc", "reply-to", "sender"), HEADER) | dict.fromkeys(
    "url html part charset encoding disposition file text hidden mail digits long money caps".split(),  # noqa: SIM905
    BODY,
)


def part_of(token: str) -> int:
    """Which of PARTS a token belongs to.

    >>> [PARTS[part_of(token)] for token in ("received:shop.example", "subject:pills", "pills", "url:shop.example")]
    ['transport', 'header', 'body', 'body']
    """
    colon = token.find(":")
    return BODY if colon < 0 else PART_OF_TAG.get(token[:colon], TRANSPORT)


@dataclass(frozen=True, slots=True)
class Sums:
    """What has been learned, the counts of single tokens aside.

    Attributes
    ----------
    classes : tuple of str
        The names of the classes.
    messages : tuple of int
        N_c: messages learned of each class.
    totals : tuple of int
        T_c = Σ_t n_c(t), where n_c(t) is the number of the class's messages that hold token t.
    vocabulary : int
        V: tokens with a count that is not 0.
    spectrum : tuple of mapping of int to int, optional
        For each class, how many tokens of the vocabulary are in k of its messages, {k: tokens}, k = 0 among them.
        Only the Bernoulli model needs it, for the tokens that a message does not have.

    Examples
    --------
    >>> Sums(classes=("ham", "spam"), messages=(3, 2), totals=(40, 90), vocabulary=101).messages
    (3, 2)
    """

    classes: tuple[str, ...]
    messages: tuple[int, ...]
    totals: tuple[int, ...]
    vocabulary: int
    spectrum: tuple[Mapping[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one message, and why.

    Attributes
    ----------
    label : str
        The most probable class where it is probable enough (`label_of`), else "unsure".
    probabilities : dict of str to float
        Of every class.
    probability : float
        Of spam; of the most probable class where no class has that name.
    interval : tuple of float
        From two standard errors of the log-odds below to two above, and as far as the probability, which is the mean
        over all of them: how little has been learned.
    compared : tuple of str
        The two classes whose log-odds `terms` are: spam and the most probable other class, or the two most probable.
    intercept : float
        The log-odds of a message without any known token.
    parts : list of tuple
        How much each part of the message (`PARTS`) weighs; its tokens and the evidence of each.
    """

    label: str
    probabilities: dict[str, float]
    probability: float
    interval: tuple[float, float]
    compared: tuple[str, str]
    intercept: float
    parts: list[tuple[float, Part]]

    @property
    def terms(self) -> list[tuple[str, float]]:
        """Every token that counts and its log-odds, the strongest first."""
        one, other = map(list(self.probabilities).index, self.compared)
        found = [
            (token, weight * (says[1 + one] - says[1 + other]))
            for weight, part in self.parts
            for token, says in zip(*part, strict=True)
            if says is not None
        ]
        return sorted(found, key=lambda term: -abs(term[1]))

    @property
    def log_odds(self) -> float:
        """log p(compared[0]) / p(compared[1]): the sum of intercept and terms."""
        return math.fsum([self.intercept, *[odds for _, odds in self.terms]])


def verdict(
    tokens: Sequence[str], counts: Mapping[str, Counts], sums: Sums, settings: Settings | None = None
) -> Verdict:
    """The verdict on a message.

    The evidence of token t for class c is l_c(t) = log p(t | c), its spread w(t) = max_c l_c(t) − min_c l_c(t). Tokens
    whose spread is below θ do not count. With strengths u(t) = w(t)^power, a part of the message (`PARTS`) weighs
    f = β / (n₀ + Σ u)^γ, and

        log p(c | message) = κ (a_c + Σ_parts f Σ_t u(t) l_c(t)) + constant, κ = 1 / √(1 + π s² / 8),

    where s is the standard error of the log-odds: what little has been learned does not make sure.

    With power 1 and γ 1 that is a mean of the tokens' log-odds, weighted by how strong they are: it does not grow with
    the length of a message as the naive sum does (power 0, γ 0, θ 0), whose tokens count as if they were independent.

    Parameters
    ----------
    tokens : sequence of str
        The distinct tokens of the message.
    counts : mapping of str to tuple of int
        n_c(t) of the tokens that are known, in the order of the classes; others may be absent or all 0.
    sums : Sums
        What has been learned.
    settings : Settings, optional
        What was tuned; by default settings that do for any store.

    Returns
    -------
    Verdict
        The label, the probabilities and the terms that add up to the log-odds.

    Examples
    --------
    >>> sums = Sums(("ham", "spam"), (10, 10), (20, 15), 22)
    >>> found = verdict(["meeting", "pills"], {"pills": (0, 8), "meeting": (1, 1)}, sums)
    >>> found.label, [token for token, _ in found.terms]
    ('unsure', ['pills'])
    """
    settings = settings or Settings()
    parts, absent = evidence_of(tokens, counts, sums, settings)
    none = [0.0] * (1 + len(sums.classes))
    added = [list(map(sum, zip(*filter(None, evidence), strict=True))) or none for _, evidence in parts]  # Σ u, Σ u l_c
    scale = [(settings.tokens + strength) ** -settings.exponent for strength, *_ in added]
    factor = [b * f for b, f in zip(settings.weights, scale, strict=True)]
    a = [a + b for a, b in zip(settings.intercepts_of(sums.classes, sums.messages), absent, strict=True)]
    scores = [a[c] + sum(f * row[1 + c] for f, row in zip(factor, added, strict=True)) for c in range(len(a))]
    one, other = compared_classes(sums.classes, scores)
    features = [f * (row[1 + one] - row[1 + other]) for f, row in zip(scale, added, strict=True)]
    error = math.sqrt(settings.variance(features, sums.messages[one], sums.messages[other]))
    kappa = 1 / math.sqrt(1 + math.pi / 8 * error**2)
    probabilities = dict(zip(sums.classes, softmax([kappa * score for score in scores]), strict=True))
    p, center = probabilities[sums.classes[one]], scores[one] - scores[other]
    return Verdict(
        label_of(probabilities, settings),
        probabilities,
        p,
        (min(p, logistic(center - 2 * error)), max(p, logistic(center + 2 * error))),
        (sums.classes[one], sums.classes[other]),
        kappa * (a[one] - a[other]),
        [(kappa * f, part) for f, part in zip(factor, parts, strict=True)],
    )


def label_of(probabilities: Mapping[str, float], settings: Settings) -> str:
    """The most probable class where it reaches its cutoff, else "unsure".

    The cutoff of spam says what a lost ham costs: it is for spam against ham alone.  Against all classes together, spam
    has to be as probable as any class whose cutoff is not named.

    >>> label_of({"ham": 0.05, "spam": 0.95}, Settings())
    'unsure'
    >>> label_of({"ham": 0.001, "spam": 0.95, "newsletter": 0.049}, Settings())
    'spam'
    """
    label = max(probabilities, key=probabilities.__getitem__)
    cutoff = settings.cutoff(label)
    if label == "spam" and "ham" in probabilities:
        others = sum([p for name, p in probabilities.items() if name not in ("ham", "spam")])
        cutoff = max(cutoff * (1 - others), min(cutoff, CUTOFF))
    return label if probabilities[label] >= cutoff else UNSURE


def evidence_of(
    tokens: Sequence[str], counts: Mapping[str, Counts], sums: Sums, settings: Settings
) -> tuple[list[Part], list[float]]:
    """The tokens of each part with their evidence; what the absence of all others says, by class."""
    names: list[list[str]] = [[] for _ in PARTS]
    names[BODY] = [token for token in tokens if ":" not in token]
    find, event, of_sums = PART_OF_TAG.get, settings.event, (sums.messages, sums.totals, sums.vocabulary)
    for token in tokens:
        if ":" in token:
            names[find(token[: token.find(":")], TRANSPORT)].append(token)  # part_of(token)
    parts = []
    for here, alpha in zip(names, settings.alpha, strict=True):
        known = by_counts(event, alpha, settings.threshold, settings.power, *of_sums)
        parts.append((here, list(map(known.__getitem__, map(counts.get, here, repeat(()))))))
    return parts, log_absence(sums, settings.alpha[BODY]) if event == "bernoulli" else [0.0] * len(sums.classes)


class ByCounts(dict[Counts, Evidence | None]):
    """The evidence of tokens by their counts, each worked out once; None where it does not count."""

    def __init__(self, logs: Callable[[Counts], Sequence[float]], threshold: float, power: float) -> None:
        self.logs, self.threshold, self.power = logs, threshold, power

    def __missing__(self, n: Counts) -> Evidence | None:
        says = self.logs(n) if any(n) else (0.0,)
        spread = max(says) - min(says)
        counts, strength = any(n) and spread >= self.threshold, spread**self.power
        found = self[n] = (strength, *[strength * log for log in says]) if counts else None
        return found


@lru_cache(maxsize=2 * len(PARTS))  # those of the messages before, while nothing is learned
def by_counts(
    event: str, alpha: float, threshold: float, power: float, messages: Counts, totals: Counts, vocabulary: int
) -> ByCounts:
    """The evidence of tokens under these sums and settings."""
    bernoulli = event == "bernoulli"
    logs = log_odds_of_presence(messages, alpha) if bernoulli else log_shares(totals, max(vocabulary, 1), alpha)
    return ByCounts(logs, threshold, power)


def log_shares(totals: Counts, vocabulary: int, alpha: float) -> Callable[[Counts], Sequence[float]]:
    """log p(t | c) = log (n_c(t) + α) / (T_c + α V), less that of the first class: the multinomial model on sets."""
    log, below = math.log, [math.log(t + alpha * vocabulary) for t in totals]

    def shares(n: Counts) -> Sequence[float]:
        first = log(n[0] + alpha) - below[0]
        return [log(k + alpha) - b - first for k, b in zip(n, below, strict=True)]

    return shares


def log_odds_of_presence(messages: Counts, alpha: float) -> Callable[[Counts], Sequence[float]]:
    """log p / (1 − p) with p = (n_c(t) + α) / (N_c + 2α): what a token's presence says in the Bernoulli model."""
    return lambda n: [math.log((k + alpha) / (m - k + alpha)) for k, m in zip(n, messages, strict=True)]


def log_absence(sums: Sums, alpha: float) -> list[float]:
    """Σ_t log (1 − p_c(t)) over the vocabulary: the Bernoulli model of a message without any token."""
    if sums.spectrum is None:
        raise ValueError("event 'bernoulli' needs sums with their spectrum, found None; use event 'multinomial'")
    return [
        sum(tokens * math.log((m - k + alpha) / (m + 2 * alpha)) for k, tokens in spectrum.items())
        for m, spectrum in zip(sums.messages, sums.spectrum, strict=True)
    ]


def compared_classes(classes: Sequence[str], scores: Sequence[float]) -> tuple[int, int]:
    """Spam and the most probable other class; where no class is called spam, the two most probable."""
    order = sorted(range(len(classes)), key=lambda c: -scores[c])
    one = classes.index("spam") if "spam" in classes else order[0]
    return one, next(c for c in order if c != one)


def logistic(x: float) -> float:
    """1 / (1 + e^−x), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else 1 - 1 / (1 + math.exp(x))


def softmax(scores: Sequence[float]) -> list[float]:
    """e^score over its sum."""
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return [part / math.fsum(parts) for part in parts]
