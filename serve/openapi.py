"""The API described in OpenAPI 3.1, each canned query with its parameters and columns."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

from xlagraph.queries import Column, Parameter, Query

Json = dict[str, object]

_TYPES: Final[Mapping[str, str]] = {
    "STRING": "string",
    "INTEGER": "integer",
    "FLOAT": "number",
    "BOOLEAN": "boolean",
    "LIST": "array",
}
_TEXT: Final[Json] = {"type": "string"}
_ROWS: Final[Json] = {"type": "array", "items": {"type": "object"}}


def describe_api(catalogue: Mapping[str, Query]) -> Json:
    """Return the description of all paths."""
    paths: dict[str, Json] = {
        "/healthz": _get("Whether the service answers", {"type": "object"}),
        "/readyz": _get("Whether the graph can be read", {"type": "object"}),
        "/api": _get("This description", {"type": "object"}),
        "/api/queries": _get("The canned queries with parameters and columns", _ROWS),
        "/api/runs": _get("The runs in the graph", _ROWS),
        "/api/compilations": _get(
            "Totals and peaks of compilations", _ROWS, [_query("run", "a run; all by default")]
        ),
        "/api/compare": _get(
            "What grew between two runs or compilations",
            _ROWS,
            [_query("a", "before", required=True), _query("b", "after", required=True)],
        ),
        "/api/advise/{key}": _get("What to change, sorted by bytes, descending", _ROWS, [_KEY]),
        "/api/value/{key}": _get(
            "Everything about one value",
            {"type": "object"},
            [_KEY, _query("value", "label of a value, or another of its names", required=True)],
        ),
        "/api/cypher": {"post": _CYPHER},
    }
    for query in catalogue.values():
        rows = _ROWS  # the edges of a picture have columns of their own
        if query.kind != "graph":
            rows = {"type": "array", "items": _row(query.columns)}
        parameters = [_parameter(parameter) for parameter in query.parameters]
        paths[f"/api/query/{query.id}"] = _get(query.answers, rows, parameters)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "xlagraph",
            "version": version("xlagraph"),
            "description": "XLA memory plans as a property graph; read-only.",
        },
        "paths": paths,
    }


def _get(summary: str, schema: Json, parameters: list[Json] | None = None) -> Json:
    operation: Json = {"summary": summary, "responses": _responses(schema)}
    if parameters:
        operation["parameters"] = parameters
    return {"get": operation}


def _responses(schema: Json) -> Json:
    error = {"type": "object", "properties": {"error": _TEXT}, "required": ["error"]}
    return {
        "200": {"description": "done", "content": {"application/json": {"schema": schema}}},
        "304": {"description": "unchanged since the ETag that If-None-Match names"},
        "4XX": {"description": "refused", "content": {"application/json": {"schema": error}}},
        "503": {
            "description": "the graph cannot be read, or too many read it now: try again later",
            "content": {"application/json": {"schema": error}},
        },
    }


def _query(name: str, description: str, *, required: bool = False) -> Json:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "required": required,
        "schema": _TEXT,
    }


_KEY: Final[Json] = {
    "name": "key",
    "in": "path",
    "description": "key of a compilation, a unique part of it, or a run",
    "required": True,
    "schema": _TEXT,
}


def _parameter(parameter: Parameter) -> Json:
    schema: Json = {"type": _TYPES[parameter.type]}
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.least is not None:
        schema["minimum"] = parameter.least
    if parameter.most is not None:
        schema["maximum"] = parameter.most
    described = _query(parameter.name, parameter.description, required=parameter.must_be_given)
    return {**described, "schema": schema}


def _row(columns: tuple[Column, ...]) -> Json:
    return {
        "type": "object",
        "properties": {
            column.name: {"type": [_TYPES[column.type], "null"], "description": column.description}
            for column in columns
        },
    }


_CYPHER: Final[Json] = {
    "summary": "Your own Cypher statement; it can only read",
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"statement": _TEXT, "parameters": {"type": "object"}},
                    "required": ["statement"],
                    "additionalProperties": False,
                }
            }
        },
    },
    "responses": _responses(_ROWS),
}
