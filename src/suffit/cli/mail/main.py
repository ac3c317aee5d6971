"""``suffit mail``: the filter itself at once, everything else by way of its parser of options."""

from __future__ import annotations


def main(arguments: list[str]) -> int:
    """Run a verb; the exit code."""
    if arguments[:1] == ["classify"]:
        from ...mail.filter import Options, run

        options = Options.read(arguments[1:])
        if options is not None:
            return run(options)
    from .options import run as run_verb

    return run_verb(arguments)
