"""The canned queries as scripts that Neo4j Browser saves."""

from collections.abc import Iterable, Mapping

from xlagraph.queries.catalogue.literals import with_values_inlined
from xlagraph.queries.catalogue.query_files import Query

__all__ = ["saved_scripts"]


def saved_scripts(queries: Iterable[Query]) -> Mapping[str, str]:
    """Return a script for each query by the path of its file; each theme has a folder.

    Browser shows the first line as the name. Defaults stand in the text; what must be given
    stays a parameter, so that `:param` sets it once for all scripts.
    """
    return {
        f"{query.id}.cypher": f"// {query.id}: {query.title}\n"
        + with_values_inlined(query.text, query.defaults)
        for query in queries
    }
