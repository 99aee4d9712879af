"""Which runs, compilations and values the names mean that a user gives."""
