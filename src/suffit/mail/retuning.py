"""Settings tuned on a store: its learned messages as ids of tokens, for :func:`suffit.mail.tuning.tune`."""

from __future__ import annotations

from .buckets import token_of
from .model import part_of
from .records import DUMP
from .settings import Settings
from .store import Store

MOST = 10_000  # messages that are looked at: evenly spread over all that were learned


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
