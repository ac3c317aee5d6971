"""The one idea: a fit adds up sums (stats, model); solving them gives parameters (family, solution)."""
