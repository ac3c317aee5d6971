"""Messages in files and folders of every kind."""

from __future__ import annotations

import gzip
import mailbox
import os
import re
from pathlib import Path
from random import Random

import pytest

from suffit.mail import mailboxes
from suffit.mail.mailboxes import messages_in

A, B, C = (f"Subject: {name}\n\nbody of {name}\n".encode() for name in "abc")
MBOX = b"From me Mon Nov 16 10:00:00 2026\n" + A + b"\nFrom me Mon Nov 16 10:00:01 2026\n" + B + b"\n"


def raws(path: Path) -> list[bytes]:
    return [raw for _, raw in messages_in(path)]


def test_a_file_is_one_message(tmp_path: Path):
    (tmp_path / "a.eml").write_bytes(A)
    assert list(messages_in(tmp_path / "a.eml")) == [(str(tmp_path / "a.eml"), A)]


def test_an_mbox_file_is_several(tmp_path: Path):
    (tmp_path / "inbox").write_bytes(MBOX)
    assert list(messages_in(str(tmp_path / "inbox"))) == [(f"{tmp_path}/inbox#1", A), (f"{tmp_path}/inbox#2", B)]


@pytest.mark.parametrize("name", ["inbox.gz", "inbox"])
def test_compressed_files_are_known_by_their_first_bytes(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(gzip.compress(MBOX))
    assert raws(tmp_path / name) == [A, B]
    (tmp_path / "one").write_bytes(gzip.compress(C))
    assert raws(tmp_path / "one") == [C]


def test_quoted_lines_of_an_mbox_file_are_unquoted_and_sentences_do_not_split_it(tmp_path: Path):
    body = b"Subject: a\n\nFrom here on\n\nFrom 1999 to 2004\n\n>From me\n>>From you\n>from\n"
    (tmp_path / "inbox").write_bytes(b"From me Mon Nov 16 10:00:00 2026\n" + body)
    assert raws(tmp_path / "inbox") == [body.replace(b">From me", b"From me").replace(b">>From", b">From")]


def test_mbox_files_as_the_standard_library_writes_them(tmp_path: Path):
    box = mailbox.mbox(tmp_path / "inbox")
    sent = [b"Subject: %d\n\nFrom the start\n\nFrom: x\n\n--\nend\n" % i for i in range(5)]
    for raw in sent:
        box.add(raw)
    box.close()
    assert raws(tmp_path / "inbox") == sent


def test_maildir_with_subfolders(tmp_path: Path):
    box = mailbox.Maildir(tmp_path / "box")
    box.add(A)
    box.add_folder("Junk").add(B)
    (tmp_path / "box" / "tmp" / "half").write_bytes(b"half written")
    (tmp_path / "box" / "dovecot.index").write_bytes(b"index")
    assert raws(tmp_path / "box") == [A, B]


def test_mh_folders_in_the_order_of_their_numbers(tmp_path: Path):
    for number, raw in ((10, C), (9, B), (1, A)):
        (tmp_path / str(number)).write_bytes(raw)
    (tmp_path / ".mh_sequences").write_bytes(b"unseen: 9")
    assert raws(tmp_path) == [A, B, C]


def test_a_tree_of_files(tmp_path: Path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "z").mkdir()
    (tmp_path / "x" / "y" / "a").write_bytes(A)
    (tmp_path / "z" / "box").write_bytes(MBOX)
    (tmp_path / ".hidden").write_bytes(C)
    os.symlink(tmp_path, tmp_path / "z" / "loop")
    assert raws(tmp_path) == [A, A, B]


def test_only_the_indexes_of_mail_programs_are_passed_over(tmp_path: Path):
    """And no message whose name begins as theirs do."""
    indexes = (
        "dovecot-uidlist",
        "dovecot.index.log",
        "maildirfolder",
        "maildirsize",
        "courierimapuiddb",
        "subscriptions",
    )
    for name in (*indexes, "box.lock", "box.msf"):
        (tmp_path / name).write_bytes(B)
    for name in ("courier-invoice.eml", "dovecote.eml", "maildir-question.eml"):
        (tmp_path / name).write_bytes(A)
    assert raws(tmp_path) == [A, A, A]


def test_what_cannot_be_read_is_an_error_or_a_problem(tmp_path: Path):
    (tmp_path / "a").write_bytes(A)
    (tmp_path / "b.gz").write_bytes(gzip.compress(B * 1000)[:40])
    (tmp_path / "c").write_bytes(C)
    problems: list[str] = []
    assert [raw for _, raw in messages_in(tmp_path, problems)] == [A, C]
    assert len(problems) == 1
    assert "b.gz" in problems[0]
    with pytest.raises(EOFError):
        raws(tmp_path)
    with pytest.raises(FileNotFoundError):
        raws(tmp_path / "nothing")


def test_no_more_of_a_message_than_the_limit_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mailboxes, "MOST_BYTES", 100_000)
    monkeypatch.setattr(mailboxes, "LONGEST_LINE", 1_000)
    long = b"Subject: long\n\n" + b"x" * 300_000 + b"\n\n"
    (tmp_path / "one").write_bytes(long)
    (tmp_path / "two").write_bytes(b"From me Mon Nov 16 10:00:00 2026\n" + long + MBOX)
    one, long_one, a, b = raws(tmp_path)
    assert one == long[:100_000]
    assert long_one == long[: len(long_one)]
    assert 100_000 <= len(long_one) <= 101_000
    assert (a, b) == (A, B)


def test_empty_files_and_folders(tmp_path: Path):
    assert raws(tmp_path) == []
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "empty.gz").write_bytes(gzip.compress(b""))
    assert raws(tmp_path) == raws(tmp_path / "empty") == []


def by_lines(data: bytes) -> list[bytes]:
    """The messages of an mbox file, a line at a time."""
    found: list[list[bytes]] = [[]]
    for line in data.splitlines(keepends=True)[1:]:
        if found[-1][-1:] in ([b"\n"], [b"\r\n"]) and re.match(rb"From .*\d:\d\d", line):
            found.append([])
        else:
            found[-1].append(re.sub(rb"^>(>*From )", rb"\1", line))
    return [b"".join(lines[:-1] if lines[-1:] in ([b"\n"], [b"\r\n"]) else lines) for lines in found]


@pytest.mark.parametrize("block", [1, 7, 50, 300])
def test_messages_of_an_mbox_file_do_not_depend_on_how_much_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
):
    monkeypatch.setattr(mailboxes, "BLOCK", block)
    monkeypatch.setattr(mailboxes, "LONGEST_LINE", 64)
    lines = [b"\n", b"\n", b"\r\n", b"From me Mon 10:00:00 2026\n", b"From a 1:00\r\n", b"From you\n", b">From x\n"]
    lines += [b">>From 1:22\n", b"Subject: a\n", b"text text\n", b" \n"]
    random = Random(block)
    for _ in range(300):
        data = b"From me Mon 10:00:00 2026\n" + b"".join(random.choices(lines, k=random.randrange(25)))
        (tmp_path / "mbox").write_bytes(data)
        assert raws(tmp_path) == by_lines(data)
