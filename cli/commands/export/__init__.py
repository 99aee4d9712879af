"""`xlagraph export`: one command for each format."""
