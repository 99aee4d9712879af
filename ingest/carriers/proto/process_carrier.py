"""The carrier of compilations in the running process, which no folder contains."""

from typing import Final

from xlagraph.ingest.carriers.carrier import Carrier
from xlagraph.ingest.carriers.proto.compiled_object import PROCESS
from xlagraph.ingest.carriers.proto.read_messages import read_proto_dump

__all__ = ["PROCESS_CARRIER"]

PROCESS_CARRIER: Final = Carrier(PROCESS, lambda *_: [], read_proto_dump)
