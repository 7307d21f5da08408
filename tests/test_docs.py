"""The documentation: every snippet runs, and everything it names exists. The site itself: test_site.py."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import math
import re
from pathlib import Path

import pytest

import rwk
import rwk.report
from rwk import parameters
from rwk.experiment.records import append_record
from score_records import repeat_of

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# page -> libraries its snippets compare with
NEEDS = {
    "coming-from.md": ("ot", "grakel"),
    "own-costs.md": ("ot",),
    "molecules.md": ("rdkit",),
    "formats.md": ("rdkit",),
    "scaling.md": ("zarr",),
}


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
    text = re.sub(r"^```.*?^```$|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)  # outside of code: SMILES look like links
    for name in named:
        if not name.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / name).exists(), f"{page.name} names {name}"


def test_every_command_has_its_line():
    import click
    import typer

    from rwk.cli.app import app

    group = typer.main.get_command(app)
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    names = group.list_commands(click.Context(group))
    assert len(names) > 10
    for name in names:
        assert f"| `rwk {name}" in page, f"docs/commands.md has no line for rwk {name}"


def test_every_option_that_is_named_exists():
    import click
    import typer

    from rwk.cli.app import app

    group = typer.main.get_command(app)
    context = click.Context(group)
    n_found = 0
    for page in [*PAGES, ROOT / "README.md"]:
        for name, rest in re.findall(r"\brwk ([a-z]+) ([^`#|\n]*--[^`#|\n]*)", page.read_text(encoding="utf-8")):
            command = group.get_command(context, name)
            assert command is not None, f"{page.name} names rwk {name}"
            known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest.split(" rwk ")[0]):
                n_found += 1
                assert option in known | {"--help"}, f"{page.name} names rwk {name} {option}"
    assert n_found > 20


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_modules_and_files_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    for module in re.findall(r"python -m (rwk[\w.]*)|(?:from|import) (rwk[\w.]*)", text):
        name = module[0] or module[1]
        assert importlib.util.find_spec(name) is not None, f"{page.name} names {name}"
    for file in re.findall(r"\b(?:benchmarks|examples|tests|docs)/[\w./-]+\.(?:py|sbatch|md)\b", text):
        assert (ROOT / file).exists(), f"{page.name} names {file}"


# ---------------------------------------------------------------- the map of the code

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src" / "rwk"


def named_files(text: str) -> list[str]:
    """Files and folders written as code, such as `gram/tiles.py` or `gram/`."""
    return re.findall(r"`([\w/]+(?:\.py|/))`", text)


def test_the_map_names_every_package():
    packages = {f"{path.parent.relative_to(SOURCES)}/" for path in SOURCES.rglob("*.py")} - {"./"}
    modules = {path.name for path in SOURCES.glob("*.py")} - {"__main__.py"}
    table = CONTRIBUTING.split("| where (under `src/rwk/`)")[1].split("| elsewhere |")[0]
    assert set(named_files(table)) == packages | modules


def test_every_file_that_the_map_and_the_walk_name_exists():
    for name in named_files(CONTRIBUTING):
        assert (SOURCES / name).exists() or (ROOT / name).exists(), f"CONTRIBUTING.md names {name}"


def test_the_walk_visits_each_module_once():
    walk = CONTRIBUTING.split("## A new reader's walk")[1].split("\n## ")[0]
    visited = re.findall(r"^\d+\. `([\w/]+\.py)`: ", walk, re.MULTILINE)
    assert len(visited) == len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) > 50
    assert sorted(visited) == sorted(set(visited))
    assert {"discrepancy.py", "transport/cpu/lanes/products.py", "cli/app.py", "experiment/records.py"} <= set(visited)


def test_functions_that_the_walk_names_are_where_it_says():
    for file, text in re.findall(r"^\d+\. `([\w/]+\.py)`: (.*)$", CONTRIBUTING, re.MULTILINE):
        source = (SOURCES / file).read_text(encoding="utf-8")
        for name in re.findall(r"`([A-Za-z]\w*)`", text):
            assert re.search(rf"\b{name}\b", source), f"{file} does not have {name}"


def test_the_method_page_names_a_file_for_every_reading():
    """That the readings are cited there is held by test_readings.py."""
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (R\d+) \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    assert [reading for reading, _ in rows] == [f"R{number}" for number in range(1, len(rows) + 1)]
    assert len(rows) >= 17
    for reading, cell in rows:
        files = named_files(cell)
        assert files, f"docs/method.md names no file for {reading}"
        assert all((SOURCES / file).exists() for file in files), reading


# ---------------------------------------------------------------- the reference

REFERENCE = ROOT / "docs" / "reference"
IMPORT = re.compile(r"^```python\n(from [\w.]+ import \w+)\n```$", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
# public names of packages that are not at the top level
BELOW = {
    "rwk.transport.problem": ["PairSolution"],
    "rwk.parameters": ["ParameterError"],
    "rwk.learn.active": ["ActiveSearch"],
    "rwk.learn.explain": ["explain", "Explanation"],
    "rwk.learn.explain_value": ["explain_value", "ValueExplanation"],
    "rwk.experiment": ["Grid", "Folds", "Experiment"],
    "rwk.experiment.statistics": ["corrected_t_test", "average_ranks"],
    "rwk.baselines": ["get", "describe"],
    "rwk.report": rwk.report.__all__,
    "rwk.report.writing": ["write_report"],
}


def public_objects() -> dict[str, object]:
    """Page name -> object."""
    found = {name: getattr(rwk, name) for name in rwk.__all__ if name != "__version__"}
    for module, names in BELOW.items():
        prefix = "baselines." if module == "rwk.baselines" else ""
        found |= {prefix + name: getattr(importlib.import_module(module), name) for name in names}
    return found


PUBLIC = public_objects()


def test_every_public_object_has_a_page():
    assert {path.stem for path in REFERENCE.glob("*.md")} == {*PUBLIC, "index"}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_reference_page_shows_its_object(name):
    """Its import works, the directive names the place of definition, and menu and overview list the page."""
    text = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    space: dict[str, object] = {}
    exec(IMPORT.search(text)[1], space)
    assert eval(name, space) is PUBLIC[name]
    named = DIRECTIVE.search(text)[1]
    if name != "baselines":
        module, _, attribute = named.rpartition(".")
        assert getattr(importlib.import_module(module), attribute) is PUBLIC[name]
        assert PUBLIC[name].__module__ == module, "the site reads the source, so it must be the defining module"
    assert f"reference/{name}.md\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"| [`{name}`]({name}.md) | " in (REFERENCE / "index.md").read_text(encoding="utf-8")


DOCUMENTED = [
    name for name, it in PUBLIC.items() if callable(it) and not (isinstance(it, type) and issubclass(it, Exception))
]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_have_all_sections(name):
    """Every parameter with its default, what is returned, and an example."""
    griffe = pytest.importorskip("griffe", reason="the site needs mkdocstrings: pip install 'rwk[docs]'")
    parsed = griffe.Docstring(inspect.getdoc(PUBLIC[name])).parse("numpy", warnings=False)
    sections = {section.kind.value: section.value for section in parsed}
    assert sections["text"].split("\n\n")[0].endswith(".")
    assert "examples" in sections
    signature = inspect.signature(PUBLIC[name]).parameters
    described = {
        entry.name.lstrip("*"): entry
        for kind in ("parameters", "attributes")
        for entry in sections.get(kind, ())
        if kind == "parameters" or entry.name in signature
    }
    if name == "RWKernel":
        assert "The keywords are those of `Parameters`" in sections["text"]
        assert set(described) < set(signature)
    else:
        assert set(described) == set(signature)
    for parameter in described.values():
        if getattr(parameter, "default", None) is not None:
            assert eval(parameter.default, {"inf": math.inf}) == signature[parameter.name].default, parameter.name
    for group in re.findall(r"^(\w+(?:, \w+)+)(?: : .*)?$", inspect.getdoc(PUBLIC[name]), re.MULTILINE):
        defaults = {repr(signature[one].default) for one in group.split(", ") if one in signature}
        assert len(defaults) <= 1, f"{group}: the site would show one default for all of them"
    if not isinstance(PUBLIC[name], type):
        assert "returns" in sections


def test_the_page_of_parameters_gives_every_range_and_choice():
    text = {}
    for name, entry in re.findall(r"^    (\w+) : .*\n((?:        .*\n)+)", rwk.Parameters.__doc__, re.MULTILINE):
        text[name] = " ".join(entry.split())
    for name, (low, high, strict, _) in parameters.RANGES.items():
        bound = f"From {low} to {high}." if high < math.inf else f"{'Greater than' if strict else 'At least'} {low}"
        assert bound in text[name], name
    for name, choices in {**parameters.CHOICES, "variant": tuple(parameters.VARIANTS)}.items():
        assert all(f'"{choice}"' in text[name] for choice in choices), name


@pytest.fixture
def tables(monkeypatch):
    """The module docs/tables.py."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    return importlib.import_module("tables")


def test_pages_say_what_the_records_say(tables):
    places = set()
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        places |= set(re.findall(r"<!-- (\w+) -->", text))
        assert tables.filled(text) == text, f"the records behind {page.name} have changed: run `make tables`"
    assert places == {*tables.FROM_FOLDS, *tables.MAKERS}


def test_tables_are_made_of_records(tables, tmp_path):
    """Two folds of one set and one timing, and what has no record said to have none."""
    places = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("results", "speed", "baselines"))
    assert tables.filled(places, tmp_path).count("No record yet") == 3
    folder = tmp_path / "results"
    folder.mkdir()
    for score in repeat_of("MUTAG", "RWK", [0.8, 0.9]):
        append_record(folder / "MUTAG-RWK.jsonl", score)
    timing = {
        "datasets": [
            {
                "dataset": "MUTAG",
                "microseconds": {"rwk": 50.0, "POT": 500.0},
                "faster than": {"float64": {"POT": 10.0}, "float32": {"POT": 20.0}},
            }
        ],
        "made_with": {"cpu": "a CPU", "numpy": "2.0"},
    }
    (folder / "bench-cpu.json").write_text(json.dumps(timing))
    beside = {"rwk_s": 0.05, "library_s": 10.0, "library": "GraKeL", "times_faster": 200.0, "largest_difference": 0.0}
    common = {"n_graphs": 188, "threads": 1}
    timing = {
        "compared": {"dataset": "MUTAG", **common, "methods": {"ghk": beside}},
        "alone": {"dataset": "ENZYMES", **common, "methods": {"gntk": {"rwk_s": 13.1}}},
        "made_with": {"cpu": "a CPU", "grakel": "0.1", "POT": "0.9"},
    }
    (folder / "bench-baselines.json").write_text(json.dumps(timing))
    assert re.search(r"\| MUTAG +\| 50\.0 +\| 1 × 2 +\| 85\.0 \(7\.1\) +\| 93\.6 ± 3\.7", tables.results(tmp_path))
    assert "Not run yet: PTC_MR" in tables.results(tmp_path)
    assert re.search(r"\| POT +\| 500 \(10\.0×, 20\.0×\)", tables.content("speed", tmp_path))
    assert re.search(r"\| GHK +\| 0\.05 +\| GraKeL 10 +\| 200× +\| +\|", tables.content("baselines", tmp_path))
    assert re.search(r"\| GNTK +\| +\| +\| +\| 13 +\|", tables.content("baselines", tmp_path))
