"""The evaluation of the mail filter: areas by hand, streams in the right order, a run from end to end."""

from __future__ import annotations

import io
import random
import tarfile

import numpy as np
import pytest
from evaluate import mail, mail_streams, run


def message(spam: bool, seed: int) -> bytes:
    draw = random.Random(seed)
    words = draw.choices(["pills", "cheap", "offer", "win"] if spam else ["meeting", "kernel", "patch", "room"], k=6)
    return f"Date: Mon, 1 Jan 2024 {seed % 24:02}:00:00 +0000\nSubject: {words[0]}\n\n{' '.join(words)}\n".encode()


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "mail.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for i in range(80):
            raw, folder = message(i % 2 == 0, i), "spam" if i % 2 == 0 else "easy_ham"
            member = tarfile.TarInfo(f"corpus/{folder}/{i:05}")
            member.size = len(raw)
            made.addfile(member, io.BytesIO(raw))
    return path


def test_the_area_is_the_share_of_pairs_in_the_wrong_order():
    rng = np.random.default_rng(0)
    score, spam = rng.integers(0, 5, 60).astype(float), rng.random(60) < 0.4
    pairs = [(s > h) + (s == h) / 2 for s in score[spam] for h in score[~spam]]
    assert mail.roca(score, spam) == pytest.approx(100 - 100 * np.mean(pairs))


def test_halves_and_orders_of_an_archive(archive):
    items = mail_streams.read_archive(archive)
    train, test = mail_streams.halves(items)
    assert (len(train), len(test)) == (40, 40)
    assert [item.label for item in train] == ["ham"] * 20 + ["spam"] * 20
    dates = [mail_streams.date_of(item.raw()) for item in mail_streams.by_date(items)]
    assert dates == sorted(dates)
    assert dates[0] > 0
    step = [item.label for item in mail_streams.in_step(items)]
    assert all(abs(step[:n].count("ham") - step[:n].count("spam")) <= 1 for n in range(80))
    told = mail_streams.with_wrong_labels(items, 0.5)
    assert 20 < sum(item.told != item.label for item in told) < 60


def test_folders_are_learned_and_the_others_judged(archive):
    items = mail_streams.read_archive(archive)
    folders = sorted({item.folder for item in items})
    learned, judged = mail_streams.by_folder(items, folders[:1])
    assert {item.folder for item in learned} == {folders[0]}
    assert {item.folder for item in judged} == set(folders[1:])
    assert len(learned) + len(judged) == len(items)
    with pytest.raises(SystemExit, match=f"no folder 'junk'; there are {folders[0]}"):
        mail_streams.by_folder(items, ["junk"])


def test_a_class_is_told_only_after_the_verdict_and_its_delay(archive):
    class Counting:
        name = "counting"
        learned = 0

        def judge(self, raw: bytes) -> tuple[str, float]:
            return "unsure", float(self.learned)

        def learn(self, raw: bytes, label: str) -> None:
            self.learned += 1

        def ready(self) -> None: ...

    items = mail_streams.read_archive(archive)[:10]
    assert [score for *_, score in mail.replay(items, Counting())] == list(range(10))
    assert [score for *_, score in mail.replay(items, Counting(), delay=3)] == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]


def test_an_index_with_another_class_is_refused(tmp_path):
    (tmp_path / "index").write_text("spam one\njunk two\n")
    with pytest.raises(SystemExit, match="line 2"):
        mail_streams.read_index(tmp_path / "index")


def test_a_run_from_end_to_end(archive, tmp_path, capsys):
    assert run.main(["mail", "--archive", str(archive), "--no-bogofilter", "--train", "everything", "error"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("| suffit | 0 of 20 | 0.00% |") for line in lines)
    assert any(line.startswith("| suffit, train error |") for line in lines)
    for i in range(30):
        (tmp_path / f"m{i}").write_bytes(message(i % 2 == 0, i))
    (tmp_path / "index").write_text("".join(f"{'spam' if i % 2 == 0 else 'ham'} m{i}\n" for i in range(30)))
    assert run.main(["mail", "--index", str(tmp_path / "index"), "--no-bogofilter"]) == 0
    assert "| suffit | 0 of 15 |" in capsys.readouterr().out
