"""What is said, where, and how a run ends: results on standard output, everything else on standard error."""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec

import typer

from .lean import import_arrow, import_scikit_learn

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

P = ParamSpec("P")

WRONG, INTERRUPTED, CLOSED = 1, 130, 141  # exit codes; 0 is done, 2 wrong usage
EXIT_CODES = (
    "Exit codes: 0 done; 1 something is wrong with the data, a file or a model; 2 wrong usage; 130 interrupted."
)


def say(text: str) -> None:
    """One line for people, on standard error."""
    print(f"suffit: {' '.join(text.split())}", file=sys.stderr, flush=True)


def verb(work: Callable[P, None]) -> Callable[P, None]:
    """A verb whose errors are one line, and a traceback only with ``--debug``; warnings are notes of one line.

    Its parameter ``how``, of how files are read, is made of options: those that its class takes.
    """
    signature = inspect.signature(work, eval_str=True)
    parameters = dict(signature.parameters)
    how = parameters.pop("how", None)
    options = dict(inspect.signature(how.annotation, eval_str=True).parameters) if how is not None else {}

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            import_scikit_learn()
            if "files" in kwargs or "output" in kwargs:
                import_arrow()
            quiet = bool(kwargs.get("quiet"))
            with notes(quiet), terminable(), compiling_said(quiet):
                if how is not None:
                    kwargs["how"] = how.annotation(**{name: kwargs.pop(name) for name in options})
                work(*args, **kwargs)
                sys.stdout.flush()
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            say("interrupted; nothing was written")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: nothing more to say
            raise typer.Exit(CLOSED) from None
        except Exception as error:
            if kwargs.get("debug"):
                raise
            say(f"error: {in_one_line(error)}")
            raise typer.Exit(WRONG) from None

    each = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*parameters.values(), *options.values())]
    vars(run)["__signature__"] = signature.replace(parameters=each)
    return run


def in_one_line(error: Exception) -> str:
    """What went wrong, for people."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or str(error))}"
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        return str(error)
    return f"{type(error).__name__}: {error} (a bug: please report it with what --debug prints)"


@contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Warnings of suffit as notes; those of others are not for users of a command."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, _data_warning()) and not quiet:
            say(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _data_warning() -> type[Warning]:
    from ..data.warn import DataWarning

    return DataWarning


@contextmanager
def terminable() -> Iterator[None]:
    """A request to end (SIGTERM) is an interruption: nothing half-written stays."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def compiling_said(quiet: bool) -> Iterator[None]:
    """Say when kernels are compiled, and how long it took."""
    from ..kernels.runtime.notice import saying_when_compiling

    with saying_when_compiling(lambda line: None if quiet else print(line, file=sys.stderr, flush=True)):
        yield


def show_json(value: object) -> None:
    """For machines: one JSON document on standard output."""
    print(as_json(value, indent=2))


def as_json(value: object, indent: int | None = None) -> str:
    """JSON that every reader takes."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False, default=_plain)
    except ValueError:  # NaN and infinities, which JSON does not have, are null
        return as_json(json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None), indent)


def _plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def show_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """For people: a table on standard output, without lines and colours in a pipe.

    Where a terminal is too narrow for its words, columns come below each other, each part with the first column.
    """
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    terminal = sys.stdout.isatty()
    colours: Literal["auto"] | None = "auto" if terminal else None
    console = Console(width=None if terminal else 400, color_system=colours, highlight=False, markup=False)

    def table(columns: Sequence[int]) -> Table:
        style = box.ROUNDED if terminal else None
        made = Table(title=title or None, title_justify="left", title_style="bold", box=style)
        for j in columns:
            right = all(isinstance(row[j], int | float) for row in rows)
            made.add_column(head[j], justify="right" if right else "left", overflow="fold")
        for row in rows:
            made.add_row(*(_cell(row[j]) for j in columns))
        return made

    def needs(columns: Sequence[int]) -> Measurement:
        return Measurement.get(console, console.options.update(max_width=1000), table(columns))

    parts = [list(range(len(head)))]
    if needs(parts[0]).minimum > console.width:
        parts = [[0]]
        for j in range(1, len(head)):
            if len(parts[-1]) > 1 and needs([*parts[-1], j]).maximum > console.width:
                parts.append([0])
            parts[-1].append(j)
    with console.capture() as text:
        for columns in parts:
            console.print(table(columns))
            title = ""
    print("\n".join(line.rstrip() for line in text.get().splitlines()))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value == round(value) and abs(value) >= 10 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


class Progress:
    """Rows so far and rows per second: a line on the terminal that is written over, and nothing in a pipe."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.rows, self.start = 0, time.perf_counter()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        if sys.stderr.isatty() and not quiet:
            from rich import progress
            from rich.console import Console

            columns = (progress.SpinnerColumn(), "{task.description}", progress.TimeElapsedColumn())
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(what, total=None)
        self.what = what

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, rows: int) -> None:
        """So many rows have been read."""
        self.rows = rows
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{self.what}: {rows:,} rows, {self.rate:,.0f} rows/s")

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.start

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / max(self.seconds, 1e-9)
