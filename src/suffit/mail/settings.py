"""What the mail filter tunes: how sums become probabilities, and probabilities a verdict. Standard library only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

PARTS = ("transport", "header", "body")  # how a message came, what its sender wrote above it, and its text
CUTOFF = 0.9
EVENTS = ("multinomial", "bernoulli")


@dataclass(frozen=True, slots=True)
class Settings:
    """How sums become probabilities, and probabilities a verdict; the defaults do for any store.

    Attributes
    ----------
    event : {"multinomial", "bernoulli"}
        How a set of tokens comes about: as draws from the class's tokens, or each token by itself, present or absent.
    alpha : tuple of float
        Smoothing: pseudo-counts in every class of the tokens of each part (`PARTS`).
    threshold : float
        θ: tokens whose log-odds are nearer to 0 do not count.
    power : float
        Tokens count by the size of their log-odds to this power, 0 for all alike.
    tokens : float
        n₀: strength of evidence of a part below which it is drawn towards 0.
    exponent : float
        γ: how far the evidence of a part is averaged, 1, or summed, 0.
    weights : tuple of float
        β of each part.
    intercepts : mapping of str to float
        Added to the log-probability of a class.
    shares : float
        How far the shares of the classes among the messages learned are their prior: 0 not at all, 1 all the way.
    covariance : tuple of tuple of float
        Of the intercept and the weights, for the standard error of the log-odds.
    messages : float
        Variance of the log-odds after one message of each class; it goes down as more are learned.
    label_errors : float
        Rate of wrong labels among the messages learned, as tuning found it; probabilities are of the right class.
    cutoffs : mapping of str to float
        The least probability with which a class is the verdict, that of spam among spam and ham; CUTOFF for a class
        that is not named, and for spam among all classes.
    tuned_on : int
        Messages that these settings were tuned on; 0 for the defaults.

    Examples
    --------
    >>> Settings.from_json(Settings.default().to_json()) == Settings.default()
    True
    """

    event: str = "multinomial"
    alpha: tuple[float, ...] = (0.01, 0.01, 0.03)
    threshold: float = 1.0
    power: float = 1.0
    tokens: float = 10.0
    exponent: float = 1.0
    weights: tuple[float, ...] = (0.5, 0.5, 1.2)
    intercepts: Mapping[str, float] = field(default_factory=dict)
    shares: float = 0.0
    covariance: tuple[tuple[float, ...], ...] = (
        (0.25, 0.0, 0.0, 0.0),
        (0.0, 0.04, 0.0, 0.0),
        (0.0, 0.0, 0.04, 0.0),
        (0.0, 0.0, 0.0, 0.04),
    )
    messages: float = 10.0
    label_errors: float = 0.0
    cutoffs: Mapping[str, float] = field(default_factory=lambda: {"ham": 0.8, "spam": 0.99})
    tuned_on: int = 0

    def __post_init__(self) -> None:
        if self.event not in EVENTS:
            raise ValueError(f"event is one of {', '.join(EVENTS)}, found {self.event!r}")
        if not min(self.alpha) > 0:
            raise ValueError(f"alpha needs to be above 0, found {self.alpha}")
        if len(self.alpha) != len(PARTS) or len(self.weights) != len(PARTS):
            raise ValueError(
                f"alpha and weights are one for each of {', '.join(PARTS)}, found {self.alpha}, {self.weights}"
            )
        for name, cutoff in self.cutoffs.items():
            if not 0 <= cutoff <= 1:
                raise ValueError(f"the cutoff of {name} lies between 0 and 1, found {cutoff}")

    @classmethod
    def default(cls) -> Settings:
        """Settings that do for any store, an empty one too."""
        return cls()

    @classmethod
    def naive(cls, event: str = "multinomial", alpha: float = 1.0) -> Settings:
        """Settings of the plain naive Bayes model, whose priors are the shares of the classes."""
        none = ((0.0,) * (len(PARTS) + 1),) * (len(PARTS) + 1)
        ones, alphas = (1.0,) * len(PARTS), (alpha,) * len(PARTS)
        return cls(event, alphas, 0.0, 0.0, 0.0, 0.0, weights=ones, shares=1.0, covariance=none, messages=0.0)

    def intercepts_of(self, classes: Sequence[str], messages: Sequence[int]) -> list[float]:
        """a_c: what is known of a message before its tokens, up to a constant."""
        given = [self.intercepts.get(name, 0.0) for name in classes]
        if not self.shares:
            return given
        return [a + self.shares * math.log(n) if n else -math.inf for a, n in zip(given, messages, strict=True)]

    def cutoff(self, name: str) -> float:
        """The least probability with which this class is the verdict."""
        return self.cutoffs.get(name, CUTOFF)

    def variance(self, features: Sequence[float], one: int, other: int) -> float:
        """xᵀ Σ x + σ² / messages: the squared standard error of log-odds with these features.

        Parameters
        ----------
        features : sequence of float
            The evidence of each part, before its weight.
        one, other : int
            Messages learned of the two classes compared.
        """
        x = (1.0, *features)
        pairs = [(a * b, v) for a, row in zip(x, self.covariance, strict=True) for b, v in zip(x, row, strict=True)]
        of_settings = sum(ab * v for ab, v in pairs)
        return of_settings + self.messages / 2 * (1 / (one + 1) + 1 / (other + 1))

    def to_json(self) -> str:
        """All settings as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The settings that `to_json` wrote."""
        found = json.loads(text)
        found["alpha"], found["weights"] = tuple(found["alpha"]), tuple(found["weights"])
        found["covariance"] = tuple(tuple(row) for row in found["covariance"])
        return cls(**found)
