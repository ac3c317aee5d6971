"""What a model says of its columns: terms, nomogram, summary, assumptions, linear form, pictures."""
