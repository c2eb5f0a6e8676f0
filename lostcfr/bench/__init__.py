"""What ``lostcfr bench`` measures; the regression suites are in the folder bench/ of the source tree."""
