"""Programs as XLA plans them, made up: values, slots, steps, and the text of their dumps."""
