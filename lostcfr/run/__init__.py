"""A run on disk: its folder, its checkpoints, its rows of results, and how it hears signals."""
