"""Figures in the documentation come from stored records: what a command wrote is taken in, or said to be missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_RECORD = re.compile(r"<!-- record: (?P<path>\S+), written by: (?P<command>.+?) -->")


def on_config(config: Any) -> Any:
    """The page of results joins the menu once `rwk reproduce tables` has written it."""
    if (Path(config["docs_dir"]) / "results.md").exists():
        guide = next(part["Guide"] for part in config["nav"] if "Guide" in part)
        guide.insert(2, {"Results": "results.md"})
    return config


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Put each record in its place."""
    root = Path(config["config_file_path"]).parent

    def text(found: re.Match[str]) -> str:
        path = root / found["path"]
        if path.exists():
            return path.read_text(encoding="utf-8")
        return f"*Not measured yet: `{found['command']}` writes `{found['path']}`, and this page shows it.*"

    return _RECORD.sub(text, markdown)
