"""Plan the memory of a compilation anew, under changes."""
