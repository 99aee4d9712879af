"""Which columns count bytes."""


def counts_bytes(column: str) -> bool:
    """Whether its name says so: it contains `Bytes`, or begins with `bytes`."""
    return "Bytes" in column or column.startswith("bytes")
