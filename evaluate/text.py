"""Messages, mail and made texts: naive Bayes raw and calibrated, suffit's beside scikit-learn's."""

from __future__ import annotations

import email
import email.policy
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import RepeatedStratifiedKFold

from . import models
from .folds import FOLDS, probabilities, scored
from .summaries import METRICS

REPEATS = 2  # of the five folds
FEW = 5  # classes that are named, each with its number of texts
FILES = {"sms": "sms_spam/SMSSpamCollection", "mail": "spamassassin.tar.gz"}
SHARES = "class shares"
ABOUT = {
    "sms": "Text messages (SMS Spam Collection v.1). Some come more than once, so that folds share a few.",
    "mail": "E-mail (SpamAssassin's public corpus): the subject and all parts of text, read as Latin-1. Ham and spam "
    "were collected in different places: a random split flatters every model.",
    "made": "Made texts of 20 classes: Zipf's words, some more frequent in each class, and words that come again in a "
    "text once they have come.",
}
MADE = {"classes": 20, "texts": 4000, "words": 20_000, "own": 300, "more": 25.0, "again": 0.3}


@dataclass(frozen=True)
class Texts:
    """Texts and the class of each."""

    name: str
    texts: list[str]
    y: NDArray[np.str_]

    def facts(self, repeats: int) -> dict[str, Any]:
        """What the report says of them."""
        labels, counts = np.unique(self.y, return_counts=True)
        classes = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        return {"rows": len(self.y), "classes": classes, "repeats": repeats}


def why_absent(folder: Path, name: str) -> str | None:
    """The reason why there is nothing to evaluate on; None when there is."""
    if name not in FILES:
        return None
    path = folder / FILES[name]
    return None if path.exists() else f"no file {path}; set SUFFIT_DATA to a folder that holds {FILES[name]}"


def read_messages(folder: Path) -> Texts:
    """label<TAB>text, one to a line."""
    lines = (folder / FILES["sms"]).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line]
    return Texts("sms", [words for _, words in pairs], np.array([label for label, _ in pairs]))


def read_mail(folder: Path) -> Texts:
    """The messages of an archive whose folders are named for ham and spam."""
    texts, labels = [], []
    with tarfile.open(folder / FILES["mail"]) as archive:
        for member in archive:
            parts = Path(member.name).parts  # spamassassin / easy_ham, spam_2, … / one message
            file = archive.extractfile(member)
            if file is not None and len(parts) == 3 and parts[2] != "cmds":
                texts.append(words_of(file.read()))
                labels.append("ham" if "ham" in parts[1] else "spam")
    return Texts("mail", texts, np.array(labels))


def made(folder: Path) -> Texts:
    """News-like texts of 20 classes, the same ones every time; ``folder`` is not looked at."""
    rng = np.random.default_rng(0)
    k, v = int(MADE["classes"]), int(MADE["words"])
    words = np.array([f"w{i}" for i in rng.permutation(v)])
    share = np.repeat(1 / np.arange(1, v + 1)[None] ** 1.1, k, axis=0)
    for c in range(k):
        share[c, rng.choice(np.arange(20, v), int(MADE["own"]), replace=False)] *= MADE["more"]
    edges = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
    y, texts = rng.integers(0, k, int(MADE["texts"])), []
    for c in y:
        n = int(rng.lognormal(4.0, 0.6)) + 5
        at = np.searchsorted(edges[c], rng.random(n)).clip(0, v - 1)
        for i in np.flatnonzero(rng.random(n) < MADE["again"]):
            at[i] = at[rng.integers(0, i + 1)]
        texts.append(" ".join(words[at]))
    return Texts("made", texts, np.array([f"class {c:02d}" for c in y]))


def words_of(raw: bytes) -> str:
    """Subject and body of a message, whatever its bytes are: Latin-1 has a letter for each."""
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    parts = [part for part in message.walk() if not part.is_multipart()]
    return "\n".join([str(message.get("Subject", "")), *(body_of(part) for part in parts)])


def body_of(part: Message) -> str:
    """The decoded bytes of a part of text; nothing of others."""
    if part.get_content_maintype() != "text":
        return ""
    found = part.get_payload(decode=True)
    return found.decode("latin-1") if isinstance(found, bytes) else ""


READERS: dict[str, Callable[[Path], Texts]] = {"sms": read_messages, "mail": read_mail, "made": made}


def run_folds(texts: Texts, repeats: int) -> list[dict[str, Any]]:
    """A row of results for each fold and model; the vocabulary is that of the texts to learn from."""
    chosen = [SHARES] if texts.name == "made" else list(models.TEXT)  # counts of words, as TextNB has them
    warm(chosen)
    rows: list[dict[str, Any]] = []
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    for learn, judge in folds.split(texts.y, texts.y):
        vectoriser = CountVectorizer()
        X = vectoriser.fit_transform([texts.texts[i] for i in learn])
        Z = vectoriser.transform([texts.texts[i] for i in judge])
        each = scored(X, Z, texts.y, learn, judge, chosen)
        raw = np.array(texts.texts, dtype=object)
        each += scored(raw[learn], raw[judge], texts.y, learn, judge, list(models.RAW_TEXT))
        rows += [{"table": texts.name, "share": 0.0, **row} for row in each]
    return rows


def warm(chosen: list[str]) -> None:
    """Fit on next to nothing, so that compiling and importing are in no time."""
    import suffit

    suffit.set_threads(1)
    y = np.array(["ham", "spam"] * 20)
    X = CountVectorizer().fit_transform(["a word or two", "another word"] * 20)
    for name in chosen:
        probabilities(name, X, y, X, np.unique(y))
    raw = np.array(["a word or two", "another word"] * 20, dtype=object)
    for name in models.RAW_TEXT:
        probabilities(name, raw, y, raw, np.unique(y))


def table(result: dict[str, Any], name: str) -> list[str]:
    """Markdown: a line for each model in the order of ``models.TEXT``; the best of each measure in bold."""
    rows = [row for row in result["rows"] if row["table"] == name]
    models_only = [row for row in rows if row["model"] != SHARES]  # whose ECE is next to nothing, and says nothing
    best = {metric: (max if metric == "accuracy" else min)(row[metric] for row in models_only) for metric in METRICS}
    lines = ["| model | " + " | ".join(METRICS.values()) + " | fit |", "|---|" + "---:|" * (len(METRICS) + 1)]
    for row in rows:
        form = {metric: "{:.2%}" if metric == "accuracy" else "{:.4f}" for metric in METRICS}
        cells = [form[m].format(row[m]) for m in METRICS]
        cells = [f"**{cell}**" if row[m] == best[m] else cell for m, cell in zip(METRICS, cells, strict=True)]
        fit = "too slow" if row["fit"] is None else f"{1000 * row['fit']:,.0f} ms"
        lines.append(f"| {row['model']} | {' | '.join(cells)} | {fit} |")
    return lines


def section(result: dict[str, Any]) -> list[str]:
    """The part of docs/evaluation.md on text."""
    versions = result["versions"]
    lines = [
        "",
        "## Text",
        "",
        f"Made by `scripts/evaluate text --report`: stratified {result['settings']['folds']}-fold, scikit-learn "
        f"{versions['sklearn']}, Python {versions['python']}.",
        "Counts of words by scikit-learn's `CountVectorizer`, with the words of the texts learned from; its time is in",
        "no figure. `TextNB` and the pipelines have the texts as they are; their time is whole. Every model has its",
        "default settings, but for what its name says (and `max_iter=1000` for",
        "logistic regression). suffit calibrates on leave-one-out scores of one fit, `CalibratedClassifierCV` by five",
        "fits on rows held out, a sigmoid unless *isotonic* is said. *alpha by loo* chooses the smoothing. Times are",
        "processor seconds of one fold on one thread, by a clock that goes in steps of a few ms.",
    ]
    for name in result["tables"]:
        facts = result["tables"][name]
        few = len(facts["classes"]) <= FEW
        classes = ", ".join(f"{label} {n:,}" for label, n in facts["classes"].items() if few)
        classes = classes or f"{len(facts['classes'])} classes"
        folds = f"{facts['repeats']} × {result['settings']['folds']} folds"
        lines += ["", f"### {name}: {facts['rows']:,} texts ({classes}), {folds}", "", ABOUT[name], ""]
        lines += [*calibration(result, name), *table(result, name)]
    return lines


def calibration(result: dict[str, Any], name: str) -> list[str]:
    """The calibration error before and after, in a sentence for each of suffit's models."""
    ece = {row["model"]: row["ece"] for row in result["rows"] if row["table"] == name}
    if f"suffit {models.NB[0]}" not in ece:
        return []
    lines = ["ECE before and after calibrating:", ""]
    for kind in models.NB:
        ours, theirs = f"suffit {kind}", f"sklearn {kind}"
        lines.append(
            f"- {kind}: {ece[ours]:.4f} → {ece[f'{ours}, temperature']:.4f} (temperature), "
            f"{ece[f'{ours}, isotonic']:.4f} (isotonic); scikit-learn {ece[theirs]:.4f} → "
            f"{ece[f'{theirs}, CalibratedClassifierCV']:.4f} (sigmoid), "
            f"{ece[f'{theirs}, CalibratedClassifierCV isotonic']:.4f} (isotonic)."
        )
    return [*lines, ""]
