"""Compilations in the profiles that `jax.profiler.trace` writes."""
