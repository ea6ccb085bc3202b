"""Words that depend on a number."""


def by_number(number: float, one: str, many: str) -> str:
    """Write a number with the words that follow one thing, or any other number of things.

    Parameters
    ----------
    number : int or float
        The number.
    one, many : str
        What follows 1, and what follows another number.

    Returns
    -------
    str
        The number and the words.

    Examples
    --------
    >>> from noisylabels.auditing.wording import by_number
    >>> by_number(1, "row is", "rows are"), by_number(2, "row is", "rows are")
    ('1 row is', '2 rows are')
    """
    words = one if number == 1 else many
    return f"{number} {words}"
