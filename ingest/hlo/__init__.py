"""HLO programs: their text, and the rules by which XLA lets values share storage."""
