"""Us and the peers, in one process, on the same data."""
