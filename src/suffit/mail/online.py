"""A filter in memory that learns as messages come: verdict first, then the right class, tuned at growing intervals."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from .learned import Learned
from .model import Sums, Verdict, part_of, verdict
from .settings import Settings
from .tuning import FIRST, GROWTH, tune

TRAIN = ("everything", "error", "boundary")
ALWAYS = 10  # messages of a class that every mode learns
BOUNDARY = 0.99  # "boundary" learns what is given less than this probability of its class
SAMPLE = 2_000  # latest messages that settings are tuned on


class OnlineFilter:
    """A filter that gives verdicts and learns from what it is told afterwards.

    Parameters
    ----------
    classes : sequence of str, optional
        The names of the classes.
    train : {"everything", "error", "boundary"}, optional
        Which messages are learned: all, those whose verdict was not their class, or also those near the boundary.
    settings : Settings, optional
        To start from.

    Attributes
    ----------
    learned : Learned
        The counts.
    settings : Settings
        As last tuned.

    Examples
    --------
    >>> online = OnlineFilter()
    >>> for _ in range(30):
    ...     for tokens, label in (["cheap", "pills"], "spam"), (["meeting", "monday"], "ham"):
    ...         online.feedback(tokens, label)
    >>> online.judge(["monday", "meeting"]).label
    'ham'
    """

    def __init__(
        self, classes: Sequence[str] = ("ham", "spam"), train: str = "everything", settings: Settings | None = None
    ) -> None:
        if train not in TRAIN:
            raise ValueError(f"train is one of {', '.join(TRAIN)}, found {train!r}")
        self.train = train
        self.learned = Learned(classes)
        self.settings = settings or Settings()
        self._latest: deque[tuple[str, tuple[str, ...], bool]] = deque(maxlen=SAMPLE)
        self._told = 0
        self._next = FIRST

    def judge(self, tokens: Sequence[str]) -> Verdict:
        """The verdict on a message from what has been learned so far.

        Parameters
        ----------
        tokens : sequence of str
            The distinct tokens of the message.

        Returns
        -------
        Verdict
            As `verdict` gives it.
        """
        return verdict(tokens, self.learned.counts, self.learned.sums(), self.settings)

    def feedback(self, tokens: Sequence[str], label: str, found: Verdict | None = None) -> None:
        """Learn a message, if it is one of those that are learned, and tune the settings when it is time.

        Parameters
        ----------
        tokens : sequence of str
            The distinct tokens of the message.
        label : str
            Its class.
        found : Verdict, optional
            What `judge` said of it; where everything is learned it is not needed.
        """
        sums = self.learned.sums()
        learned = self.train == "everything" or wanted(self.train, label, found or self.judge(tokens), sums)
        self._latest.append((label, tuple(tokens), learned))
        self._told += 1
        if learned:
            self.learned.learn(tokens, label)
        if self._told >= self._next:
            self._next *= GROWTH
            self.tune()

    def tune(self) -> None:
        """Tune the settings on the latest messages whose class was told."""
        ids: dict[str, int] = {}
        sample: tuple[list[tuple[int, list[int]]], list[tuple[int, list[int]]]] = [], []  # learned, and others
        for label, tokens, learned in self._latest:
            numbers = [ids.setdefault(token, len(ids)) for token in tokens]
            sample[not learned].append((self.learned.classes.index(label), numbers))
        none = (0,) * len(self.learned.classes)
        counts = [self.learned.counts.get(token, none) for token in ids]
        parts = [part_of(token) for token in ids]
        self.settings = tune(sample[0], counts, parts, self.learned.sums(), self.settings, sample[1])


def wanted(train: str, label: str, found: Verdict, sums: Sums) -> bool:
    """Whether a message of this class is learned after this verdict: the first ones of a class always are.

    >>> sums = Sums(("ham", "spam"), (40, 40), (0, 0), 0)
    >>> wanted("error", "spam", verdict([], {}, sums), sums)
    True
    """
    if dict(zip(sums.classes, sums.messages, strict=True)).get(label, 0) < ALWAYS:
        return True
    return found.label != label if train == "error" else found.probabilities.get(label, 0.0) < BOUNDARY
