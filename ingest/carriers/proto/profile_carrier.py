"""The carrier of compilations in profiles."""

from typing import Final

from xlagraph.ingest.carriers.carrier import Carrier
from xlagraph.ingest.carriers.proto.executables import (
    PROFILE,
    find_executables,
    why_not_a_profile,
)
from xlagraph.ingest.carriers.proto.read_messages import read_proto_dump
from xlagraph.ingest.carriers.proto.requirement import missing_protobuf

__all__ = ["PROFILE_CARRIER"]

PROFILE_CARRIER: Final = Carrier(
    PROFILE, find_executables, read_proto_dump, missing_protobuf, why_not_a_profile
)
