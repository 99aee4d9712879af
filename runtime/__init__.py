"""Control the process: memory, garbage collector, imports, child processes."""
