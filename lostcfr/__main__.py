"""``python -m lostcfr`` is the command ``lostcfr``."""

from lostcfr.cli import main

main()
