"""How compiled loops are made, cached, fed and run on threads."""
