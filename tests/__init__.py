"""Tests of pi-event-search."""
