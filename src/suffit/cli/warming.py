"""``suffit warm``: everything compiled once, with how far it is."""

from __future__ import annotations


def warm_all() -> None:
    """Compile everything, and show how far it is."""
    from rich.console import Console
    from rich.progress import track

    from ..kernels.runtime.cache import places
    from ..kernels.runtime.notice import saying_when_compiling
    from ..warm import steps

    lines: list[str] = []
    console = Console(stderr=True)
    with saying_when_compiling(lines.append):
        for _, step in track(list(steps()), "compiling for this machine", console=console):
            step()
    print(lines[-1] if lines else "suffit: everything is compiled already", *places(), sep="\n")
