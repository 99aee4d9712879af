"""Predict what changes of a program save, by replanning its memory."""
