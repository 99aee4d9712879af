"""The property graph of XLA memory plans, on a Neo4j server or in a file.

`open_graph` opens one; a `Graph` answers statements, and takes compilations in a `load`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from xlagraph.graph.engine import Cell, Graph, Load, Result, Scalar
from xlagraph.graph.errors import (
    GraphBusy,
    GraphError,
    GraphMissing,
    GraphTooNew,
    GraphUnreachable,
    GraphUnwritable,
    NameTaken,
    NameUnknown,
    QueryFailed,
    QueryRefused,
    WrongSchema,
)
from xlagraph.graph.opening import open_graph
from xlagraph.graph.runs import Removed, remove, rename_run, tag_run

if TYPE_CHECKING:
    from xlagraph.graph.export_merge import merge_exports
    from xlagraph.graph.exporting import Export, export, open_export
    from xlagraph.graph.import_files import import_command
    from xlagraph.graph.rows import CompilationRows
    from xlagraph.graph.schema import SCHEMA

__all__ = [
    "SCHEMA",
    "Cell",
    "CompilationRows",
    "Export",
    "Graph",
    "GraphBusy",
    "GraphError",
    "GraphMissing",
    "GraphTooNew",
    "GraphUnreachable",
    "GraphUnwritable",
    "Load",
    "NameTaken",
    "NameUnknown",
    "QueryFailed",
    "QueryRefused",
    "Removed",
    "Result",
    "Scalar",
    "WrongSchema",
    "export",
    "import_command",
    "merge_exports",
    "open_export",
    "open_graph",
    "remove",
    "rename_run",
    "tag_run",
]


# What takes its time, most of it pyarrow; help and queries do without.
_MODULE_BY_NAME: Final = {
    "SCHEMA": "schema",
    "CompilationRows": "rows",
    "Export": "exporting",
    "export": "exporting",
    "import_command": "import_files",
    "merge_exports": "export_merge",
    "open_export": "exporting",
}


def __getattr__(name: str) -> object:
    if name in _MODULE_BY_NAME:
        found: object = getattr(import_module(f"{__name__}.{_MODULE_BY_NAME[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
