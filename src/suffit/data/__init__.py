"""What users hand in and get back: errors, warnings, rows, matrices, columns, tables, validation, writing back."""
