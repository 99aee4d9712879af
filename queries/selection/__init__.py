"""Find the runs, compilations and values that a user names."""
