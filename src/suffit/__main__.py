"""``python -m suffit demo``."""

from __future__ import annotations

import argparse
import sys


def main() -> int:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m suffit", description="Generative classifiers from sums.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="fit LDA, QDA and naive Bayes beside logistic regression on embedded data")
    parser.parse_args()
    from .demo import main as demo
    from .kernels.runtime.compiled import saying_when_compiling

    with saying_when_compiling(lambda line: print(line, file=sys.stderr, flush=True)):
        demo()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
