"""LIBSVM's a9a and a7a, rebuilt byte for byte from the UCI Adult census file.

a9a has one line per person in the order of ``adult.data``: the label, then the 14 attributes as indices of
123 binary features, numbers cut at quintiles, an unknown value ("?") giving no index. a7a is a subsequence of
a9a and a7a.t the rest: one bit per row (``facts/a7a_rows.bin``, bit i & 7 of byte i >> 3) says which. The
result is compared with the sha256 of LIBSVM's own files.
"""

import hashlib
from bisect import bisect_left
from pathlib import Path

import numpy as np

from reproduction.data.files import fact
from reproduction.data.readers.streams import MEND
from reproduction.data.readers.text import table

FEATURES = 123
SHA256 = {
    "a7a": "d383cf150d4d9f9097b91cc88022cd0ac473c3a72da3f33b4c17801a4bfccdc6",
    "a7a.t": "9614161fbc7ac8ae52509d19ed0be987aef752d446838816af402fc36ffccce9",
    "a9a": "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "a9a.t": "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
}

# Column of the census file: first index, then either the cuts of a number or the names of the levels.
_CUTS: dict[int, tuple[int, list[float]]] = {
    0: (1, [25, 32, 40, 49]),  # age
    2: (14, [106642, 158659, 196337, 259869]),  # weight
    4: (35, [8, 9, 10, 12]),  # years of education
    10: (74, [0]),  # capital gain
    11: (76, [0]),  # capital loss
    12: (78, [34, 39, 40, 47]),  # hours per week
}
_LEVELS: dict[int, tuple[int, str]] = {
    1: (6, "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"),
    3: (
        19,
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
        "1st-4th 10th Doctorate 5th-6th Preschool",
    ),
    5: (
        40,
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    ),
    6: (
        47,
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
        "Armed-Forces",
    ),
    7: (61, "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    8: (67, "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    9: (72, "Female Male"),
    13: (
        83,
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India "
        "Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico "
        "Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary "
        "Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
        "Holand-Netherlands",
    ),
}
_INDEX = {
    column: {level: first + code for code, level in enumerate(levels.split())}
    for column, (first, levels) in _LEVELS.items()
}


def _line(fields: list[str]) -> bytes:
    """One person in svmlight format, with LIBSVM's trailing blank."""
    indices = []
    for column in range(14):
        if column in _CUTS:
            first, cuts = _CUTS[column]
            indices.append(first + bisect_left(cuts, float(fields[column])))
        elif fields[column] != "?":
            indices.append(_INDEX[column][fields[column]])
    label = "+1" if fields[14].startswith(">50K") else "-1"
    return f"{label} {' '.join(f'{index}:1' for index in indices)} \n".encode()


def encode(path: Path) -> list[bytes]:
    """Lines of a9a (a9a.t) from ``adult.data`` (``adult.test``) or Orange's ``adult.tab``.

    Raises
    ------
    ValueError : a field that is not of the census file, naming the line.
    """
    rows = table(path, 15, comments="|")
    encoded = []
    for i, fields in enumerate(rows):
        try:
            encoded.append(_line(fields))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{rows.where(i)}: unknown value {error}; {MEND}") from error
    return encoded


def halves(a9a: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Lines of (a7a, a7a.t) among those of a9a; ValueError if a9a does not have 32561 lines."""
    bits = np.unpackbits(np.frombuffer(fact("a7a_rows.bin"), np.uint8), bitorder="little")
    mask = bits[:32561].astype(bool)
    if len(a9a) != len(mask):
        raise ValueError(f"adult: {len(a9a)} rows, expected {len(mask)}; {MEND}")
    return (
        [line for line, chosen in zip(a9a, mask, strict=True) if chosen],
        [line for line, chosen in zip(a9a, mask, strict=True) if not chosen],
    )


def checked(lines: list[bytes], name: str) -> bytes:
    """The file ``name``, from its lines; ValueError if it is not LIBSVM's to the last byte."""
    content = b"".join(lines)
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise ValueError(f"{name} rebuilt from Adult has sha256 {found}, expected {SHA256[name]}; {MEND}")
    return content
