"""Solvers: what is learned from a traversal, and how."""
