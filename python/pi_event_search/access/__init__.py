"""What a caller may see of a committed state, and in which state it is."""
