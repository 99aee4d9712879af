"""The carrier of XLA's protobuf dumps."""

from typing import Final

from xlagraph.ingest.carriers.carrier import Carrier
from xlagraph.ingest.carriers.proto.message_files import (
    PROTO,
    find_proto_dumps,
    why_not_a_proto_dump,
)
from xlagraph.ingest.carriers.proto.read_messages import read_proto_dump
from xlagraph.ingest.carriers.proto.requirement import missing_protobuf

__all__ = ["PROTO_CARRIER"]

PROTO_CARRIER: Final = Carrier(
    PROTO, find_proto_dumps, read_proto_dump, missing_protobuf, why_not_a_proto_dump
)
