"""Write the page of a run again from what is finished: ``run_page.py logs/smoke/run_page.json``."""

import argparse
from pathlib import Path

from reproduction.run import records
from reproduction.show.site import run_page

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, help="what the page needs of the plan")
    parser.add_argument("--key", type=Path, help="what the plan requests; writes a record")
    parser.add_argument("--record", type=Path, help="for what the page was made from")
    options = parser.parse_args()
    # The record has no outputs: a run writes the page again whenever it starts and ends.
    with records.making(options.key, options.record):
        run_page.write(options.page)
