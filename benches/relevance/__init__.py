"""Does the event that answers a question come first? See README.md in this directory."""
