"""Matches between agents and what can honestly be said of their results."""
