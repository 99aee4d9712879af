"""Settings of the running process: memory, garbage collector, imports."""
