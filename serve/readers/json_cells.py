"""Convert rows and query descriptions to JSON values."""

from xlagraph.graph import Cell, Result
from xlagraph.graph.row_cells import without_nan
from xlagraph.queries import Answer, Query
from xlagraph.queries.picture import picture_of

__all__ = ["answer_result", "json_rows", "query_description"]


def answer_result(answer: Answer) -> Result:
    """Return the rows of an answer; for a picture, its edges."""
    is_picture = answer.query.kind == "graph"
    return picture_of(answer.result).edge_table() if is_picture else answer.result


def json_rows(result: Result) -> list[Cell]:
    """Return a mapping from column to cell for each row."""
    return [without_nan(row) for row in result.mappings()]


def query_description(query: Query) -> dict[str, Cell]:
    """Return the description of a canned query for callers."""
    return {
        "id": query.id,
        "kind": query.kind,
        "title": query.title,
        "question": query.answers,
        "measure": query.measure,
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.type,
                "required": parameter.must_be_given,
                "default": parameter.default,
                "description": parameter.description,
            }
            for parameter in query.parameters
        ],
        "columns": [
            {"name": column.name, "type": column.type, "description": column.description}
            for column in query.columns
        ],
        "text": query.text,
    }
