"""Check the text of queries without a server."""
