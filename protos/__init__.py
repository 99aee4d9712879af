"""The parts of other tools' protobuf messages that are read or written: `NAME.proto`.

Each definition comes with its descriptor set, compiled by `make protos`, and a module that makes
the Python classes.
"""
