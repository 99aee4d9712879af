"""The property graph of XLA memory plans, on a Neo4j server or in a file.

`open_graph` opens one; a `Graph` answers statements, and takes compilations in a `load`.
"""

from typing import TYPE_CHECKING

from xlagraph.graph.engine import Cell, Graph, Load, Result, Scalar
from xlagraph.graph.errors import (
    GraphBusy,
    GraphError,
    GraphMissing,
    GraphTooNew,
    GraphUnreachable,
    GraphUnwritable,
    NameInvalid,
    NameTaken,
    NameUnknown,
    QueryFailed,
    QueryRefused,
    WrongSchema,
)
from xlagraph.graph.opening import open_graph
from xlagraph.graph.run_changes import (
    RemovedKeys,
    check_run_name,
    remove,
    remove_runs,
    rename_run,
    store_snapshot,
    tag_run,
)
from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.graph.neo4j.export import Export, export, open_export
    from xlagraph.graph.neo4j.import_files import import_command
    from xlagraph.graph.neo4j.manifest import Manifest
    from xlagraph.graph.neo4j.merge import merge_exports
    from xlagraph.graph.row_tables import CompilationRows
    from xlagraph.graph.schema import SCHEMA, Detail

__all__ = [
    "SCHEMA",
    "Cell",
    "CompilationRows",
    "Detail",
    "Export",
    "Graph",
    "GraphBusy",
    "GraphError",
    "GraphMissing",
    "GraphTooNew",
    "GraphUnreachable",
    "GraphUnwritable",
    "Load",
    "Manifest",
    "NameInvalid",
    "NameTaken",
    "NameUnknown",
    "QueryFailed",
    "QueryRefused",
    "RemovedKeys",
    "Result",
    "Scalar",
    "WrongSchema",
    "check_run_name",
    "export",
    "import_command",
    "merge_exports",
    "open_export",
    "open_graph",
    "remove",
    "remove_runs",
    "rename_run",
    "store_snapshot",
    "tag_run",
]

# Imported on first use: these import pyarrow, which is slow and not needed for help and queries.
__getattr__ = lazy_names(__name__)
