"""Docstrings as Markdown: examples become code blocks, indented names a list."""

from __future__ import annotations

import re
from typing import Any

import griffe

_NAMED = re.compile(r"^    (?=\S)(?P<names>[\w, ]+): (?P<text>.+)$")
_INDENTED = re.compile(r"^ {4,}(?P<text>\S.*)$")


class Markdown(griffe.Extension):
    """Rewrites every docstring that is shown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Fence examples; turn `    name: text` into a list item."""
    lines: list[str] = []
    in_example = in_list = False
    for line in text.splitlines():
        if line.startswith(">>>") and not in_example:
            lines += ["```pycon"]
            in_example = True
        elif in_example and not line.strip():
            lines += ["```"]
            in_example = False
        if in_example:
            lines.append(line)
            continue
        named, indented = _NAMED.match(line), _INDENTED.match(line)
        if named:
            if not in_list:
                lines.append("")
            lines.append(f"- `{named['names']}`: {named['text']}")
        elif indented and in_list:
            lines.append(f"  {indented['text']}")
        else:
            lines += [""] * in_list + [line]
        in_list = bool(named) or (in_list and indented is not None)
    return "\n".join(lines + ["```"] * in_example)
