"""One script per rule and per command of `./run`."""
