"""``python -m suffit demo`` and ``python -m suffit warm``."""

from __future__ import annotations

import argparse
import sys


def main() -> int:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m suffit", description="Generative classifiers from sums.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="fit LDA, QDA and naive Bayes beside logistic regression on embedded data")
    commands.add_parser("warm", help="compile everything once, so that no later process waits for it")
    asked = parser.parse_args().command
    if asked == "warm":
        warm()
        return 0
    from .demo import main as demo
    from .kernels.runtime.notice import saying_when_compiling

    with saying_when_compiling(lambda line: print(line, file=sys.stderr, flush=True)):
        demo()
    return 0


def warm() -> None:
    """Compile everything, and show how far it is."""
    from rich.console import Console
    from rich.progress import track

    from .kernels.runtime.cache import places
    from .kernels.runtime.notice import saying_when_compiling
    from .warm import steps

    lines: list[str] = []
    console = Console(stderr=True)
    with saying_when_compiling(lines.append):
        for _, step in track(list(steps()), "compiling for this machine", console=console):
            step()
    print(lines[-1] if lines else "suffit: everything is compiled already", *places(), sep="\n")


if __name__ == "__main__":
    raise SystemExit(main())
