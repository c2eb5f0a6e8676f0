"""Traversals: many trajectories played at once, and what is learned from them."""
