"""Settings tuned on a store: its learned messages as ids of tokens, for :func:`suffit.mail.tuning.tune`."""

from __future__ import annotations

from .buckets import token_of
from .model import part_of
from .records import DUMP
from .settings import Settings
from .store import Store

MOST = 2_000  # messages that are looked at: evenly spread over all that were learned


FIRST = 20  # messages that are worth tuning on; then whenever there are twice as many


def is_due(store: Store) -> bool:
    """Whether so much was learned since the settings were tuned that they should be again."""
    messages = store.sums().messages
    return min(messages) > 0 and sum(messages) >= max(FIRST, 2 * store.settings().tuned_on)


def tuned(store: Store) -> Settings:
    """The settings of least leave-one-out log-loss on the learned messages."""
    from .tuning import tune

    sums, ids = store.sums(), dict[bytes, int]()
    step = max(1, -(-sum(sums.messages) // MOST))
    messages = []
    for i, record in enumerate(store.learned()):
        if record.label != DUMP and i % step == 0:
            messages.append((record.label, [ids.setdefault(key, len(ids)) for key in record.keys]))
    counts: list[tuple[int, ...]] = [()] * len(ids)
    for key, found in store.rows():
        if key in ids:
            counts[ids[key]] = found
    return tune(messages, counts, [part_of(token_of(key)) for key in ids], sums, store.settings())
