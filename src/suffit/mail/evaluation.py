"""How good verdicts are: mistakes, messages left unsure, the order of the scores, and whether probabilities hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from .buckets import token_of
from .model import Sums, Verdict, verdict
from .records import DUMP
from .store import Store

BINS = 10


class Tally:
    """Verdicts beside what the messages are.

    Examples
    --------
    >>> from suffit.mail.evaluation import Tally
    >>> tally = Tally([("spam", "spam", 0.9), ("spam", "unsure", 0.5), ("ham", "ham", 0.2)])
    >>> tally.labels["spam"]["unsure"], tally.area_above
    (1, 0.0)
    """

    def __init__(self, found: Iterable[tuple[str, str, float]]) -> None:
        self.labels: dict[str, Counter[str]] = {}
        self.scores: list[tuple[float, bool]] = []
        for name, label, p in found:
            self.labels.setdefault(name, Counter())[label] += 1
            self.scores.append((p, name == "spam"))

    @property
    def area_above(self) -> float | None:
        """1 − the area under the ROC curve: the chance that some ham looks more like spam than some spam."""
        spam = sum(is_spam for _, is_spam in self.scores)
        pairs = spam * (len(self.scores) - spam)
        if not pairs:
            return None
        above = wrong = 0.0
        for _, tied in groupby(sorted(self.scores, reverse=True), key=lambda score: score[0]):
            here = [is_spam for _, is_spam in tied]
            wrong += sum(here) * (above + (len(here) - sum(here)) / 2)
            above += len(here) - sum(here)
        return wrong / pairs

    @property
    def calibration_error(self) -> float | None:
        """The mean distance, over ten bins of probability, between it and the share of spam."""
        if not self.scores:
            return None
        bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
        for score in self.scores:
            bins[min(int(score[0] * BINS), BINS - 1)].append(score)
        return sum(abs(sum(p - is_spam for p, is_spam in each)) for each in bins) / len(self.scores)


def left_out(store: Store) -> Iterator[tuple[str, Verdict]]:
    """The class of each learned message and the verdict on it as if it had never been learned."""
    sums, settings = store.sums(), store.settings()
    for record in store.learned():
        if record.label == DUMP:
            continue
        tokens = [token_of(key) for key in record.keys]
        counts = {
            token: tuple(n - (label == record.label) for label, n in enumerate(found))
            for token, found in store.counts(tokens).items()
        }
        alone = sum(not any(found) for found in counts.values())
        less = [label == record.label for label in range(len(sums.classes))]
        without = Sums(
            sums.classes,
            tuple(n - off for n, off in zip(sums.messages, less, strict=True)),
            tuple(n - off * len(tokens) for n, off in zip(sums.totals, less, strict=True)),
            sums.vocabulary - alone,
        )
        yield sums.classes[record.label], verdict(tokens, counts, without, settings)
