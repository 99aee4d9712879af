"""Plan the memory of a compiled program as XLA does."""
