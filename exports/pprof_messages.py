"""The parts of pprof's messages that are written: ``profile.proto``."""

from pathlib import Path
from typing import Final

from xlagraph.hlo.descriptor_sets import DescriptorSet

__all__ = ["Profile"]

Profile: Final = DescriptorSet(Path(__file__).parent, "profile").message("Profile")
"""Samples with their call stacks; a file holds one, compressed with gzip."""
