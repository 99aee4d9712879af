"""Readers of XLA's protobuf dumps, which derive missing facts by XLA's rules."""
