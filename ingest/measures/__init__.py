"""What follows from a plan: live ranges, successions, peaks."""
