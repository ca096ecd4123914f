"""Several writers and readers of one index, as processes and as threads."""
