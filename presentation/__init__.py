"""Figures and rows as people read them. Knows nothing of the rest."""
