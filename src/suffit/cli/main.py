"""The verbs of the command line: what each takes, and what it hands on."""

from __future__ import annotations

import os
import sys
import threading
from enum import StrEnum
from typing import Annotated, Any

import typer

from .console import EXIT_CODES, INTERRUPTED, Progress, say, show_json, show_table, verb
from .options import (
    AsJson,
    Debug,
    Encoding,
    Files,
    Format,
    Keep,
    Kind,
    Missing,
    Model,
    Out,
    Quiet,
    Seed,
    Separator,
    Target,
    Text,
    To,
    Weight,
)

app = typer.Typer(
    name="suffit",
    help=f"Generative classifiers whose fitted model is a table of sums: fit, merge, forget, explain.\n\n{EXIT_CODES}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


class Structure(StrEnum):
    """How columns depend on each other."""

    auto = "auto"
    naive = "naive"


class Labels(StrEnum):
    """What to do with rows that have none."""

    error = "error"
    drop = "drop"


class Calibrate(StrEnum):
    """How probabilities are calibrated."""

    temperature = "temperature"
    isotonic = "isotonic"


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


@app.command()
@verb
def fit(
    files: Files,
    target: Annotated[str, typer.Option("--target", "-t", help="The column of the labels.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model file.")] = "model.suffit",
    columns: Annotated[list[str] | None, typer.Option(help="name=family, e.g. age=gamma; name=drop.")] = None,
    like: Annotated[str | None, typer.Option(help="A model whose families and structure to take.")] = None,
    structure: Annotated[Structure, typer.Option(help="Compare structures, or independent columns.")] = Structure.auto,
    calibrate: Annotated[Calibrate | None, typer.Option(help="Calibrate the probabilities.")] = None,
    missing_target: Annotated[Labels, typer.Option(help="Rows without a label: an error, or dropped.")] = Labels.error,
    weight: Weight = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    text: Text = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to files of rows, in one pass and bounded memory, and save it.

    Families and structure are chosen from rows all over the files.

    \b
    Example:
      suffit fit train.csv --target income -o income.suffit
    """
    from .learning import fitted, reported, unfitted
    from .writing import check_folder

    reading = _reading(format, encoding, separator, missing, text)
    settings = {"structure": structure.value, "missing_target": missing_target.value}
    if calibrate is not None:
        settings["calibrate"] = calibrate.value
    estimator = unfitted(columns or (), settings) if like is None else _loaded(like)
    check_folder(output)
    with Progress("fit", quiet or json) as progress:
        model = fitted(reading.files(files), target, weight, estimator, progress)
        model.save(output)
    reported(model, output, progress, json)


@app.command()
@verb
def predict(
    model: Model,
    files: Files,
    output: Out = None,
    keep: Keep = None,
    to: To = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Add the most probable class and the probability of every class to each row.

    \b
    Example:
      suffit predict income.suffit new.csv -o predicted.csv
    """
    from .rowwise import predicted

    _written(predicted, model, files, output, keep, to, json, quiet, _reading(format, encoding, separator, missing))


@app.command()
@verb
def decide(
    model: Model,
    files: Files,
    cost: Annotated[list[str] | None, typer.Option(help="true:decided=cost, for every pair of classes.")] = None,
    reject: Annotated[float | None, typer.Option(help="What it costs to decide nothing.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Of two classes: when the second is decided.")] = None,
    output: Out = None,
    keep: Keep = None,
    to: To = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Add the decision of least expected cost to each row.

    \b
    Example:
      suffit decide income.suffit new.csv --cost "high:low=5" --cost "low:high=1" -o decided.csv
    """
    from .rowwise import Deciding

    rule = Deciding(cost or (), reject, threshold)
    _written(rule, model, files, output, keep, to, json, quiet, _reading(format, encoding, separator, missing))


@app.command()
@verb
def impute(
    model: Model,
    files: Files,
    draw: Annotated[bool, typer.Option("--draw", help="One draw instead of the mean or the most probable.")] = False,
    seed: Seed = None,
    output: Out = None,
    to: To = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fill missing values given the rest of each row.

    \b
    Example:
      suffit impute income.suffit new.csv -o filled.csv
    """
    from .rowwise import Imputing

    fill = Imputing("draw" if draw else "mean", seed)
    _written(fill, model, files, output, None, to, json, quiet, _reading(format, encoding, separator, missing))


@app.command()
@verb
def sample(
    model: Model,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many rows.")] = 10,
    label: Annotated[str | None, typer.Option("--class", help="The class of all rows.")] = None,
    target: Annotated[str, typer.Option("--target", "-t", help="What to call the column of the classes.")] = "class",
    seed: Seed = None,
    output: Out = None,
    to: To = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw rows from a model.

    \b
    Example:
      suffit sample income.suffit -n 3 --seed 1
    """
    from .rowwise import drawn
    from .writing import output as writing

    with writing(output or "-", _kind(to, json)) as write:
        write(drawn(_loaded(model), n, label, target, seed))


@app.command()
@verb
def evaluate(
    model: Model,
    files: Files,
    target: Target = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare predictions with labels: accuracy, log-loss, Brier score, calibration.

    The column of the labels is found where it is clear; --target says which.

    \b
    Example:
      suffit evaluate income.suffit test.csv
    """
    from .evaluation import evaluated

    rows = _reading(format, encoding, separator, missing).for_model(_loaded(model), files)
    with Progress("evaluate", quiet or json) as progress:
        found = evaluated(rows, target, progress)
    if json:
        show_json(found)
        return
    from .report import show_evaluation

    show_evaluation(found)


@app.command()
@verb
def explain(
    model: Model,
    files: Files,
    row: Annotated[list[int] | None, typer.Option("--row", "-r", min=1, help="Which rows, from 1.")] = None,
    n: Annotated[int, typer.Option("-n", "--things", min=1, help="How many things to name.")] = 5,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say why a row gets its class: what every column adds to the log-odds.

    \b
    Example:
      suffit explain income.suffit new.csv --row 2
    """
    from .rowwise import explained

    rows = _reading(format, encoding, separator, missing).for_model(_loaded(model), files)
    row = row or [1]
    found = explained(rows, row, n)
    if json:
        show_json([terms for terms, _ in found])
    else:
        print("\n\n".join(f"row {i}: {words}" for i, (_, words) in zip(row, found, strict=True)))


@app.command()
@verb
def show(model: Model, json: AsJson = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Show a model: its classes, its columns and their families, the structures it pools.

    \b
    Example:
      suffit show income.suffit
    """
    from .report import described, show_model

    loaded = _loaded(model)
    show_json(described(loaded)) if json else show_model(loaded)


@app.command()
@verb
def merge(
    models: Annotated[list[str], typer.Argument(metavar="MODELS...", help="Two or more model files.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model of all their rows.")],
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge models into the model of all their rows, which need not be there any more.

    Models merge where they have the same families and structure: fit one, and give it to the others with
    suffit fit … --like one.suffit.

    \b
    Example:
      suffit merge income.suffit more.suffit -o both.suffit
    """
    from ..data.errors import InputError
    from .writing import check_folder

    check_folder(output)
    first, *others = [_loaded(path) for path in models]
    try:
        merged = first.merge(*others)
    except InputError as error:
        raise InputError(f"{error} (suffit fit … --like {models[0]})") from None
    merged.save(output)
    _changed(merged, output, "merged", json)


@app.command()
@verb
def update(
    model: Model,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    output: Out = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn more rows.  The model file is replaced, unless --output names another.

    \b
    Example:
      suffit update income.suffit more.csv
    """
    _relearned(
        "update", model, files, target, weight, output, json, quiet, _reading(format, encoding, separator, missing)
    )


@app.command()
@verb
def forget(
    model: Model,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    output: Out = None,
    format: Format = None,
    encoding: Encoding = None,
    separator: Separator = None,
    missing: Missing = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Take rows out of a model, as if it had never learned them.  The file is replaced, unless --output names another.

    \b
    Example:
      suffit forget income.suffit withdrawn.csv -o without.suffit
    """
    _relearned(
        "forget", model, files, target, weight, output, json, quiet, _reading(format, encoding, separator, missing)
    )


@app.command(add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def mail(context: typer.Context) -> None:
    """Filter mail: learn, classify, correct, explain and more; suffit mail --help has its verbs."""
    from .mail.main import main as run

    raise typer.Exit(run(context.args))


@app.command()
@verb
def warm(quiet: Quiet = False, debug: Debug = False) -> None:
    """Compile everything for this machine once, so that no later run waits for it.

    \b
    Example:
      suffit warm
    """
    from .warming import warm_all

    warm_all()


@app.command()
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


def _reading(kind: Kind | None, encoding: str | None, separator: str | None, missing: Any, text: Any = None) -> Any:
    from .reading import Reading

    return Reading(kind and kind.value, encoding, separator, tuple(missing or ()), tuple(text or ()))


def _loaded(path: str) -> Any:
    from ..files.store import load

    return load(path)


def _kind(to: Kind | None, json: bool) -> str | None:
    return to.value if to is not None else "jsonl" if json else None


def _written(
    work: Any,
    model: str,
    files: list[str],
    out: str | None,
    keep: str | None,
    to: Any,
    json: bool,
    quiet: bool,
    how: Any,
) -> None:
    """Rows with what ``work`` adds to them, table by table."""
    from ..data.errors import InputError
    from .writing import output as writing

    rows = how.for_model(_loaded(model), files)
    kept = None if keep is None else [name for name in keep.split(",") if name]
    with Progress("rows", quiet or out in (None, "-")) as progress, writing(out or "-", _kind(to, json)) as write:
        for table, typed in rows.both(progress):
            write(work(rows.model, table, typed, kept))
        if not progress.rows:
            raise InputError(f"{', '.join(files)}: there are no rows")
    if out not in (None, "-") and not quiet:
        say(f"{progress.rows:,} rows in {progress.seconds:.1f} s → {out}")


def _relearned(
    how: str, path: str, files: list[str], target: str | None, weight: str | None, out: str | None, json: bool,
    quiet: bool, reading: Any,
) -> None:  # fmt: skip
    from .learning import relearned
    from .writing import check_folder

    check_folder(out or path)
    model = _loaded(path)
    with Progress(how, quiet or json) as progress:
        relearned(how, reading.for_model(model, files), target, weight, progress)
        model.save(out or path)
    done = "learned" if how == "update" else "forgotten"
    _changed(model, out or path, f"{progress.rows:,} rows {done}", json)


def _changed(model: Any, path: str, what: str, json: bool) -> None:
    counts = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if json:
        show_json({"model": path, "rows": sum(counts.values()), "classes": counts})
        return
    print(f"{what}; {path} has {sum(counts.values()):,.0f} rows")
    show_table("", ["class", "rows"], list(counts.items()))


def main() -> None:
    """Run what the command line asks for, and end the process."""
    code: Any = 0
    try:
        app(prog_name="suffit")
    except SystemExit as done:
        code = done.code
    except KeyboardInterrupt:
        say("interrupted; nothing was written")
        code = INTERRUPTED
    streams = sys.modules.get("suffit.engines.streams")
    if streams and any(thread.name == streams.READER for thread in threading.enumerate()):  # it waits, or is in Arrow
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 1)
    sys.exit(code)
