"""Export to files for Neo4j's offline importer."""
