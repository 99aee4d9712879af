"""Planning the memory of a compiled program the way XLA does."""
