"""Advise what to change, ranked by what it may save."""

from xlagraph.runtime.block_imports import allow_imports

allow_imports()  # packing is done with numpy
