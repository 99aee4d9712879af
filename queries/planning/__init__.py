"""Plan the memory of a compilation anew, under changes."""

from xlagraph.runtime.block_imports import allow_imports

allow_imports()  # packing is done with numpy
