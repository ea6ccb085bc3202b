"""The plan of a run: what must run, and why."""
