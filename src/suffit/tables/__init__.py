"""How a table becomes blocks of columns: schema, families, structures and their weights, features."""
