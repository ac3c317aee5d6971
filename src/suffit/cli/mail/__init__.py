"""The verbs of the mail filter: ``suffit mail …``."""
