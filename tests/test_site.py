"""The site: it builds without a warning, can be searched, and its pages on parameters and baselines are complete."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import rwk
from rwk import baselines

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
SHARED_BY_NETWORKS = {"batch_size", "validation", "random_state", "device"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the site needs mkdocs-material: pip install 'rwk[docs]'")
    pytest.importorskip("mkdocstrings", reason="the site needs mkdocstrings: pip install 'rwk[docs]'")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stdout + built.stderr
    return folder


def test_site_builds_without_a_warning(site):
    start = (site / "index.html").read_text(encoding="utf-8")
    fetched = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?://[^\"]+)\"", start)
    assert fetched == []  # the site can be read without a network
    page = (site / "reference" / "align.html").read_text(encoding="utf-8")
    for shown in ("Frank-Wolfe", "n_starts", "Returns", "Examples", 'href="Parameters.html"'):
        assert shown in page


def test_search_finds_every_page_and_parameter(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    pages = {str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages - found == set()
    sections = {entry["location"] for entry in index["docs"]}
    assert {f"parameters.html#{field.name}" for field in fields(rwk.Parameters)} <= sections


def test_the_gallery_shows_pictures_and_code(site):
    page = (site / "gallery.html").read_text(encoding="utf-8")
    for name in EXAMPLES:
        assert f'src="images/gallery/{name}.png"' in page
        assert f"examples/{name}.py</span>" in page, f"the code of {name} is not shown"
    assert "<!-- example" not in page


def test_the_site_shows_the_changelog(site):
    page = (site / "changelog.html").read_text(encoding="utf-8")
    assert "<h1" in page
    assert "0.1.0" in page
    assert rwk.__version__ in page


# ---------------------------------------------------------------- pages that list everything


@pytest.mark.parametrize("field", fields(rwk.Parameters), ids=lambda field: field.name)
def test_every_parameter_has_its_entry(field):
    """With its default, and when to change it."""
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    entry = re.search(rf"^### `{field.name}`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert entry, f"docs/parameters.md has no entry for {field.name}"
    assert eval(re.search(r"\*Default `(.+?)`\.\*", entry[1])[1]) == field.default
    assert "Change\nit**" in entry[1] or "**Change it**" in entry[1] or "**Change\n" in entry[1]


@pytest.mark.parametrize("one", baselines.describe(), ids=lambda one: one.name)
def test_every_baseline_has_its_lines(one):
    """What it sees, and every parameter with its default."""
    page = (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")
    overview, parameters = re.findall(rf"^\| `{one.name}` \| (.*)$", page, re.MULTILINE)
    cells = overview.split(" | ")
    assert cells[1:4] == [one.kind, one.sees, one.fair_sees]
    applies_to_all = "structure" in one.accepts
    assert cells[4].startswith("does not apply") != applies_to_all
    signature = inspect.signature(type(baselines.get(one.name))).parameters
    shared = SHARED_BY_NETWORKS if one.kind == "classifier" else set()
    listed = dict(re.findall(r"`(\w+)=([^`]+)`", parameters))
    assert {name: eval(text) for name, text in listed.items()} == {
        name: parameter.default for name, parameter in signature.items() if name not in shared
    }
    for name in shared:
        assert f"`{name}={signature[name].default!r}`".replace("'", '"') in page
