"""Findings about programs for GPUs and TPUs, held against compilations of their edits."""
