"""The dumps that the repository carries are packed the same way each time, and are anonymous."""

import lzma
import re
from pathlib import Path

from tests.corpus.pack import ARCHIVE, packed


def test_packing_what_was_unpacked_gives_the_archive_back(corpus: Path):
    folders = [corpus / "tpu", corpus / "versions"]
    assert packed(folders) == lzma.decompress(ARCHIVE.read_bytes())


def test_the_archive_holds_no_path_of_any_machine_and_stays_small(corpus: Path):
    assert ARCHIVE.stat().st_size <= 350_000
    for path in corpus.rglob("*.txt"):
        text = path.read_text("utf-8")
        assert not re.search(r"/(home|root|usr|opt|src|tmp|work)/|site-packages", text), path
