"""`xlagraph --version`: ours, the engines', the schema's."""

from importlib.metadata import version


def version_lines() -> list[str]:
    """Return a line for each part whose version matters in a report of a problem."""
    from xlagraph.graph.engine_versions import engine_versions
    from xlagraph.graph.schema import VERSION

    engines = [f"{name} {number}" for name, number in engine_versions().items()]
    return [f"xlagraph {version('xlagraph')}", *engines, f"schema {VERSION}"]
