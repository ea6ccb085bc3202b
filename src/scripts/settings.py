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
from reproduction.spec.suggestions import near

parser = argparse.ArgumentParser(prog=f"{name_program()} settings", description=__doc__)
parser.add_argument("protocol", nargs="?", help="one alone, such as stock:classification")


def main() -> None:
    """Print the text of the page docs/settings.md, or its part about one protocol."""
    options = parser.parse_args()
    if options.protocol is None:
        print(format_vocabulary() + format_settings())
        return
    protocols = list_protocols()
    if options.protocol not in protocols:
        close = near(options.protocol, protocols)
        sys.exit(f"settings: there is no protocol {options.protocol!r}{close}")
    print(format_protocol(protocols[options.protocol]))


main()
