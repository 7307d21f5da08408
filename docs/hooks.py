"""Hooks of the site: tables from records, files that pages show, the menu, links from names to reference pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.utils import get_relative_url

_RECORD = re.compile(r"<!-- record: (?P<path>\S+), written by: (?P<command>.+?) -->")
_EXAMPLE = re.compile(r"<!-- example: (?P<path>examples/\w+\.py) -->")
_FILE = re.compile(r"<!-- file: (?P<path>[\w./-]+) -->")
_NAME = re.compile(r"<code>(?:rwk\.)?(?P<name>[\w.]+)</code>(?!</a>)")


def on_config(config: Any) -> Any:
    """Add the page of results to the menu once `rwk reproduce tables` has written it."""
    if (Path(config["docs_dir"]) / "results.md").exists():
        guide = next(part["Guide"] for part in config["nav"] if "Guide" in part)
        guide.insert(2, {"Results": "results.md"})
    return config


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Replace markers: of a record by its text or the command that writes it, of an example or a file by its text."""
    root = Path(config["config_file_path"]).parent

    def text(found: re.Match[str]) -> str:
        path = root / found["path"]
        if path.exists():
            return path.read_text(encoding="utf-8")
        return f"*Not measured yet: `{found['command']}` writes `{found['path']}`, and this page shows it.*"

    def code(found: re.Match[str]) -> str:
        source = (root / found["path"]).read_text(encoding="utf-8")
        return f'```python title="{found["path"]}"\n{source}```'

    def file(found: re.Match[str]) -> str:
        return (root / found["path"]).read_text(encoding="utf-8")

    return _FILE.sub(file, _EXAMPLE.sub(code, _RECORD.sub(text, markdown)))


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Link the names of public objects, written as code, to their reference pages."""

    def link(found: re.Match[str]) -> str:
        target = files.get_file_from_path(f"reference/{found['name']}.md")
        if target is None or target == page.file:
            return found[0]
        return f'<a href="{get_relative_url(target.url, page.url)}">{found[0]}</a>'

    return _NAME.sub(link, html)
