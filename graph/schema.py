"""The schema of the graph as data: labels, relationship types, properties, keys.

Neo4j's constraints, the embedded engine's tables, the columns that an ingest fills, the lint of
canned queries and the reference in the docs are all derived from it.
"""

from typing import Final

from xlagraph.graph.schema_nodes import NODES
from xlagraph.graph.schema_relationships import RELATIONSHIPS
from xlagraph.graph.schema_types import Schema

VERSION: Final = 9
"""Version of the schema, stored in every graph. A graph with a newer version is rejected."""

SCHEMA: Final = Schema(NODES, RELATIONSHIPS)
