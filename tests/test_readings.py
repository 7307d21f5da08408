"""Each reading of METHOD (R1, R2, ...) is cited, in a comment or docstring, in the modules that implement it."""

from __future__ import annotations

import ast
import re
import tokenize
from pathlib import Path

import pytest

import rwk

ROOT = Path(rwk.__file__).parent
LAST = 18

# reading -> the modules that implement it; each must cite it
IMPLEMENTED = {
    1: ["represent.features"],  # isolated nodes in the Laplacian
    2: ["represent.features"],  # graphs without edges
    3: ["graphs.colours", "represent.scaling"],  # Hamming distance of Weisfeiler-Lehman colours
    4: ["represent.embedding"],  # embeddings that compare across graphs
    5: ["represent.structure"],  # Hamming distance of signs
    6: ["represent.structure"],  # unreachable pairs
    7: ["represent.scaling"],  # scale of the costs
    8: ["transport.problem", "transport.gpu.batched_costs"],  # degree prior
    9: ["parameters"],  # sign of the degree prior
    10: ["transport.cpu.loading"],  # half of the Gromov-Wasserstein loss
    11: ["represent.packing"],  # node weights
    12: ["represent.pipeline"],  # the Laplacian of the regularisation
    13: ["transport.cpu.sinkhorn", "transport.gpu.batched_sinkhorn"],  # exact marginals
    14: ["transport.problem", "transport.cpu.sinkhorn"],  # finite numbers
    15: ["discrepancy", "transport.pairs"],  # orientation and symmetry
    16: ["represent.pipeline", "transport.work", "gram.store"],  # bit-identical values
    17: ["discrepancy"],  # debiasing
    18: ["represent.walks", "transport.cpu.costs"],  # the product cost
}


def prose_of(path: Path) -> str:
    """The comments and docstrings of a file."""
    with tokenize.open(path) as file:
        comments = [token.string for token in tokenize.generate_tokens(file.readline) if token.type == tokenize.COMMENT]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
    return "\n".join([*comments, *docstrings])


def file_of(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


@pytest.mark.parametrize("reading", IMPLEMENTED)
def test_a_reading_is_cited_where_it_is_implemented(reading: int) -> None:
    missing = [
        module for module in IMPLEMENTED[reading] if not re.search(rf"\bR{reading}\b", prose_of(file_of(module)))
    ]
    assert not missing, f"R{reading} is not cited in {', '.join(missing)}"


def test_the_table_has_every_reading() -> None:
    assert list(IMPLEMENTED) == list(range(1, len(IMPLEMENTED) + 1))
    assert len(IMPLEMENTED) >= 17


def test_no_unknown_reading_is_cited() -> None:
    cited = {int(number) for path in ROOT.rglob("*.py") for number in re.findall(r"\bR(\d+)\b", prose_of(path))}
    assert set(IMPLEMENTED) <= cited <= set(range(1, LAST + 1))
