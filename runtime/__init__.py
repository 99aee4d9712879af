"""How this process runs: its memory, its collector, its imports. Knows nothing of the rest."""
