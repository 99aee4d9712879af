"""Read the text of Cypher statements."""
