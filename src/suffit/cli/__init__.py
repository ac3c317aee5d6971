"""The command line: ``suffit``, or ``python -m suffit``; the only room that prints."""
