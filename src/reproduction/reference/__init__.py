"""The reference run that the repository keeps: what it holds, when it is old, how another run compares."""
