"""Protobuf messages of other tools, as far as they are read or written: `NAME.proto`.

Beside each definition stand its descriptor set, which `make protos` compiles, and the module
that makes Python's classes of it.
"""
