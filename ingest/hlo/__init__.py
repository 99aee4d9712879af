"""The rules by which XLA lets the values of an HLO program share storage."""
