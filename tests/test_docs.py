"""The documentation: every snippet runs, every picture is there, and the site builds without a warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# page -> libraries its snippets compare with
NEEDS = {"coming-from.md": ("ot", "grakel"), "molecules.md": ("rdkit",), "scaling.md": ("zarr",)}


def snippets(page: Path) -> str:
    return "\n\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))


WITH_CODE = [page for page in [*PAGES, ROOT / "README.md"] if snippets(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_snippets_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    for library in NEEDS.get(page.name, ()):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    exec(compile(snippets(page), str(page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_pictures_and_pages_that_are_named_exist(page):
    named = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    for name in named:
        if not name.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / name).exists(), f"{page.name} names {name}"


def test_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="the site needs mkdocs-material: pip install 'rwk[docs]'")
    pytest.importorskip("mkdocstrings", reason="the site needs mkdocstrings: pip install 'rwk[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stdout + built.stderr
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    fetched = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?://[^\"]+)\"", start)
    assert fetched == []  # the site can be read without a network
    reference = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in ("align", "RWKernel", "GraphSet", "plot_alignment"):
        assert f">{name}<" in reference or f'id="rwk.{name}' in reference or f".{name}" in reference
