"""How a process runs: memory, garbage collector, imports, child processes."""
