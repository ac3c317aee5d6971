"""The verbs of ``suffit mail``: what each takes."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from ...mail.errors import StoreError
from ...mail.filter import DEADLINE
from ...mail.online import TRAIN
from ...mail.places import store_path

WRONG, INTERRUPTED, CLOSED = 3, 130, 141  # exit codes; 0 is done
ABOUT = """A spam filter that learns from your mail, explains itself and never loses a message.

suffit mail classify reads a message on standard input. Exit codes: 0 spam, 1 ham (or any other class), 2 unsure,
3 error. All other verbs: 0 done, 3 error, 130 interrupted."""
MAIL = "a message, an mbox file, a Maildir or MH folder, any folder of messages; gzip too (default: standard input)"
EXAMPLES = {
    "classify": "suffit mail classify -p -e < message",
    "learn": "suffit mail learn --spam ~/Maildir/.Junk --ham ~/Maildir/cur",
    "correct": "suffit mail correct --ham < message",
    "unlearn": "suffit mail unlearn < message",
    "explain": "suffit mail explain < message",
    "evaluate": "suffit mail evaluate --spam ~/Maildir/.Junk --ham ~/Maildir/cur",
    "export": "suffit mail export > mail.txt",
    "import": "bogoutil -d ~/.bogofilter/wordlist.db | suffit mail import",
    "merge": "suffit mail merge other.sqlite",
    "expire": "suffit mail expire --days 730",
    "tune": "suffit mail tune",
    "doctor": "suffit mail doctor",
    "serve": "suffit mail serve",
}
VERBS = {
    "classify": "Say whether a message is spam, ham or unsure; -p passes it through with a header X-Suffit.",
    "learn": "Learn messages; those that are known already are not learned twice.",
    "correct": "Learn messages in this class, whatever they were learned as before.",
    "unlearn": "Forget messages exactly, as if they had never been learned.",
    "explain": "Say which words and headers decided, and by how much: the terms of the log-odds.",
    "evaluate": "Compare verdicts with what messages are; without folders, each learned message without itself.",
    "export": "Write the store as text on standard output.",
    "import": "Learn what export or bogoutil -d wrote.",
    "merge": "Learn what other stores have learned; messages that both know count once.",
    "expire": "Forget messages that were learned long ago, and make the file smaller.",
    "tune": "Choose smoothing and calibration from the learned messages, each judged without itself.",
    "doctor": "Check the whole store, its permissions and the daemon.",
    "serve": "Keep the store warm behind a socket, so that each message takes a few milliseconds.",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Wrong usage is an error: 2 would mean that a message is unsure."""
        self.exit(WRONG, f"suffit: error: {message} ({self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """All verbs with their options."""
    raw = argparse.RawDescriptionHelpFormatter
    top = _Parser("suffit mail", description=ABOUT, formatter_class=raw)
    verbs = top.add_subparsers(title="verbs", metavar="VERB", dest="verb", required=True, parser_class=_Parser)
    for name, does in VERBS.items():
        added = verbs.add_parser(
            name, help=does, description=does, epilog=f"example: {EXAMPLES[name]}", formatter_class=raw
        )
        added.add_argument("--store", metavar="FILE", help="the store (default: $SUFFIT_MAIL, or in the user's data)")
        if name in ("learn", "correct", "evaluate"):
            _classes(added)
        if name in ("classify", "learn", "correct", "unlearn", "explain", "evaluate"):
            added.add_argument("paths", nargs="*", metavar="MAIL", help=MAIL)
        if name in ("classify", "learn", "correct", "unlearn", "evaluate", "tune"):
            added.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
        if name in ("classify", "explain", "evaluate", "doctor"):
            added.add_argument("--json", action="store_true", help="for machines")
        _own(name, added)
    return top


def _classes(to: argparse.ArgumentParser) -> None:
    for name in ("spam", "ham"):
        to.add_argument(f"--{name}", nargs="*", metavar="MAIL", help=f"this mail is {name}")
    to.add_argument("--class", dest="name", metavar="NAME", help="this mail is of any other class, e.g. newsletter")


def _own(verb: str, to: argparse.ArgumentParser) -> None:
    """The options that one verb has alone."""
    if verb == "classify":
        to.add_argument("-p", "--passthrough", action="store_true", help="write the message, with one header more")
        to.add_argument("-e", "--embed", action="store_true", help="with -p: exit 0 whatever the verdict")
        to.add_argument("-v", "--verbose", action="store_true", help="without -p: print the header")
        said = "with -p: pass the message (0, the default) or defer it (75)"
        to.add_argument("--on-error", choices=("pass", "defer"), default="pass", help=said)
        to.add_argument("--deadline", type=float, default=DEADLINE, metavar="S", help=f"seconds (default {DEADLINE:g})")
        to.add_argument("--no-daemon", action="store_true", help="do not ask the daemon")
    elif verb == "learn":
        said = "learn all of it, what is not called by its class, or also what is near to that (default everything)"
        to.add_argument("--mode", choices=TRAIN, default=TRAIN[0], help=said)
        to.add_argument("--no-tune", action="store_true", help="keep the settings, however much was learned")
    elif verb == "tune":
        to.add_argument("--lost-ham", type=float, metavar="N", help="a lost ham is as bad as N spams in the inbox")
        to.add_argument("--ham-loss", type=float, metavar="SHARE", help="the share of ham that may be called spam")
    elif verb == "unlearn":
        to.add_argument("--digest", action="append", default=[], help="of a message that you have no more")
    elif verb == "explain":
        to.add_argument("-n", type=int, default=15, metavar="N", help="how many words to show (default 15)")
    elif verb == "export":
        to.add_argument("--counts", action="store_true", help="without what was learned of each message")
    elif verb == "import":
        to.add_argument("files", nargs="*", metavar="FILE", help="text (default: standard input)")
    elif verb == "merge":
        to.add_argument("others", nargs="+", metavar="STORE", help="stores to take from; they stay as they are")
    elif verb == "expire":
        to.add_argument("--days", type=float, required=True, help="how long a message is remembered")


def run(arguments: list[str]) -> int:
    """Run a verb; the exit code."""
    if not arguments:
        parser().print_help()
        return 0
    asked = parser().parse_args(arguments)
    asked.store = store_path(asked.store)
    try:
        from .verbs import DO

        code = DO[asked.verb](asked)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("suffit: interrupted; what was said to be learned is learned", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: nothing more to say
        return CLOSED
    except OSError as error:
        print(f"suffit: error: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
    except (StoreError, ValueError) as error:
        print(f"suffit: error: {error}", file=sys.stderr)
    return WRONG
