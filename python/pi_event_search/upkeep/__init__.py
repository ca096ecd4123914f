"""Keeping the index right: verification against a fresh one, repair of old versions, watching."""
