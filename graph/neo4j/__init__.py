"""The Neo4j engine: a graph on a server."""
