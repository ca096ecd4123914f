"""From files to rows: discover, read what is new, place it, hand it to the store."""
