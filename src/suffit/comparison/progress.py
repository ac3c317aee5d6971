"""How far long work is: a bar on the terminal, or whatever the caller does with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Steps = Callable[[str], None]


@contextmanager
def shown(progress: bool | Callable[[int, int, str], None] | None, steps: int) -> Iterator[Steps]:
    """A function to be called after each step, with what was done."""
    if callable(progress):
        done = 0

        def tell(what: str) -> None:
            nonlocal done
            done += 1
            progress(done, steps, what)

        yield tell
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda what: None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeElapsedColumn(), "{task.description}")
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=steps)
        yield lambda what: bar.update(task, advance=1, description=what)
