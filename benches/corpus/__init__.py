"""Session files like those people have: sizes, kinds of entries, texts, branches, forks; seeded."""
