"""The verbs that make, show and change models: what each takes, and what it hands on."""

from __future__ import annotations

from typing import Annotated

import typer

from .console import Progress, show_json, verb
from .options import (
    AsJson,
    Calibrate,
    Debug,
    Files,
    FirstReading,
    Labels,
    Model,
    Out,
    Quiet,
    Reading,
    Structure,
    Target,
    Weight,
)
from .steps import changed, learner, loaded


@verb
def fit(
    files: Files,
    target: Annotated[str, typer.Option("--target", "-t", help="The column of the labels.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model file.")] = "model.suffit",
    columns: Annotated[list[str] | None, typer.Option(help="name=family, e.g. age=gamma; name=drop.")] = None,
    like: Annotated[str | None, typer.Option(help="A model whose families and structure to take.")] = None,
    structure: Annotated[Structure, typer.Option(help="All compared; naive; trees; all but trees.")] = Structure.auto,
    calibrate: Annotated[Calibrate | None, typer.Option(help="Calibrate the probabilities.")] = None,
    missing_target: Annotated[Labels, typer.Option(help="Rows without a label: an error, or dropped.")] = Labels.error,
    weight: Weight = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: FirstReading,
) -> None:
    """Fit a model to files of rows, in one pass and bounded memory, and save it.

    Families and structure are chosen from rows all over the files.

    \b
    Example:
      suffit fit train.csv --target income -o income.suffit
    """
    from .learning import fitted, reported, unfitted
    from .writing import check_folder

    settings = {"structure": structure.value, "missing_target": missing_target.value}
    if calibrate is not None:
        settings["calibrate"] = calibrate.value
    estimator = unfitted(columns or (), settings) if like is None else learner(like)
    check_folder(output)
    with Progress("fit", quiet or json) as progress:
        model = fitted(how.files(files), target, weight, estimator, progress)
        model.save(output)
    reported(model, output, progress, json)


@verb
def show(model: Model, json: AsJson = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Show a model: its classes, its columns and their families, the structures it pools.

    \b
    Example:
      suffit show income.suffit
    """
    from .report import described, learner_of, show_model

    found = loaded(model)
    show_json(described(learner_of(found))) if json else show_model(found)


@verb
def merge(
    models: Annotated[list[str], typer.Argument(metavar="MODELS", help="Two or more model files.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model of all their rows.")],
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge models into the model of all their rows, which need not be there any more.

    Models merge where the others have the families and structures of the first: fit one, and give it to the others with
    suffit fit … --like one.suffit.

    \b
    Example:
      suffit merge income.suffit more.suffit -o both.suffit
    """
    from ..data.errors import InputError
    from .writing import check_folder

    check_folder(output)
    if len(models) == 1:
        raise InputError(f"{models[0]}: one model alone, expected two or more to merge")
    first, *others = [learner(path) for path in models]
    try:
        merged = first.merge(*others)
    except InputError as error:
        raise InputError(f"{error} (suffit fit … --like {models[0]})") from None
    merged.save(output)
    changed(merged, output, "merged", json)


@verb
def update(
    model: Model,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    output: Out = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Learn more rows.  The model file is replaced, unless --output names another.

    \b
    Example:
      suffit update income.suffit more.csv
    """
    _relearned("update", model, files, target, weight, output, json, quiet, how)


@verb
def forget(
    model: Model,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    output: Out = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Take rows out of a model, as if it had never learned them.  The file is replaced, unless --output names another.

    \b
    Example:
      suffit forget income.suffit withdrawn.csv -o without.suffit
    """
    _relearned("forget", model, files, target, weight, output, json, quiet, how)


def _relearned(
    how: str, path: str, files: list[str], target: str | None, weight: str | None, out: str | None, json: bool,
    quiet: bool, reading: Reading,
) -> None:  # fmt: skip
    from .learning import relearned
    from .writing import check_folder

    check_folder(out or path)
    model = learner(path)
    with Progress(how, quiet or json) as progress:
        relearned(how, reading.for_model(model, files), target, weight, progress)
        model.save(out or path)
    done = "learned" if how == "update" else "forgotten"
    changed(model, out or path, f"{progress.rows:,} rows {done}", json)
