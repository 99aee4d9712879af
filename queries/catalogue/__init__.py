"""The canned queries: their files, headers and declarations, and the checks of their Cypher."""
