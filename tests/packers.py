"""Every format that a file may be packed with."""

import bz2
import gzip
import lzma

import pyarrow as pa


def zstandard(content):
    return pa.compress(content, codec="zstd", asbytes=True)


PACKERS = [
    (".gz", gzip.compress),
    (".xz", lzma.compress),
    (".bz2", bz2.compress),
    (".zst", zstandard),
]
"""Ending and function of each."""
