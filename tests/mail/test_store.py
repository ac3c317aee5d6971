"""The store: counts that are those of its messages, whatever is learned, corrected, forgotten, merged or damaged."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from suffit.mail.buckets import LOAD, START
from suffit.mail.dumps import exported, imported
from suffit.mail.errors import DamagedStoreError, StoreError
from suffit.mail.settings import Settings
from suffit.mail.store import Store


def message(i: int, words: int = 30, vocabulary: int = 400) -> SimpleNamespace:
    rng = random.Random(i)
    tokens = {f"w{int(rng.random() ** 3 * vocabulary)}" for _ in range(words)}
    return SimpleNamespace(digest=f"{i:032x}", tokens=tuple(tokens))


def text(store: Store) -> bytes:
    return b"".join(exported(store, messages=False))


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(str(tmp_path / "mail" / "store.sqlite"), write=True) as opened:
        yield opened


@pytest.fixture
def full(store: Store) -> Store:
    list(store.learn_all((message(i), "spam" if i % 3 else "ham") for i in range(60)))
    return store


def test_a_new_store_is_empty_and_its_owners_alone(store: Store):
    assert store.sums().messages == (0, 0)
    assert store.counts(["anything"]) == {}
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(Path(store.path).parent).st_mode) == 0o700
    store.learn(message(1), "spam")
    for beside in Path(store.path).parent.iterdir():
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600, beside


def test_counts_are_messages_that_contain_a_token(store: Store):
    for digest, name, tokens in (("a1", "ham", "x y"), ("a2", "spam", "x x z"), ("a3", "spam", "x"), ("a4", "ham", "")):
        assert store.learn(SimpleNamespace(digest=digest, tokens=tokens.split()), name)
    assert store.counts(["x", "y", "z", "u"]) == {"x": (1, 2), "y": (1, 0), "z": (0, 1)}
    sums = store.sums()
    assert (sums.messages, sums.totals, sums.vocabulary) == ((2, 2), (2, 3), 3)
    store.check()


def test_tokens_may_hold_any_character(store: Store):
    tokens = [
        "tab\there",
        "line\nend",
        "back\\slash",
        "\\t",
        "\t",
        "\n",
        "",
        "grüezi",
        "漢字",
        "\ud800",
        "\x00",
        "a b",
        "1\t2",
    ]
    store.learn(SimpleNamespace(digest="0a", tokens=tokens), "spam")
    assert store.counts(tokens) == dict.fromkeys(tokens, (0, 1))
    store.check()
    store.unlearn("0a")
    assert text(store) == b"suffit-mail\t1\n"


def test_learning_is_idempotent_by_digest(full: Store):
    before = text(full)
    assert not full.learn(message(7), "spam")
    assert not full.learn(message(7), "ham")  # it is known, in another class or not: that is for correct
    assert [found["new"] for found in full.learn_all((message(i), "spam") for i in range(20))] == [0]
    assert text(full) == before


@pytest.mark.parametrize("name", ["ham", "spam", "newsletter"])
def test_a_message_is_unlearned_bit_for_bit(full: Store, name: str):
    before, buckets = text(full), dict(full.rows())
    for i in range(100, 130):
        assert full.learn(message(i, words=200, vocabulary=100_000), name)
    assert text(full) != before
    for i in random.Random(0).sample(range(100, 130), 30):
        assert full.unlearn(message(i).digest) == name
    assert text(full) == before
    assert {key: counts[:2] for key, counts in full.rows()} == buckets
    assert full.unlearn(message(100).digest) is None
    full.check()


def test_correcting_is_the_same_as_having_learned_it_right(full: Store, tmp_path: Path):
    assert full.correct(message(3), "spam") == "ham"
    assert full.correct(message(1), "spam") == "spam"
    assert full.correct(message(999), "ham") is None
    with Store.open(str(tmp_path / "other.sqlite"), write=True) as right:
        for i in range(60):
            right.learn(message(i), "spam" if i % 3 or i == 3 else "ham")
        right.learn(message(999), "ham")
        assert text(right) == text(full)
    full.check()


def test_more_than_two_classes(full: Store):
    full.learn(SimpleNamespace(digest="fa", tokens=["unsubscribe", "w1"]), "newsletter")
    full.learn(SimpleNamespace(digest="fb", tokens=["w1"]), "phishing")
    assert full.classes == ("ham", "spam", "newsletter", "phishing")
    assert full.counts(["unsubscribe"]) == {"unsubscribe": (0, 0, 1, 0)}
    assert full.counts(["w1"])["w1"][2:] == (1, 1)
    full.check()


def test_many_messages_and_one_by_one_are_the_same_store(full: Store, tmp_path: Path):
    with Store.open(str(tmp_path / "other.sqlite"), write=True) as other:
        for i in reversed(range(60)):
            other.learn(message(i), "spam" if i % 3 else "ham")
        assert text(other) == text(full)


def test_buckets_grow_with_the_vocabulary_one_at_a_time(store: Store):
    for i in range(40):
        store.learn(message(i, words=300, vocabulary=10**9), "spam")
    n = store.sums().vocabulary
    assert n > LOAD * START
    assert len(dict(store.rows())) == n
    store.check()


def test_a_reader_sees_what_others_learn(full: Store):
    with Store.open(full.path) as reader:
        tokens = message(5).tokens
        before = reader.evidence(tokens)
        assert before[0] == full.evidence(tokens)[0]
        full.correct(message(5), "ham")
        after = reader.evidence(tokens)
        assert after[1].messages[0] == before[1].messages[0] + 1
        assert after[0] == full.evidence(tokens)[0] != before[0]


def test_a_reader_does_not_wait_for_a_writer(full: Store):
    with Store.open(full.path, wait=0.0) as reader, full.changing():
        start = time.perf_counter()
        assert reader.sums().messages == (20, 40)
        assert time.perf_counter() - start < 1.0


def test_a_second_writer_waits_and_then_says_that_the_store_is_busy(full: Store):
    with (
        Store.open(full.path, write=True, wait=0.1) as other,
        full.changing(),
        pytest.raises(StoreError, match="is busy"),
    ):
        other.learn(message(1000), "ham")
    full.check()


def test_two_learners_at_once_lose_nothing(full: Store):
    def learn(first: int) -> None:
        with Store.open(full.path, write=True) as mine:
            for i in range(first, first + 25):
                mine.learn(message(i), "ham")

    threads = [threading.Thread(target=learn, args=(first,)) for first in (100, 112)]  # 13 messages are in both
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert full.sums().messages == (20 + 37, 40)
    full.check()


def test_merging_counts_what_both_have_once(full: Store, tmp_path: Path):
    with Store.open(str(tmp_path / "other.sqlite"), write=True) as other:
        list(other.learn_all((message(i), "newsletter" if i % 2 else "spam") for i in range(50, 90)))
        other.learn(message(55), "spam")
        assert full.merge(other) == (30, 10)
        assert full.sums().messages == (20, 40 + 15, 15)
        assert full.merge(other) == (0, 40)
    full.check()


def test_expiring_forgets_old_messages_exactly(full: Store, monkeypatch: pytest.MonkeyPatch):
    before = text(full)
    monkeypatch.setattr("suffit.mail.store.clock.time", lambda: 1_000_000_000.0)
    list(full.learn_all((message(i, words=400, vocabulary=10**9), "ham") for i in range(200, 260)))
    monkeypatch.undo()
    large = os.path.getsize(full.path)
    assert full.expire(time.time() - 86400) == 60
    assert text(full) == before
    assert os.path.getsize(full.path) < large or os.path.getsize(full.path) < 300_000
    full.check()


def test_text_and_back(full: Store, tmp_path: Path):
    full.learn(message(100), "newsletter", score=-1.25)
    with Store.open(str(tmp_path / "other.sqlite"), write=True) as other:
        assert imported(other, exported(full)) == (61, 0)
        assert b"".join(exported(other)) == b"".join(exported(full))
        assert imported(other, exported(full)) == (0, 61)
        other.check()
        other.unlearn(message(100).digest)


def test_counts_alone_are_one_record(full: Store, tmp_path: Path):
    lines = list(exported(full, messages=False))
    with Store.open(str(tmp_path / "other.sqlite"), write=True) as other:
        assert imported(other, lines) == (1, 0)
        assert imported(other, lines) == (0, 1)
        assert text(other) == text(full)
        other.learn(message(300), "ham")
        other.check()
        assert full.merge(other) == (2, 0)  # who shared counts without messages cannot know which messages these were
        assert full.sums().messages == (41, 80)
        (record,) = [record for record in other.learned() if record.label < 0]
        assert other.unlearn(record.digest) == "counts"
        assert other.sums().messages == (1, 0)
    full.check()


BOGOFILTER = b""".MSG_COUNT 20 30 20261116
$1000.00 1 0 20261116
subj:free 7 1 20261116
.ENCODING 2 0 20261116
meeting 0 11 20261116
Meeting 0 25 20261116
a b 1 2 20261116
"""


def test_a_dump_of_bogofilter(store: Store):
    assert imported(store, BOGOFILTER.splitlines(keepends=True)) == (1, 0)
    assert store.sums().messages == (30, 20)
    tokens = ["$1000.00", "subject:free", "meeting", "a b"]
    assert store.counts(tokens) == dict(zip(tokens, [(0, 1), (1, 7), (30, 0), (2, 1)], strict=True))
    assert imported(store, BOGOFILTER.splitlines()) == (0, 1)
    store.check()


@pytest.mark.parametrize(
    "lines", [[b"hello"], [b"suffit-mail\t1", b"token"], [b"a 1 2 3"], [b"suffit-mail\t1", b"message\tzz\tx"]]
)
def test_what_is_no_export_is_refused_and_changes_nothing(full: Store, lines: list[bytes]):
    before = text(full)
    with pytest.raises(ValueError, match=r"line \d|MSG_COUNT"):
        imported(full, lines)
    assert text(full) == before


def test_a_missing_store_and_one_that_is_something_else(tmp_path: Path):
    with pytest.raises(StoreError, match=r"there is no store .* suffit mail learn makes one"):
        Store.open(str(tmp_path / "none.sqlite"))
    (tmp_path / "text").write_text("not a database " * 1000)
    with pytest.raises(DamagedStoreError, match="is no store"), Store.open(str(tmp_path / "text")) as opened:
        opened.sums()
    sqlite3.connect(tmp_path / "empty.sqlite").close()
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(DamagedStoreError, match="is no store"), Store.open(str(tmp_path / "empty.sqlite")) as opened:
        opened.sums()


def test_settings_are_kept_and_those_of_another_version_are_the_defaults(full: Store):
    tuned = replace(Settings.default(), shares=0.5, tuned_on=60)
    full.put_settings(tuned)
    with Store.open(full.path) as other:
        assert other.settings() == tuned
        with full.changing() as change:
            change.state.settings = '{"alpha": 1, "weights": [3], "what nobody knows": []}'
        assert other.settings() == Settings.default()
    full.check()


def test_a_failed_change_leaves_everything_as_it_was(full: Store):
    before = b"".join(exported(full))

    def fail() -> None:
        with full.changing() as change:
            change.remove(message(2).digest)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert b"".join(exported(full)) == before
    full.check()


def test_a_bucket_that_somebody_changed_is_noticed_by_the_token_that_needs_it(full: Store):
    """Also one that is no longer there, and one that stands in another's place."""
    full.close()
    for statement in (
        "UPDATE buckets SET lines = x'' WHERE id % 2 = 0",
        "DELETE FROM buckets WHERE id = 3",
        "UPDATE buckets SET lines = (SELECT lines FROM buckets WHERE id = 5) WHERE id = 4",
    ):
        with sqlite3.connect(full.path) as connection:
            connection.execute(statement)
        with Store.open(full.path) as opened, pytest.raises(DamagedStoreError, match="bucket"):
            opened.counts(f"w{i}" for i in range(400))
