"""Addresses are recognised, and shown without credentials."""

from pathlib import Path

import pytest

from xlagraph.ingest.files.addresses import is_address, without_credentials, without_secrets


def test_addresses_are_recognised() -> None:
    assert is_address("s3://bucket/runs")
    assert is_address("simplecache::gs://bucket/runs")
    assert not is_address("runs/s3:")
    assert not is_address(Path("s3://bucket"))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://bucket/runs/", "s3://bucket/runs"),
        ("https://host/runs/?sig=secret#top", "https://host/runs"),
        ("https://me:secret@host:81/a", "https://host:81/a"),
        ("https://secret@host/a", "https://host/a"),
        ("sftp://me:secret@host/a@b", "sftp://host/a@b"),
        ("abfs://runs@account.dfs/a", "abfs://runs@account.dfs/a"),
        ("gs://bucket/a?b", "gs://bucket/a?b"),
        ("simplecache::https://me:secret@host/a", "simplecache::https://host/a"),
        ("memory://", "memory://"),
        ("./runs/", "./runs/"),
    ],
)
def test_an_address_is_shown_without_credentials(address: str, shown: str) -> None:
    assert without_credentials(address) == shown


def test_a_message_is_shown_without_secrets() -> None:
    said = "403 of https://me:secret@host/a?sig=secret and sftp://me:secret@host/b"
    assert without_secrets(said) == "403 of https://host/a and sftp://host/b"
