"""The error of whatever reads data, in a separate module, so that fetching needs no NumPy."""


class DataError(ValueError):
    """A file on the disk is damaged or of another kind than expected; the message names it."""
