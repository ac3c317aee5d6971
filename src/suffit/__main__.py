"""``suffit``, or ``python -m suffit``: the command line."""

import sys


def main() -> None:
    """Run what the command line asks for; the verbs of the mail filter without waiting for those of tables to load."""
    if sys.argv[1:2] == ["mail"]:
        from .cli.mail.main import main as mail

        sys.exit(mail(sys.argv[2:]))
    from .cli.main import main as tables

    tables()


if __name__ == "__main__":
    main()
