"""HLO programs as data: shapes, names, instructions, and how their values share storage."""
