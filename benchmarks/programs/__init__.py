"""Synthetic programs as XLA plans them: values, slots, steps, and the text of their dumps."""
