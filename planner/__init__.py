"""Planning the memory of a compiled program the way XLA does."""

from xlagraph.runtime.imports import allow_imports

allow_imports()  # packing is done with numpy
