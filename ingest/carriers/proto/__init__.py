"""XLA's protobuf dumps as records: what they leave out is derived by XLA's rules."""
