"""One module for each program; `declared` lists them."""
