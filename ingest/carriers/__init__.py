"""Readers of what a compilation may come as: one package a carrier."""
