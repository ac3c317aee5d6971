"""The verbs of the mail filter as a user runs them, and the recipes of docs/mail.md with the programs they are for."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from suffit.cli.mail.options import EXAMPLES, VERBS
from suffit.cli.mail.options import run as run_verb
from suffit.cli.mail.verbs import DO
from suffit.mail import judging
from suffit.mail.judging import verdict_of
from suffit.mail.model import Verdict

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mail.md"
Run = Callable[..., subprocess.CompletedProcess[bytes]]


def spam(i: int) -> bytes:
    return b"From: win@prize.example\nSubject: Free money %d\n\nClick http://prize.example/win for money, winner!\n" % i


def ham(i: int) -> bytes:
    return b"From: anna@work.example\nSubject: Meeting %d\n\nThe agenda of the meeting is attached. Anna\n" % i


def maildir(path: Path, message: Callable[[int], bytes], n: int) -> None:
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    for i in range(n):
        (path / ("cur" if i % 2 else "new") / f"{i}.host:2,S").write_bytes(message(i))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two Maildir folders, and ``suffit`` on the path."""
    maildir(tmp_path / "Maildir", ham, 200)
    maildir(tmp_path / "Maildir" / ".Junk", spam, 200)
    maildir(tmp_path / "Maildir" / ".Unsure", spam, 0)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "suffit").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m suffit "$@"\n')
    (programs / "suffit").chmod(0o755)
    for variable in ("ENV", "BASH_ENV"):
        monkeypatch.delenv(variable, raising=False)
    for name, value in (("HOME", tmp_path), ("PATH", f"{programs}:{os.environ['PATH']}"), ("LOGNAME", "user")):
        monkeypatch.setenv(name, str(value))
    for name in ("SUFFIT_MAIL", "XDG_DATA_HOME", "MAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home: Path) -> Run:
    def running(command: str, code: int | None = 0, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(command, shell=True, input=input, capture_output=True, timeout=120)
        assert code is None or done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
        return done

    return running


@pytest.fixture
def taught(home: Path, run: Run) -> Path:
    run("suffit mail learn --no-tune --spam Maildir/.Junk --ham Maildir/cur Maildir/new")
    return home


def test_every_verb_has_an_example_and_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    assert VERBS.keys() == EXAMPLES.keys() == DO.keys()
    for verb in VERBS:
        assert f"`{verb}" in page, verb


def test_the_help_has_every_verb(run: Run):
    text = run("suffit mail --help").stdout.decode()
    assert all(re.search(rf"^    {verb} ", text, flags=re.M) for verb in VERBS)
    assert text == run("suffit mail").stdout.decode()
    assert b"example: suffit mail learn" in run("suffit mail learn --help").stdout
    assert re.search(r"^  mail +Filter mail", run("suffit --help").stdout.decode(), flags=re.M)


def test_m3_learn_correct_and_unlearn_one_message_or_a_mailbox_at_a_time(home: Path, run: Run):
    """M3: learn, correct, unlearn, one message or a mailbox at a time."""
    counts = "suffit mail export --counts"
    assert b"learned 200 of 200 as spam" in run("suffit mail learn --spam Maildir/.Junk").stdout
    run("suffit mail learn --ham Maildir/cur Maildir/new")
    before = run(counts).stdout
    again = run("suffit mail learn --no-tune --spam Maildir/.Junk --ham Maildir/cur Maildir/new").stdout
    assert b"learned 0 of 200 as spam (200 known already)" in again
    assert run(counts).stdout == before
    run("suffit mail learn --spam", input=spam(1000))
    assert run(counts).stdout != before
    assert run("suffit mail correct --ham", input=spam(1000)).stdout == b"-: ham, was spam\n"
    assert run("suffit mail unlearn", input=spam(1000)).stdout == b"-: forgotten, was ham\n"
    assert run(counts).stdout == before
    assert run("suffit mail unlearn", code=3, input=spam(1000)).stdout == b"-: was never learned\n"
    run("suffit mail unlearn Maildir/.Junk")
    run("suffit mail correct --spam Maildir/.Junk")
    assert run(counts).stdout == before
    assert run("suffit mail doctor --json", code=None).stdout.startswith(b'[{"ok": true')


def test_the_examples_of_the_help_run(taught: Path, run: Run):
    Path("message").write_bytes(spam(7))
    shutil.copytree(taught / ".local", taught / "copy")
    (taught / "copy/share/suffit-mail/store.sqlite").rename("other.sqlite")
    for verb, example in EXAMPLES.items():
        if verb not in ("import", "serve", "tune"):
            run(example)


def test_the_commands_of_the_page_run(home: Path, run: Run):
    Path("message").write_bytes(spam(7))
    commands = re.findall(r"^\$ (suffit mail .*)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert len(commands) >= 5
    for command in commands:
        run(command)


def test_one_message_in_every_kind_of_mailbox(home: Path, run: Run):
    Path("box").write_bytes(
        b"".join(b"From a@b.example Mon Nov 16 10:00:00 2026\n" + spam(i) + b"\n" for i in range(9))
    )
    Path("box.gz").write_bytes(gzip.compress(Path("box").read_bytes()))
    Path("one.eml").write_bytes(spam(1).replace(b"\n", b"\r\n"))
    assert b"learned 9 of 9" in run("suffit mail learn --spam box").stdout
    assert b"learned 0 of 9" in run("suffit mail learn --spam box.gz").stdout
    assert b"learned 0 of 1" in run("suffit mail learn --spam one.eml").stdout


def test_files_are_classified_in_lines(taught: Path, run: Run):
    lines = run("suffit mail classify Maildir/.Junk").stdout.decode().splitlines()
    assert len(lines) == 200
    assert all(line.startswith("spam\t") for line in lines)
    found = [json.loads(line) for line in run("suffit mail classify --json Maildir/cur").stdout.splitlines()]
    assert {each["verdict"] for each in found} == {"ham"}


def test_an_explanation_adds_up(taught: Path, run: Run):
    found = json.loads(run("suffit mail explain --json", input=spam(5)).stdout)
    assert found["verdict"] == "spam"
    terms = sum(term["log_odds"] for term in found["terms"])
    assert found["log_odds"] == pytest.approx(found["intercept"] + terms, abs=1e-9)
    text = run("suffit mail explain -n 3", input=spam(5)).stdout.decode()
    assert "other tokens together" in text
    assert "before any token" in text


def test_training_on_errors_learns_little(taught: Path, run: Run):
    learn = "suffit mail learn --no-tune --mode"
    for mode in ("error", "boundary"):
        assert b"learned 0 of 1 as spam" in run(f"{learn} {mode} --spam", input=spam(999)).stdout
        assert b"learned 0 of 1 as ham" in run(f"{learn} {mode} --ham", input=ham(999)).stdout
    assert b"learned 1 of 1" in run(f"{learn} error --ham", input=spam(998)).stdout


@pytest.mark.parametrize("mode", ["error", "boundary"])
def test_training_on_errors_begins_with_nothing_learned(home: Path, run: Run, mode: str):
    """Each message is learned before the next is judged, so that few of many alike are needed."""
    said = run(f"suffit mail learn --no-tune --mode {mode} --spam Maildir/.Junk --ham Maildir/cur Maildir/new").stdout
    learned = [int(n) for n in re.findall(rb"learned (\d+) of 200 as", said)]
    assert all(0 < n < 100 for n in learned), said
    assert len(learned) == 2
    found = json.loads(run("suffit mail evaluate --json --spam Maildir/.Junk --ham Maildir/cur Maildir/new").stdout)
    assert all(labels.keys() <= {name, "unsure"} and labels[name] > 150 for name, labels in found["verdicts"].items())


def test_learning_what_is_known_as_another_class_says_so(taught: Path, run: Run):
    said = run("suffit mail learn --ham", input=spam(3)).stdout
    assert b"(1 known already, 1 of them as another class: suffit mail correct --ham changes that)" in said
    said = run("suffit mail learn --class newsletter Maildir/cur").stdout
    assert b"(100 known already, 100 of them as another class: suffit mail correct --class newsletter" in said


def test_counts_without_messages_are_nothing_to_tune_on(taught: Path, run: Run):
    """Settings are chosen from messages that are kept, once there are some of each class."""
    run("suffit mail export --counts > counts.txt")
    run("suffit mail import --store other.sqlite counts.txt")
    assert b"too few" in run("suffit mail tune --store other.sqlite", code=3).stderr
    assert b"tuned" not in run("suffit mail learn --store other.sqlite --spam", input=spam(901)).stdout
    assert b"spam\t" in run("suffit mail classify --store other.sqlite Maildir/.Junk").stdout
    Path("more").mkdir()
    for i in range(20):
        (Path("more") / str(i)).write_bytes(ham(1_000 + i))
    assert b"tuned" not in run("suffit mail learn --store other.sqlite --ham more").stdout
    assert b"tuned on 221 messages" in run("suffit mail learn --store other.sqlite --spam Maildir/.Junk").stdout


def test_tuning_makes_nothing_worse_and_moves_the_cutoff(taught: Path, run: Run):
    """Also where all spam is alike and all ham, so that nothing can be learned about how far to trust the words."""
    for command in ("tune", "tune --lost-ham 999", "tune --ham-loss 0.01"):
        assert b"tuned on 400 messages" in run(f"suffit mail {command}").stdout
        found = json.loads(run("suffit mail evaluate --json").stdout)
        assert found["verdicts"] == {"ham": {"ham": 200}, "spam": {"spam": 200}}, command
    assert b"spam from p = 0.9990" in run("suffit mail tune --lost-ham 999").stdout
    assert b"too few" in run("suffit mail tune --store new.sqlite", code=3).stderr


def test_evaluating_keeps_no_verdict(taught: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    """A verdict holds every token of its message: of many messages they would take gigabytes."""
    there: list[weakref.ref] = []

    class Parts(list):
        """A list that can be watched."""

    def judged_once(store: object, tokens: tuple[str, ...]) -> Verdict:
        found = verdict_of(store, tokens)
        found = dataclasses.replace(found, parts=Parts(found.parts))
        there[:] = [*(one for one in there if one() is not None), weakref.ref(found.parts)]
        assert len(there) <= 3
        return found

    monkeypatch.setattr(judging, "verdict_of", judged_once)
    assert run_verb(["evaluate", "--ham", "Maildir/cur", "--spam", "Maildir/.Junk"]) == 0
    assert "messages a second" in capsys.readouterr().out


def test_stores_become_text_and_merge(taught: Path, run: Run):
    run("suffit mail export > all.txt")
    run("suffit mail import --store other.sqlite < all.txt")
    counts = run("suffit mail export --counts").stdout
    assert run("suffit mail export --counts --store other.sqlite").stdout == counts
    assert b"0 new, 400 known to both" in run("suffit mail merge other.sqlite").stdout
    assert b"forgotten: 400 messages" in run("suffit mail expire --days -1 --store other.sqlite").stdout
    assert run("suffit mail export --counts").stdout == counts


@pytest.mark.parametrize(
    "command",
    ["import --store other.sqlite < all.txt", "merge --store other.sqlite .local/share/suffit-mail/store.sqlite"],
)
def test_messages_that_come_from_another_store_are_tuned_on_like_learned_ones(taught: Path, run: Run, command: str):
    run("suffit mail export > all.txt")
    assert b"tuned on 400 messages" in run(f"suffit mail {command}").stdout
    assert b"tuned on" not in run(f"suffit mail {command}").stdout


def test_a_new_class_is_tuned_on_before_there_are_twice_as_many_messages(taught: Path, run: Run):
    run("suffit mail tune")
    news = [run("suffit mail learn --class news", input=b"Subject: News %d\n\nRead all\n" % i).stdout for i in range(5)]
    assert [b"tuned on 404 messages" in said for said in news] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("learn Maildir", b"say what the mail is"),
        ("learn --spam --ham", b"say what the mail is"),
        ("learn --spam nowhere", b"nowhere: there is no such file or folder"),
        ("explain --store nowhere.sqlite", b"there is no store nowhere.sqlite: suffit mail learn makes one"),
        ("nonsense", b"invalid choice"),
        ("classify --nonsense", b"unrecognized arguments"),
        ("unlearn --digest xyz", b"'xyz' is not the digest of a message"),
        ("import /dev/null --store new.sqlite", b"line 1"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_3(home: Path, run: Run, command: str, said: bytes):
    done = run(f"suffit mail {command}", code=3)
    assert said in done.stderr
    assert done.stderr.count(b"\n") == 1


def recipe(program: str) -> str:
    (found,) = re.findall(rf"^```{program}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    return found


def delivered(home: Path) -> list[int]:
    """Messages in the inbox, in Junk and in Unsure."""
    folders = (home / "Maildir", home / "Maildir" / ".Junk", home / "Maildir" / ".Unsure")
    return [len(list((folder / "new").iterdir())) for folder in folders]


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")


def test_the_recipe_for_procmail(taught: Path, run: Run):
    needs("procmail")
    (taught / ".procmailrc").write_text(f"HOME={taught}\n" + recipe("procmail"))  # else it is that of the password file
    inbox, junk, unsure = delivered(taught)
    for raw in (spam(900), ham(900), b"Subject: xyzzy\n\nplugh\n"):
        run("procmail -m $HOME/.procmailrc", input=b"From a@b.example Mon Nov 16 10:00:00 2026\n" + raw)
    assert delivered(taught) == [inbox + 1, junk + 1, unsure + 1]
    (taught / "bin" / "suffit").unlink()  # it is gone: mail comes all the same
    run("procmail -m $HOME/.procmailrc", input=spam(901))
    assert delivered(taught) == [inbox + 2, junk + 1, unsure + 1]


def test_the_recipe_for_maildrop(taught: Path, run: Run):
    needs("maildrop")
    (taught / ".mailfilter").write_text(f'HOME="{taught}"\n' + recipe("maildrop"))
    (taught / ".mailfilter").chmod(0o600)
    inbox, junk, unsure = delivered(taught)
    for raw in (spam(900), ham(900), b"Subject: xyzzy\n\nplugh\n"):
        run("maildrop $HOME/.mailfilter", input=raw)
    assert delivered(taught) == [inbox + 1, junk + 1, unsure + 1]


SIEVE = """
mail_uid = {user}
mail_gid = {user}
first_valid_uid = {user}
first_valid_gid = {user}
mail_location = maildir:{folder}/Maildir
plugin {{
  sieve_plugins = sieve_extprograms
  sieve_extensions = +vnd.dovecot.filter
  sieve_filter_bin_dir = {folder}/bin
}}
"""


@pytest.mark.parametrize("kind", ["sieve", "sieve-filter"])
def test_the_recipe_for_sieve(taught: Path, run: Run, kind: str):
    """As somebody else where we are root, whom Dovecot does not serve."""
    needs("sieve-test")
    user = os.getuid() or 65534
    as_user = {"user": user, "group": user, "extra_groups": []} if os.getuid() == 0 else {}
    messages = ((spam(900), "Junk"), (ham(900), "INBOX"), (b"Subject: xyzzy\n\nplugh\n", "Unsure"))
    with tempfile.TemporaryDirectory(prefix="sieve") as made:
        folder = Path(made)
        (folder / "config").write_text(SIEVE.format(user=user, folder=folder))
        (folder / "sort.sieve").write_text(recipe(kind))
        (folder / "bin").mkdir()
        (folder / "bin" / "suffit-mail").write_text(f"#!/bin/sh\ncat > /dev/null\nexec cat {folder}/classified\n")
        (folder / "bin" / "suffit-mail").chmod(0o755)
        for raw, where in messages:
            classified = run("suffit mail classify -p -e", input=raw).stdout
            (folder / "classified").write_bytes(classified)
            (folder / "mail").write_bytes(classified if kind == "sieve" else raw)
            for path in (folder, *folder.rglob("*")):
                os.chown(path, user, user)
            command = ["sieve-test", "-e", "-c", "config", "sort.sieve", "mail"]
            environment = {**os.environ, "HOME": made, "USER": str(user)}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, **as_user)
            assert f"mailbox '{where}'" in done.stderr + done.stdout, (done.stderr, done.stdout)


def test_the_recipe_for_mutt(taught: Path, run: Run):
    """With a terminal of its own: the keys S and then H on the one message of a mailbox."""
    needs("mutt")
    (taught / "muttrc").write_text(recipe("mutt") + f'set quit=yes\nset folder="{taught}"\n')
    (taught / "box").write_bytes(b"From a@b.example Mon Nov 16 10:00:00 2026\n" + spam(900) + b"\n")
    for key, label in (("S", "spam"), ("H", "ham")):
        child, terminal = pty.fork()
        if not child:
            os.environ["TERM"] = "vt100"
            os.execvp("mutt", ["mutt", "-n", "-F", "muttrc", "-f", "box", "-e", f"push {key}<exit>"])
        deadline = time.monotonic() + 60
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while time.monotonic() < deadline:
                if select.select([terminal], [], [], 1.0)[0]:
                    os.read(terminal, 4096)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
        assert f"was {label}" in run("suffit mail unlearn", input=spam(900)).stdout.decode()
