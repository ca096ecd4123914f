"""How soon the server answers, and how long Pi waits for us. See README.md here."""
