"""Random histories of files, syncs, faults and reopenings against a model of bytes in memory."""
