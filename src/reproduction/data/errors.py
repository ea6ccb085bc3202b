"""The error of everything that reads data, in a module apart, so that fetching needs no NumPy."""


class DataError(ValueError):
    """A file on the disk is damaged or of another kind than expected; the message names it."""
