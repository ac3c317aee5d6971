"""``python -m suffit demo``."""

from __future__ import annotations

import argparse


def main() -> int:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m suffit", description="Generative classifiers from sums.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="fit LDA, QDA and naive Bayes beside logistic regression on embedded data")
    parser.parse_args()
    from .demo import main as demo

    demo()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
