"""What the index holds: SQLite (every fact) and Tantivy (postings), with one commit point."""
