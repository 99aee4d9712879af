"""Find the files of each dump, in folders, archives and at addresses, and read them."""
