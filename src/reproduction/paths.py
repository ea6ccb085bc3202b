"""The place of the checkout and its code."""

from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
CHECKOUT = SOURCES.parent
PACKAGES = ("noisylabels", "reproduction")
