"""Read a stored compilation for replanning, and find the values that a change concerns."""
