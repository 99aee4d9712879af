"""Divide the dumps of a folder among several machines that share the folder."""

from hashlib import blake2b
from typing import NamedTuple

__all__ = ["Shard"]


class Shard(NamedTuple):
    """One of N shares, numbered from 1; each key is in exactly one share."""

    number: int
    of: int

    def holds(self, key: str) -> bool:
        """Return whether a compilation is in this share; the answer is the same on all machines."""
        digest = blake2b(key.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1
