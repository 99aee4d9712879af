"""Byte counts, shares and tables in readable form. Imports no other package of xlagraph."""
