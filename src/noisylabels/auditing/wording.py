"""Words that depend on a number."""


def write_number(number: float, singular: str, plural: str) -> str:
    """Write a number with the words that follow one thing, or any other number of things.

    Parameters
    ----------
    number : int or float
        The number.
    singular, plural : str
        What follows 1, and what follows another number.

    Returns
    -------
    str
        The number and the words.

    Examples
    --------
    >>> from noisylabels.auditing.wording import write_number
    >>> write_number(1, "row is", "rows are"), write_number(2, "row is", "rows are")
    ('1 row is', '2 rows are')
    """
    words = singular if number == 1 else plural
    return f"{number} {words}"
