"""Naive second opinions: short, slow, readable, and independent of the package under test."""
