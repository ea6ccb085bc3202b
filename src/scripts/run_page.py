"""Write the page of a run again from what is finished: ``run_page.py logs/smoke/run_page.json``."""

import sys
from pathlib import Path

from reproduction.show.site import run_page

if __name__ == "__main__":
    run_page.write(Path(sys.argv[1]))
