"""Settings tuned on a store: its learned messages as ids of tokens, for :func:`suffit.mail.tuning.tune`."""

from __future__ import annotations

import math
from dataclasses import replace

from .buckets import token_of
from .model import part_of
from .records import DUMP
from .settings import Settings
from .store import Store
from .tuning import FIRST, GROWTH, LEAST, leave_one_out, tune

MOST = 2_000  # messages that are looked at: evenly spread over all that were learned


def is_due(store: Store) -> bool:
    """Whether so much was learned since the settings were tuned, or a class is so new, that they should be again."""
    messages, settings = store.messages(), store.settings()
    new = settings.tuned_on > 0 and not settings.intercepts.keys() >= set(store.classes[1:])
    return min(messages) >= LEAST and (new or sum(messages) >= max(FIRST, GROWTH * settings.tuned_on))


class Sample:
    """Learned messages, evenly spread over all, as a class and ids of tokens; counts and parts are by id."""

    def __init__(self, store: Store) -> None:
        self.sums = store.sums()
        ids: dict[bytes, int] = {}
        step = max(1, -(-sum(store.messages()) // MOST))
        self.messages = [
            (record.label, [ids.setdefault(key, len(ids)) for key in record.keys])
            for i, record in enumerate(store.learned())
            if record.label != DUMP and i % step == 0
        ]
        self.counts: list[tuple[int, ...]] = [()] * len(ids)
        for key, found in store.rows():
            if key in ids:
                self.counts[ids[key]] = found
        self.parts = [part_of(token_of(key)) for key in ids]

    def log_odds(self, settings: Settings, against: str | None = None) -> list[float]:
        """Of spam, of each message as if it had never been learned."""
        return list(leave_one_out(self.messages, self.counts, self.parts, self.sums, settings, against).tolist())

    def loss(self, settings: Settings) -> float:
        """The mean leave-one-out log-loss of spam against everything else."""
        classes = self.sums.classes
        spam = classes.index("spam") if "spam" in classes else len(classes) - 1
        scored = zip(self.messages, self.log_odds(settings), strict=True)
        losses = [math.log1p(math.exp(-abs(z))) + max(-z if label == spam else z, 0.0) for (label, _), z in scored]
        return sum(losses) / len(losses)


def tuned(store: Store, lost_ham: float | None = None, ham_loss: float | None = None) -> Settings:
    """The settings of less leave-one-out log-loss on the learned messages: those tuned, or those of before.

    Parameters
    ----------
    store : Store
        What was learned.
    lost_ham : float, optional
        How many unseen spams are worth one lost ham: where spam begins.
    ham_loss : float, optional
        The share of ham that may be called spam, instead.

    Returns
    -------
    Settings
        With ``tuned_on`` 0 where there are too few messages.
    """
    from .cutoffs import cutoff_by_cost, cutoff_by_loss

    sample, before = Sample(store), store.settings()
    found = tune(sample.messages, sample.counts, sample.parts, sample.sums, before)
    if found is not before:
        kept = before if sample.loss(before) < sample.loss(found) else found
        every = {**dict.fromkeys(found.intercepts, 0.0), **kept.intercepts}  # 0 says nothing, and that it was tuned
        found = replace(kept, intercepts=every, tuned_on=sum(store.messages()))
    if lost_ham is not None:
        found = replace(found, cutoffs={**found.cutoffs, "spam": cutoff_by_cost(lost_ham)})
    elif ham_loss is not None:
        scores = zip(sample.messages, sample.log_odds(found, "ham"), strict=True)
        ham = [z for (label, _), z in scores if sample.sums.classes[label] == "ham"]
        found = replace(found, cutoffs={**found.cutoffs, "spam": cutoff_by_loss(ham, ham_loss)})
    return found
