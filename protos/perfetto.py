"""The parts of Perfetto's messages that are written: ``perfetto.proto``."""

from typing import Final

from xlagraph.protos.descriptor_sets import DescriptorSet

__all__ = ["Trace"]

Trace: Final = DescriptorSet("perfetto").message("Trace")
"""A trace: packets that describe tracks, and events on them."""
