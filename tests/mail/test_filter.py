"""The contract of the filter: exit codes, one header, and a message that is never lost, whatever happens."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suffit.cli.mail.options import parser
from suffit.mail.client import ask
from suffit.mail.filter import Options
from suffit.mail.message import read_message
from suffit.mail.places import socket_path
from suffit.mail.store import Store

COMMAND = [sys.executable, "-m", "suffit", "mail"]
SPAM = b"From: win@prize.example\nSubject: Free money now\n\nClick http://prize.example/win for free money, winner!\n"
HAM = b"From: anna@work.example\r\nSubject: Meeting on Monday\r\n\r\nThe agenda of the meeting is attached.\r\nAnna\r\n"
OTHER = b"From: who@knows.example\nSubject: xyzzy\n\nplugh plover\n"


def mail(kind: bytes, i: int) -> bytes:
    return kind.rstrip() + b" %d\n" % i


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Short, because the address of a socket is."""
    with tempfile.TemporaryDirectory(prefix="suffit") as made:
        yield Path(made)


@pytest.fixture(scope="module")
def store(folder: Path) -> str:
    path = str(folder / "store.sqlite")
    with Store.open(path, write=True) as made:
        for i in range(150):
            made.learn(read_message(mail(SPAM, i)), "spam")
            made.learn(read_message(mail(HAM, i)), "ham")
    return path


def classify(*arguments: str, raw: bytes, store: str, **options) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, "classify", "--store", store, *arguments]
    return subprocess.run(command, input=raw, capture_output=True, timeout=60, **options)


def body(raw: bytes) -> bytes:
    """What our header's line is not part of."""
    return b"".join(line for line in raw.splitlines(keepends=True) if not line.startswith(b"X-Suffit: "))


def header(raw: bytes) -> str:
    (found,) = [line for line in raw.splitlines() if line.startswith(b"X-Suffit: ")]
    return found.decode("ascii")


@pytest.mark.parametrize(("raw", "code", "label"), [(SPAM, 0, "spam"), (HAM, 1, "ham"), (OTHER, 2, "unsure")])
def test_exit_codes_are_those_of_bogofilter(store: str, raw: bytes, code: int, label: str):
    done = classify(raw=raw, store=store)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
    passed = classify("-p", raw=raw, store=store)
    assert passed.returncode == code
    assert body(passed.stdout) == raw
    assert header(passed.stdout).startswith(f"X-Suffit: {label}; p=")
    embedded = classify("-p", "-e", raw=raw, store=store)
    assert (embedded.returncode, embedded.stdout) == (0, passed.stdout)
    assert classify("-v", raw=raw, store=store).stdout.decode().startswith(f"X-Suffit: {label}; p=")


def test_the_header_names_what_decided(store: str):
    said = header(classify("-pe", raw=SPAM, store=store).stdout)
    assert "top=" in said
    assert "prize.example" in said or "free" in said
    assert len(said) < 998


def test_forged_headers_are_removed_first(store: str):
    forged = b"X-Suffit: ham; p=0.000\nx-suffit: ham;\n\tfolded\n" + SPAM
    done = classify("-p", raw=forged, store=store)
    assert done.returncode == 0
    assert done.stdout.lower().count(b"x-suffit") == 1
    assert body(done.stdout) == SPAM


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\x00" * 1000,
        b"no header at all",
        b"From \n",
        bytes(range(256)) * 50,
        b"A: b\r\rc",
        b" folded\n\nx",
    ],
)
def test_whatever_the_bytes_are_they_come_out_again(store: str, raw: bytes):
    done = classify("-p", "-e", raw=raw, store=store)
    assert done.returncode == 0
    assert done.stdout.replace(header(done.stdout).encode(), b"", 1).replace(b"\n", b"") == raw.replace(b"\n", b"")


@pytest.mark.parametrize("names", [(), ("ham",), ("spam",), ("ham", "spam"), ("newsletter",)])
def test_a_store_that_has_learned_next_to_nothing_is_unsure(tmp_path: Path, names: tuple[str, ...]):
    path = str(tmp_path / "store.sqlite")
    with Store.open(path, write=True) as made:
        for i, name in enumerate(names):
            made.learn(read_message(mail(HAM, i)), name)
    done = classify("-p", raw=SPAM, store=path)
    assert header(done.stdout).startswith("X-Suffit: unsure; p=0."), done.stdout
    assert done.returncode == 2


def broken_store(how: str, folder: Path, store: str) -> str:
    path = folder / f"{how}.sqlite"
    if how == "missing":
        return str(path)
    data = Path(store).read_bytes()
    path.write_bytes({"cut": data[:5000], "empty": b"", "zeros": bytes(len(data)), "text": b"hello\n"}.get(how, data))
    if how == "folder":
        path.unlink()
        path.mkdir()
    return str(path)


@pytest.mark.parametrize("how", ["missing", "cut", "empty", "zeros", "text", "folder"])
def test_a_store_that_cannot_be_used_lets_the_message_through(folder: Path, store: str, how: str):
    path = broken_store(how, folder, store)
    done = classify("-p", raw=SPAM, store=path)
    assert done.returncode == 0
    assert body(done.stdout) == SPAM
    assert header(done.stdout).startswith("X-Suffit: error; reason=")
    assert done.stderr.startswith(b"suffit: error; reason=")
    assert classify(raw=SPAM, store=path).returncode == 3
    deferred = classify("-p", "--on-error=defer", raw=SPAM, store=path)
    assert (deferred.returncode, deferred.stdout) == (75, b"")


def test_an_unreadable_store(folder: Path, store: str):
    if os.getuid() == 0:
        pytest.skip("root reads everything")
    os.chmod(store, 0)
    try:
        done = classify("-p", raw=SPAM, store=store)
    finally:
        os.chmod(store, 0o600)
    assert (done.returncode, body(done.stdout)) == (0, SPAM)
    assert header(done.stdout).startswith("X-Suffit: error; reason=")


def test_a_locked_store_does_not_keep_a_message_waiting(store: str):
    """Not by a writer, and even where somebody locks out all readers not longer than the deadline."""
    with Store.open(store, write=True) as other, other.changing():
        assert classify(raw=SPAM, store=store).returncode == 0
    with Store.open(store) as other:
        other._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        other._connection.execute("BEGIN EXCLUSIVE")
        start = time.perf_counter()
        done = classify("-p", "--deadline", "1", raw=SPAM, store=store)
        assert time.perf_counter() - start < 10
    assert (done.returncode, body(done.stdout)) == (0, SPAM)


def test_a_verdict_that_does_not_come_is_not_waited_for(store: str, tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'suffit.mail.judging': time.sleep(1000)\n"
        "sys.meta_path.insert(0, Slow())\n"
    )
    start = time.perf_counter()
    done = classify("-p", "--deadline=1", raw=SPAM, store=store, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert time.perf_counter() - start < 20
    assert done.returncode == 0
    assert header(done.stdout) == "X-Suffit: error; reason=no verdict within 1 s"
    assert body(done.stdout) == SPAM


def test_a_reader_that_is_gone_and_a_disk_that_is_full_defer_the_message(store: str, tmp_path: Path):
    source, sink = os.pipe()
    os.close(source)
    done = subprocess.run(
        [*COMMAND, "classify", "-p", "--store", store], input=SPAM, stdout=sink, stderr=subprocess.PIPE
    )
    os.close(sink)
    assert done.returncode == 75
    with open(tmp_path / "out", "wb") as out:
        command = [*COMMAND, "classify", "-p", "--store", store]
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
        done = subprocess.run(command, input=SPAM * 100, stdout=out, stderr=subprocess.PIPE, preexec_fn=limit)
    assert done.returncode == 75
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, input=SPAM, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 75
        assert b"cannot be written" in done.stderr


def test_a_request_to_end_in_the_middle_of_a_message_defers_it(store: str):
    process = subprocess.Popen(
        [*COMMAND, "classify", "-p", "--store", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(SPAM)
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (75, b"")


def test_a_reader_that_does_not_read_is_not_waited_for_forever(store: str):
    process = subprocess.Popen(
        [*COMMAND, "classify", "-p", "--deadline=1", "--store", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(SPAM * 10_000)
    process.stdin.close()
    assert process.wait(timeout=30) == 75
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize(
    "line",
    [
        "", "-p", "-pe", "-e -p", "-v", "-epv", "--passthrough --embed", "--store x -p", "--store=x",
        "--on-error=defer -p",
        "--on-error pass", "--deadline 3", "--deadline=0.5 --no-daemon",
    ],
)  # fmt: skip
def test_the_quick_reader_of_options_agrees_with_the_one_that_has_the_help(line: str):
    quick, slow = Options.read(line.split()), parser().parse_args(["classify", *line.split()])
    assert quick is not None
    assert (quick.passthrough, quick.embed, quick.say) == (slow.passthrough, slow.embed, slow.verbose)
    assert (quick.store, quick.defer, quick.deadline) == (slow.store, slow.on_error == "defer", slow.deadline)
    assert quick.daemon is not slow.no_daemon


@pytest.mark.parametrize(
    "line", ["--help", "-h", "file", "--nonsense", "-px", "--on-error=x", "--deadline=x", "--store", "--json", "-"]
)
def test_what_the_quick_reader_does_not_know_it_leaves_to_the_other(line: str):
    assert Options.read(line.split()) is None


def test_neither_numpy_nor_typer_is_loaded_for_a_message(store: str):
    """Not in this process, nor in its child."""
    heavy = {"numpy", "numba", "sklearn", "typer", "rich", "argparse", "typing", "dataclasses"}
    script = f"""
import os, sys
from suffit.__main__ import main
sys.argv = ["suffit", "mail", "classify", "--store", {store!r}]
leave = os._exit
def leaving(code):
    assert not {heavy - {"typing", "dataclasses", "argparse"}!r} & set(sys.modules)
    leave(code)
os._exit = leaving
try: main()
except SystemExit as done: print(done.code, sorted({heavy!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], input=SPAM, capture_output=True)
    assert done.stdout.decode().strip() == "0 []", done.stderr


@pytest.fixture
def daemon(store: str) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    started = []

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen([*COMMAND, "serve", "--store", store], stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert b"serving" in process.stderr.readline()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_daemon_says_what_the_filter_says_without_it(store: str, daemon: Callable[[], subprocess.Popen[bytes]]):
    process = daemon()
    path = socket_path(store)
    assert os.stat(path).st_mode & 0o777 == 0o600
    for raw in (SPAM, HAM, OTHER, b"", SPAM * 20_000):
        alone = classify("-p", "--no-daemon", raw=raw, store=store)
        served = classify("-p", raw=raw, store=store)
        assert (served.returncode, served.stdout) == (alone.returncode, alone.stdout)
    answered = ask(path, b"ping", b"", 5.0)
    assert answered is not None
    assert answered.endswith(b"5 messages classified")
    with Store.open(store, write=True) as other:  # it sees what others learn
        other.learn(read_message(OTHER), "spam")
        before, after = header(alone.stdout), ask(path, b"classify", OTHER, 5.0)
        other.unlearn(read_message(OTHER).digest)
    assert after is not None
    assert after.split(b" ", 1)[1].decode() not in before
    second = subprocess.run([*COMMAND, "serve", "--store", store], capture_output=True, timeout=60)
    assert second.returncode == 3
    assert b"another daemon" in second.stderr
    process.terminate()
    assert process.wait(timeout=30) == 0
    assert not os.path.exists(path)


def test_a_daemon_that_was_killed_is_not_missed_and_can_start_again(
    store: str, daemon: Callable[[], subprocess.Popen[bytes]]
):
    first = daemon()
    first.kill()
    first.wait()
    assert os.path.exists(socket_path(store))
    done = classify("-p", raw=SPAM, store=store)
    assert (done.returncode, header(done.stdout)[:15]) == (0, "X-Suffit: spam;")
    doctor = subprocess.run([*COMMAND, "doctor", "--store", store], capture_output=True, text=True)
    assert doctor.returncode == 3
    assert "does not answer" in doctor.stdout
    daemon()
    assert ask(socket_path(store), b"ping", b"", 5.0) is not None


def test_a_daemon_that_hangs_is_not_waited_for(store: str):
    path = socket_path(store)
    Path(path).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(path)
        silent.listen(5)
        start = time.perf_counter()
        done = classify("-p", raw=SPAM, store=store)
        assert 2.0 <= time.perf_counter() - start < 20
    os.unlink(path)
    assert (done.returncode, header(done.stdout)[:15]) == (0, "X-Suffit: spam;")


def test_clients_that_say_nothing_or_nonsense_do_not_hold_the_daemon_up(
    store: str, daemon: Callable[[], subprocess.Popen[bytes]]
):
    daemon()
    path = socket_path(store)
    silent = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(10)]
    for line in silent:
        line.connect(path)
    for words in (b"\n", b"classify -1\n", b"classify x\n", b"x" * 1000, b"classify 100\nshort"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(path)
            line.sendall(words)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(100) == b""
    answers: list[bytes | None] = []
    threads = [threading.Thread(target=lambda: answers.append(ask(path, b"classify", SPAM, 10.0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(answer is not None and answer.startswith(b"0 spam;") for answer in answers)
    for line in silent:
        line.close()
