"""Missing values in joint columns: sums by pattern, EM over the patterns, and what stands beside few pairs."""
