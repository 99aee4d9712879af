"""XLA's protobuf messages, as far as a memory plan needs them; see ``hlo.proto``."""
