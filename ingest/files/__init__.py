"""Find the files of each dump, and read them."""
