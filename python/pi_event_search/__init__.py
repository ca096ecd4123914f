"""pi-event-search."""
