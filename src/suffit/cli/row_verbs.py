"""The verbs that say something of each row: what each takes, and what it hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .console import Progress, say, show_json, verb
from .options import (
    AsJson,
    Debug,
    Files,
    FirstReading,
    Keep,
    Kind,
    Model,
    Out,
    Quiet,
    Reading,
    Seed,
    Target,
    To,
)
from .steps import kind_of_output, learner, loaded

if TYPE_CHECKING:
    from .rowwise import Work


@verb
def predict(
    model: Model,
    files: Files,
    output: Out = None,
    keep: Keep = None,
    to: To = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Add the most probable class and the probability of every class to each row.

    \b
    Example:
      suffit predict income.suffit new.csv -o predicted.csv
    """
    from .rowwise import predicted

    _written(predicted, model, files, output, keep, to, json, quiet, how)


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
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Add the decision of least expected cost to each row.

    \b
    Example:
      suffit decide income.suffit new.csv --cost "high:low=5" --cost "low:high=1" -o decided.csv
    """
    from .rowwise import Deciding

    rule = Deciding(cost or (), reject, threshold)
    _written(rule, model, files, output, keep, to, json, quiet, how)


@verb
def impute(
    model: Model,
    files: Files,
    draw: Annotated[bool, typer.Option("--draw", help="One draw instead of the mean or the most probable.")] = False,
    seed: Seed = None,
    output: Out = None,
    to: To = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Fill missing values given the rest of each row.

    \b
    Example:
      suffit impute income.suffit new.csv -o filled.csv
    """
    from .rowwise import Imputing

    fill = Imputing("draw" if draw else "mean", seed)
    _written(fill, model, files, output, None, to, json, quiet, how)


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

    with writing(output or "-", kind_of_output(output or "-", to, json)) as write:
        write(drawn(learner(model), n, label, target, seed))


@verb
def evaluate(
    model: Model,
    files: Files,
    target: Target = None,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Compare predictions with labels: accuracy, log-loss, Brier score, calibration.

    The column of the labels is found where it is clear; --target says which.

    \b
    Example:
      suffit evaluate income.suffit test.csv
    """
    from .evaluation import evaluated

    rows = how.for_model(loaded(model), files)
    with Progress("evaluate", quiet or json) as progress:
        found = evaluated(rows, target, progress)
    if json:
        show_json(found)
        return
    from .report import show_evaluation

    show_evaluation(found)


@verb
def compare(
    files: Files,
    target: Annotated[str, typer.Option("--target", "-t", help="The column of the labels.")],
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="One of the models; all by default.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds that are held out in turn.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often, with other folds each time.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="No learning curves and no robustness.")] = False,
    picture: Annotated[str | None, typer.Option("--picture", "-p", help="A picture: .svg, .png or .pdf.")] = None,
    seed: Seed = 0,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: FirstReading,
) -> None:
    """Compare generative and discriminative models on rows with labels, and say which to use.

    LDA, QDA, naive Bayes and GenerativeClassifier beside logistic regression, a perceptron and a linear SVM.  The rows
    must fit into memory.

    \b
    Example:
      suffit compare train.csv --target income --quick
    """
    from .comparing import check_picture, compared, save_picture, show_comparison

    if picture is not None:
        check_picture(picture)
    rows = how.files(files)
    found = compared(rows, target, model or (), folds, repeats, quick, seed or 0, quiet or json)
    if picture is not None:
        save_picture(found, picture)
    show_comparison(found, json)


@verb
def report(
    model: Model,
    files: Files,
    output: Annotated[str, typer.Option("--output", "-o", help="The page.")] = "report.html",
    target: Target = None,
    title: Annotated[str | None, typer.Option("--title", help="Its title.")] = None,
    learned: Annotated[
        bool | None, typer.Option("--learned/--new", help="Whether the model has learned these rows; else it is found.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="No other models beside it.")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Make a page about a model: how good it is, where it fails, what matters, and why.

    One HTML file that fetches nothing and runs nothing.  Rows that the model has learned are scored without themselves;
    the rows must fit into memory.

    \b
    Example:
      suffit report income.suffit train.csv -o report.html
    """
    from .reporting import reported
    from .writing import check_folder

    check_folder(output)
    rows = how.for_model(loaded(model), files)
    print(reported(rows, (model, files), target, output, title, learned, not quick, seed or 0, quiet))
    if not quiet:
        say(f"report → {output}")


@verb
def explain(
    model: Model,
    files: Files,
    row: Annotated[list[int] | None, typer.Option("--row", "-r", min=1, help="Which rows, from 1.")] = None,
    n: Annotated[int, typer.Option("-n", "--things", min=1, help="How many things to name.")] = 5,
    json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    how: Reading,
) -> None:
    """Say why a row gets its class: what every column adds to the log-odds.

    \b
    Example:
      suffit explain income.suffit new.csv --row 2
    """
    from .rowwise import explained

    rows = how.for_model(learner(model), files)
    row = row or [1]
    found = explained(rows, row, n)
    if json:
        show_json([terms for terms, _ in found])
    else:
        print("\n\n".join(f"row {i}: {words}" for i, (_, words) in zip(row, found, strict=True)))


def _written(
    work: Work,
    model: str,
    files: list[str],
    out: str | None,
    keep: str | None,
    to: Kind | None,
    json: bool,
    quiet: bool,
    how: Reading,
) -> None:
    """Rows with what ``work`` adds to them, table by table."""
    from .writing import output as writing

    rows = how.for_model(loaded(model), files)
    kept, out = None if keep is None else [name for name in keep.split(",") if name], out or "-"
    kind = kind_of_output(out, to, json)
    with Progress("rows", quiet or out == "-") as progress, writing(out, kind) as write:
        for table, typed in rows.both(progress, as_text=kind == "csv"):
            write(work(rows.model, table, typed, kept))
    if out != "-" and not quiet:
        say(f"{progress.rows:,} rows in {progress.seconds:.1f} s → {out}")
