"""Which columns count bytes."""


def counts_bytes(column: str) -> bool:
    """Tell by its name: it contains `Bytes`, or begins with `bytes`."""
    return "Bytes" in column or column.startswith("bytes")
