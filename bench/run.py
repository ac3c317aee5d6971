"""``scripts/bench``: run the tasks, print the table, write the results."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STEADY = {"MALLOC_MMAP_THRESHOLD_": str(8 << 30), "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}
TURN = 0.1  # seconds that a side takes before it is the other's turn: waking up a core is not what is measured
QUICK = 0.1  # the share of the rows that --quick uses
SMALL_FILE = 500_000  # rows of the files that --quick makes
QUICK_SECONDS = 50.0  # after so long in one of its two runs, --quick measures what is left once


def turn(call: Any, calls: int) -> float:
    """Seconds of one call, on average over some in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def calls_in(seconds: float, call: Any) -> int:
    """How many calls take so long, at least one; the first, which may compile something, aside."""
    call()
    calls = 1
    while calls * turn(call, calls) < seconds:
        calls *= 4
    return calls


def measure(task: Any, budget: float, least: int, long: float) -> dict[str, Any]:
    """Both sides in turns of ``long`` seconds or one call, ``least`` times or as often as the budget allows; medians.

    First a check that they agree.
    """
    difference = task.same() if task.same else None
    if difference is not None and not difference <= task.tolerance:
        raise SystemExit(f"{task.name}: the answers differ by {difference:.2g}")
    sides = (task.peer, task.ours)
    calls = [calls_in(long, side) for side in sides]
    both = sum(n * turn(side, n) for side, n in zip(sides, calls, strict=True))
    pause = 0.08 if task.spins and both > 5e-3 else 0.0  # else those of one side take a core from the other
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(max(least, min(15, int(budget / (both + 2 * pause))))):
        for side, n, found in zip(sides, calls, times, strict=True):
            time.sleep(pause)
            found.append(turn(side, n))
    theirs, mine = (statistics.median(found) for found in times)
    theirs *= task.repeats
    return {
        "task": task.name, "ours": mine, "peer": theirs, "ratio": theirs / mine, "floor": task.floor,
        "limit": task.limit, "work": task.work, "difference": difference, "room": task.room,
    }  # fmt: skip


def worker(arguments: argparse.Namespace) -> None:
    """All tasks in one process; one JSON object on the last line."""
    import machine

    late = time.monotonic() + (QUICK_SECONDS if arguments.quick else float("inf"))
    limits = machine.limits()
    rows = []
    for task in chosen(arguments):
        budget, least, long = (0.5, 3, TURN / 10) if arguments.quick else (4.0, 3, TURN)
        if time.monotonic() > late:
            budget, least = 0.0, 1
        row = measure(task, budget, least, long)
        if arguments.memory:
            row["memory"] = {"ours": machine.extra_memory(task.ours), "peer": machine.extra_memory(task.peer)}
        if row["limit"]:
            row["share"] = row["work"] / row["ours"] / limits[row["limit"]]
        rows.append(row)
        print(f"  {row['task']}: {row['ratio']:.1f}×", file=sys.stderr, flush=True)
    print(json.dumps({"limits": limits, "machine": machine.name(), "rows": rows}))


def side(arguments: argparse.Namespace) -> None:
    """One side of ``against``: the name of the next task, or the seconds of a call, for each word on standard input."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what tasks print is no answer
    coming, task, calls = chosen(arguments), None, 1
    for word in sys.stdin:
        if word == "next\n":
            task = next(coming, None)
            calls = 1 if task is None else calls_in(TURN, task.ours)
            print(json.dumps(None if task is None else task.name), file=out)
        elif task is not None:
            print(turn(task.ours, calls), file=out)


def chosen(arguments: argparse.Namespace) -> Iterator[Any]:
    """The tasks asked for, one after the other."""
    import tasks

    words = [word.lower() for word in arguments.tasks]
    groups = [group for group in tasks.GROUPS if any(word in group.__name__ for word in words)]
    for group in groups or tasks.GROUPS:
        for task in group(QUICK if arguments.quick else 1.0):
            if not words or groups or any(word in task.name.lower() for word in words):
                yield task
        for data in (tasks.gaussian, tasks.categories, tasks.words, tasks.texts):
            data.cache_clear()


def spawn(arguments: list[str], extra: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--worker", *arguments],
        env={**os.environ, **extra}, stdout=subprocess.PIPE, text=True, check=True, cwd=HERE,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def table(result: dict[str, Any]) -> None:
    import report
    from rich.console import Console
    from rich.table import Table

    out = Table(title=f"{result['machine']}; scikit-learn {result['sklearn']}", title_justify="left")
    for name in ("task", "peer", "suffit", "ratio", "(plain malloc)", "promise", "of the limit", "extra memory"):
        out.add_column(name, justify="left" if name == "task" else "right")
    for row in result["rows"]:
        style = "" if result["quick"] or report.kept(row) else "red"
        share = f"{row['share']:.0%} {row['limit']}" if row["limit"] else ""
        out.add_row(
            row["task"], pretty(row["peer"]), pretty(row["ours"]), f"{row['ratio']:.1f}", f"{row['plain']:.1f}",
            f"{row['floor']:g}", share, megabytes(row["memory"]), style=style,
        )  # fmt: skip
    Console(width=150).print(out)
    if result["quick"]:
        print("promises are for all of the rows: without --quick they are ten times as many")
        return
    short = [row["task"] for row in result["rows"] if not report.kept(row)]
    print(f"{len(result['rows']) - len(short)} of {len(result['rows'])} tasks keep their promise")


def again(stored: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The stored results with these rows in the places of the same tasks, and new ones at the end."""
    new = {row["task"]: row for row in rows}
    kept = [new.pop(row["task"], row) for row in stored["rows"]]
    return stored | {"rows": [*kept, *new.values()]}


def pretty(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def megabytes(memory: dict[str, float]) -> str:
    """What both sides take beyond the data, ours after theirs."""
    return f"{memory['peer'] / 1e6:.0f} → {memory['ours'] / 1e6:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench")
    import tasks

    groups = ", ".join(group.__name__ for group in tasks.GROUPS)
    words = f"words that the name of a group of tasks ({groups}), or else of a task, must hold"
    parser.add_argument("tasks", nargs="*", help=words)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:.0%}% of the rows: within three minutes")
    parser.add_argument(
        "--report",
        action="store_true",
        help="write docs/benchmarks.md and the table in README.md; with tasks named, theirs anew",
    )
    parser.add_argument("--against", metavar="COMMIT", help="suffit beside itself at another commit")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments)
        return
    if arguments.side:
        side(arguments)
        return
    if arguments.tasks == ["growth"]:
        import growth

        growth.main(10**6 if arguments.quick else 10**7)
        return
    if arguments.tasks == ["files"]:
        import files

        files.main(SMALL_FILE if arguments.quick else files.GIGABYTE)
        return
    if arguments.tasks[:1] == ["cold"]:
        import cold

        cold.main(arguments.tasks[1:])
        return
    passed = [*arguments.tasks, *(["--quick"] if arguments.quick else [])]
    if arguments.against:
        import against

        raise SystemExit(against.main(arguments.against, passed))
    print(
        "with memory kept by malloc, so that page faults of the peer's temporaries do not flatter us:", file=sys.stderr
    )
    result = spawn(passed, STEADY)
    print("with malloc as it comes:", file=sys.stderr)
    plain = {row["task"]: row for row in spawn([*passed, "--memory"], {})["rows"]}
    for row in result["rows"]:
        row["plain"], row["memory"] = plain[row["task"]]["ratio"], plain[row["task"]]["memory"]
    import sklearn

    result |= {"sklearn": sklearn.__version__, "python": platform.python_version(), "quick": arguments.quick}
    RESULTS.mkdir(exist_ok=True)
    kind = "quick" if arguments.quick else "full"
    path = RESULTS / f"{kind}.json"
    if not arguments.tasks:
        path.write_text(json.dumps(result, indent=1) + "\n")
    elif arguments.report and path.exists():
        path.write_text(json.dumps(again(json.loads(path.read_text()), result["rows"]), indent=1) + "\n")
    table(result)
    if arguments.report:
        import report

        report.write()


if __name__ == "__main__":
    main()
