"""Files for Neo4j's offline importer."""
