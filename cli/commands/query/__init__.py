"""`xlagraph query`: the catalogue as a group of commands."""
