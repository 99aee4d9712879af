"""The parts of Perfetto's messages that are written: ``perfetto.proto``."""

from pathlib import Path
from typing import Final

from xlagraph.hlo.descriptor_sets import DescriptorSet

__all__ = ["Trace"]

Trace: Final = DescriptorSet(Path(__file__).parent, "perfetto").message("Trace")
"""A trace: packets that describe tracks, and events on them."""
