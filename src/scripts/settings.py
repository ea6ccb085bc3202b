"""Print what an artifact may say: kinds of noise, columns, and the settings of each protocol."""

import argparse
import sys

from noisylabels.command_line import name_program
from reproduction.spec.key_tables import (
    format_protocol,
    format_settings,
    format_vocabulary,
    list_protocols,
)
from reproduction.spec.strict_yaml import near

parser = argparse.ArgumentParser(prog=f"{name_program()} settings", description=__doc__)
parser.add_argument("protocol", nargs="?", help="one alone, such as stock:classification")


def main() -> None:
    """Print the text of the page docs/settings.md, or its part about one protocol."""
    given = parser.parse_args()
    if given.protocol is None:
        print(format_vocabulary() + format_settings())
        return
    known = list_protocols()
    if given.protocol not in known:
        sys.exit(f"settings: there is no protocol {given.protocol!r}{near(given.protocol, known)}")
    print(format_protocol(known[given.protocol]))


main()
