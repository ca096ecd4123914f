"""Differential tests against the real Pi coding agent."""
