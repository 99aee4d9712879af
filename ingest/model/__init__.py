"""A compilation as data: its memory plan and its HLO program, however they came."""
