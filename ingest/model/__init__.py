"""A compilation as data: memory plan and HLO program, independent of the carrier."""
