"""One script from begin to end: prepared, checked, run, answered."""
