"""The parts of pprof's messages that are written: ``profile.proto``."""

from typing import Final

from xlagraph.protos.descriptor_sets import DescriptorSet

__all__ = ["Profile"]

Profile: Final = DescriptorSet("profile").message("Profile")
"""Samples with their call stacks; a file holds one, compressed with gzip."""
