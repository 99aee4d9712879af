"""The parts of XLA's messages that a memory plan needs: ``hlo.proto``."""

from pathlib import Path
from typing import Final

from xlagraph.hlo.descriptor_sets import DescriptorSet

_HLO: Final = DescriptorSet(Path(__file__).parent, "hlo")

HloProto: Final = _HLO.message("HloProto")
"""A module with its buffer assignment: `*.hlo.pb`, `*.hlo_proto.pb`."""

ShapeProto: Final = _HLO.message("ShapeProto")
"""A shape with its layout."""

MemoryUsageReportProto: Final = _HLO.message("MemoryUsageReportProto")
"""The allocations by size: `*-memory-usage-report.pb`."""

XSpace: Final = _HLO.message("XSpace")
"""A profile: `*.xplane.pb`."""

PrimitiveType: Final = _HLO.enum("PrimitiveType")
"""The enum of element types; ``values_by_number`` has its names in upper case."""
