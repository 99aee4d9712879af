"""Tell everything about one value."""
