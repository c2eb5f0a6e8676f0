"""A person at the table: the terminal, and second opinions."""
