"""The dumps in the repository are packed reproducibly, and are anonymous."""

import lzma
import re
from pathlib import Path

from tests.corpus.pack import ARCHIVE, packed


def test_packing_the_unpacked_dumps_gives_the_same_archive(corpus: Path):
    folders = [corpus / "tpu", corpus / "versions"]
    assert packed(folders) == lzma.decompress(ARCHIVE.read_bytes())


def test_the_archive_is_small_and_has_no_path_of_a_machine(corpus: Path):
    assert ARCHIVE.stat().st_size <= 350_000
    for path in corpus.rglob("*.txt"):
        text = path.read_text("utf-8")
        assert not re.search(r"/(home|root|usr|opt|src|tmp|work)/|site-packages", text), path
