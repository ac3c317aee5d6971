"""``suffit warm``: everything compiled once, with how far it is."""

from __future__ import annotations


def warm_all(quiet: bool) -> None:
    """Compile everything, and show how far it is on a terminal."""
    from rich.console import Console
    from rich.progress import track

    from ..kernels.runtime.cache import places
    from ..kernels.runtime.notice import compiled_kernels
    from ..warm import steps

    before = compiled_kernels()
    console = Console(stderr=True)
    shown = console.is_terminal and not quiet
    for _, step in track(list(steps()), "compiling for this machine", console=console, disable=not shown):
        step()
    already = compiled_kernels() == before
    print(*(["suffit: everything is compiled already"] if already else []), *places(), sep="\n")
