"""The questions: search, read, trace, sessions. All of them ask through a view."""
