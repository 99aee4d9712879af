"""Distributes the dumps of a folder over several machines that see the same folder."""

from hashlib import blake2b
from typing import NamedTuple

__all__ = ["Shard"]


class Shard(NamedTuple):
    """One of so many shares, numbered from 1; every key is in exactly one of them."""

    number: int
    of: int

    def holds(self, key: str) -> bool:
        """Return whether a compilation is in this share: the same answer on every machine."""
        digest = blake2b(key.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1
