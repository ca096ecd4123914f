"""Failing, dying and losing power at every named point, and what is left afterwards."""
