"""Where the code of this checkout is."""

from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
CHECKOUT = SOURCES.parent
PACKAGES = ("noisylabels", "reproduction")
