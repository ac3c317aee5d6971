"""The command line: its verbs in the order of the help, and how a run begins and ends."""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import Annotated

import typer

from .console import EXIT_CODES, INTERRUPTED, say, verb
from .model_verbs import fit, forget, merge, show, update
from .options import Debug, Quiet
from .row_verbs import compare, decide, evaluate, explain, impute, predict, report, sample

COLLECT_AFTER = 50_000  # objects more: imports make many and leave no garbage, and looking for it is a tenth of a start

app = typer.Typer(
    name="suffit",
    help=f"Generative classifiers whose fitted model is a table of sums: fit, merge, forget, explain.\n\n{EXIT_CODES}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(f"suffit {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Print the help where no verb is given."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def mail(context: typer.Context) -> None:
    """Filter mail: learn, classify, correct, explain and more; suffit mail --help has its verbs."""
    from .mail.main import main as run

    raise typer.Exit(run(context.args))


@verb
def warm(quiet: Quiet = False, debug: Debug = False) -> None:
    """Compile everything for this machine once, so that no later run waits for it.

    \b
    Example:
      suffit warm
    """
    from .warming import warm_all

    warm_all(quiet)


@verb
def demo(
    folder: Annotated[str, typer.Option("--output", "-o", help="Where the model and the picture go.")] = "suffit-demo",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the main job on a real table: fit, compare, explain, decide, merge, forget, save.

    \b
    Example:
      suffit demo
    """
    from .demo import main as run

    run(folder)


VERBS = (
    fit, predict, decide, impute, sample, evaluate, compare, report, explain, show, merge, update, forget, warm, demo
)  # fmt: skip
for work in VERBS:
    app.command()(work)


def main() -> None:
    """Run what the command line asks for, and end the process."""
    gc.set_threshold(COLLECT_AFTER)
    code: str | int | None = 0
    try:
        app(prog_name="suffit")
    except SystemExit as done:
        code = done.code
    except KeyboardInterrupt:
        say("interrupted; nothing was written")
        code = INTERRUPTED
    streams = sys.modules.get("suffit.engines.streams")
    # a thread of ours may wait for input, and one of Arrow's read: it would abort the process
    if streams and (code == INTERRUPTED or any(t.name == streams.READER for t in threading.enumerate())):
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 1)
    sys.exit(code)
