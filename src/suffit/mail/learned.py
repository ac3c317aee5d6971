"""What has been learned, in memory: counts of tokens by class. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .model import Sums


class Learned:
    """Counts of tokens by class that learn, unlearn and add up.

    Parameters
    ----------
    classes : sequence of str, optional
        The names of the classes.

    Examples
    --------
    >>> learned = Learned()
    >>> learned.learn(["cheap", "pills"], "spam")
    >>> learned.learn(["meeting"], "ham")
    >>> learned.sums().totals, learned.counts["pills"]
    ((1, 2), (0, 1))
    >>> learned.unlearn(["meeting"], "ham")
    >>> learned.sums().vocabulary
    2
    """

    def __init__(self, classes: Sequence[str] = ("ham", "spam")) -> None:
        self.classes = tuple(classes)
        self.counts: dict[str, tuple[int, ...]] = {}
        self.messages = [0] * len(self.classes)
        self.totals = [0] * len(self.classes)

    def learn(self, tokens: Iterable[str], label: str) -> None:
        """Add a message to this one's sums.

        Parameters
        ----------
        tokens : iterable of str
            The distinct tokens of the message.
        label : str
            Its class.
        """
        self._add(tokens, self._class(label), 1)

    def unlearn(self, tokens: Iterable[str], label: str) -> None:
        """Take a message that was learned out of this one's sums.

        Parameters
        ----------
        tokens : iterable of str
            The distinct tokens of the message.
        label : str
            The class it was learned as.
        """
        c, tokens, none = self._class(label), list(tokens), (0,) * len(self.classes)
        if not self.messages[c] or any(not self.counts.get(token, none)[c] for token in tokens):
            raise ValueError(f"a message to unlearn was never learned as {label}; unlearn only what was learned")
        self._add(tokens, c, -1)

    def __add__(self, other: Learned) -> Learned:
        """Another with the messages of both.

        Parameters
        ----------
        other : Learned
            What was learned elsewhere, with the same classes.

        Returns
        -------
        Learned
            The sums of both.
        """
        if self.classes != other.classes:
            raise ValueError(f"classes {self.classes} and {other.classes} differ; only equal classes can be merged")
        found = Learned(self.classes)
        found.messages = [a + b for a, b in zip(self.messages, other.messages, strict=True)]
        found.totals = [a + b for a, b in zip(self.totals, other.totals, strict=True)]
        none = (0,) * len(self.classes)
        for token in self.counts.keys() | other.counts.keys():
            pairs = zip(self.counts.get(token, none), other.counts.get(token, none), strict=True)
            found.counts[token] = tuple(a + b for a, b in pairs)
        return found

    def sums(self, spectrum: bool = False) -> Sums:
        """The sums beside the counts, as a verdict takes them.

        Parameters
        ----------
        spectrum : bool, optional
            Also how many tokens have which count, for the Bernoulli model.

        Returns
        -------
        Sums
            Messages, totals and the size of the vocabulary.
        """
        found = tuple(Counter(column) for column in zip(*self.counts.values(), strict=True)) if spectrum else None
        if spectrum and not self.counts:
            found = tuple(Counter() for _ in self.classes)
        return Sums(self.classes, tuple(self.messages), tuple(self.totals), len(self.counts), found)

    def _class(self, label: str) -> int:
        if label not in self.classes:
            raise ValueError(f"no class {label!r}; there are {', '.join(self.classes)}")
        return self.classes.index(label)

    def _add(self, tokens: Iterable[str], c: int, sign: int) -> None:
        none = (0,) * len(self.classes)
        self.messages[c] += sign
        for token in tokens:
            n = self.counts.get(token, none)
            n = (*n[:c], n[c] + sign, *n[c + 1 :])
            self.totals[c] += sign
            if any(n):
                self.counts[token] = n
            else:
                del self.counts[token]
