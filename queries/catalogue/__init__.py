"""The canned queries: their files, headers and declarations."""
