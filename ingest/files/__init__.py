"""Which files make one dump, and what is in them."""
