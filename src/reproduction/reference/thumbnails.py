"""Small pictures of figures, for pages that show many."""

from pathlib import Path

WIDTH, HEIGHT = 520, 320
"""Largest size in pixels."""


def thumbnail(picture: Path, out: Path) -> None:
    """A small WebP of a PNG."""
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB")
        small.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS, reducing_gap=2.0)
        small.save(out, "WEBP", quality=62, method=4)
