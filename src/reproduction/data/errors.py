"""The error of everything that reads data; it is apart so that fetching needs no NumPy."""


class DataError(ValueError):
    """A file on the disk is damaged or not what it should be; the message names it."""
