"""The pages of recipes as a script: the files that its blocks write, and the commands to run."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("extending", "protocol", "tutorials/paper")
PAGE = "\n".join((ROOT / f"docs/{page}.md").read_text("utf-8") for page in PAGES)
HEADER = re.compile(
    r"# (?P<file>\S+?)(?P<end>, at the end)?"
    r"(?:: a copy of (?P<model>\S+) without (?P<dropped>.*))?\n"
)


def recipe(title: str) -> list[tuple[str, str]]:
    """List the blocks (language, text) of a section, in their order."""
    _, from_title, *_ = re.split(rf"^## {title}$", PAGE, flags=re.M)
    section, _, _ = from_title.partition("\n## ")
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, flags=re.M | re.S)


def titles() -> list[str]:
    """List the sections that hold commands."""
    titles = re.findall(r"^## (.*)$", PAGE, flags=re.M)
    return [title for title in titles if dict(recipe(title)).get("sh")]


def write(text: str, checkout: Path, home: Path) -> Path:
    """Write the file that the first line of a block names; copy an artifact as the page says."""
    header = HEADER.match(text)
    assert header is not None, f"a block must begin with the name of its file: {text[:60]}"
    name = header["file"]
    file = checkout / name
    if name.startswith("~/"):
        file = home / name.removeprefix("~/")
    file.parent.mkdir(parents=True, exist_ok=True)
    body = text.removeprefix(header[0])
    if header["model"]:
        model_file = file.parent / header["model"]
        model = yaml.safe_load(model_file.read_text(encoding="utf-8"))
        dropped = re.findall(r"`(\w+)`", header["dropped"])
        artifact = copied(model, dropped, yaml.safe_load(body))
        body = yaml.safe_dump(artifact, sort_keys=False)
    before = file.read_text(encoding="utf-8") if header["end"] else ""
    file.write_text(before + body, encoding="utf-8")
    return file


def copied(model: dict[str, Any], dropped: list[str], changes: dict[str, Any]) -> dict[str, Any]:
    """Copy an artifact without some keys and with others replaced, settings key by key."""
    settings = model["settings"] | changes.get("settings", {})
    remaining = {key: value for key, value in model.items() if key not in dropped}
    return remaining | changes | {"settings": settings}
