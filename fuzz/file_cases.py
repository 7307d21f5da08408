"""Every kind of file that this package writes or reads, damaged: noticed, or read as it was."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

import rwk
from fuzz.graph_cases import valid_set
from fuzz.promise import finite, holds
from fuzz.values import Chance


class Example(NamedTuple):
    """A file that is whole, and the check of what is read from it when it may be damaged."""

    place: Path  # the file that is damaged
    content: bytes
    read: Callable[[], object]


def make(chance: Chance) -> Any:
    """A file and what happens to it."""
    name = chance.choice(COMMON) if chance.happens(0.97) else "store"
    return {"file": name, "damage": [_damage(chance) for _ in range(chance.of(1, 1, 1, 2, 4))]}


def _damage(chance: Chance) -> list[Any]:
    at = chance.random()
    kind = chance.of("flip", "flip", "flip", "cut", "zero", "insert", "remove", "swap", "digit", "append", "text")
    return [kind, at, chance.randrange(256)]


def damaged(content: bytes, damage: list[Any]) -> bytes:
    """The content after each of these in turn: its kind, where (a share of the length) and a byte."""
    found = bytearray(content)
    for kind, share, byte in damage:
        at = min(int(share * len(found)), max(len(found) - 1, 0))
        if kind == "flip" and found:
            found[at] ^= 1 << (byte % 8)
        elif kind == "cut":
            del found[at:]
        elif kind == "zero":
            found[at : at + byte] = bytes(len(found[at : at + byte]))
        elif kind == "insert":
            found[at:at] = bytes([byte]) * (1 + byte % 9)
        elif kind == "remove":
            del found[at : at + 1 + byte % 40]
        elif kind == "swap":
            found[:at], found[at:] = found[at:], found[:at]
        elif kind == "digit":
            _change_digit(found, at, byte)
        elif kind == "append":
            found += bytes([byte]) * (1 + byte)
        elif kind == "text":
            texts = (b"nan", b"1e999", b"null", b"-1", b"9" * 30, b"[" * 99, b"\xff", b"\n", b"{}", b'"', b"<", b"\x00")
            found[at : at + 1] = texts[byte % len(texts)]
    return bytes(found)


def _change_digit(found: bytearray, at: int, byte: int) -> None:
    """Another digit in place of the next one: the damage that no parser notices."""
    for i in range(at, len(found)):
        if chr(found[i]).isdigit():
            found[i] = ord("0") + byte % 10
            return


def run(recipe: Any) -> None:
    """Damage the file, read it, and put it back."""
    example = examples()[recipe["file"]] if recipe["file"] != "store" else _store(recipe["damage"][0][2])
    example.place.write_bytes(damaged(example.content, recipe["damage"]))
    try:
        example.read()
    finally:
        example.place.write_bytes(example.content)


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="rwk-fuzz-"))


@functools.cache
def _graphs() -> Any:
    networks = [nx.path_graph(n) for n in range(2, 8)] + [nx.cycle_graph(n) for n in range(3, 9)]
    for network in networks:
        nx.set_node_attributes(network, {node: "CNO"[node % 3] for node in network}, "label")
    return rwk.as_graphs(networks, targets=[0, 1] * 6)


@functools.cache
def examples() -> dict[str, Example]:
    """One whole file of every kind."""
    made = [_matrix(), _rows(), _folds(), _record_of_run(), _lines(), _cache(), _model(), _tu_zip()]
    return {
        name: Example(place, place.read_bytes(), read)
        for name, place, read in [*made, *_tu_parts(), *(_exported(ending) for ending in ENDINGS)]
    }


ENDINGS = (".graphml", ".gml", ".gexf", ".json", ".edgelist", ".smi", ".sdf", ".csv", ".parquet")
PARTS = ("A", "graph_indicator", "graph_labels", "node_labels")
COMMON = (
    "matrix", "rows", "folds", "run", "lines", "cache", "model", "zip", *(f"tu {part}" for part in PARTS), *ENDINGS,
)  # fmt: skip
Made = tuple[str, Path, Callable[[], object]]


def _matrix() -> Made:
    from rwk.gram.matrix_file import save_gram
    from rwk.report.run_data import read_run

    values = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    place = save_gram(_folder() / "K.npz", values, rwk.Parameters(), targets=[0, 1, 0, 1, 0])

    def read() -> None:
        holds(np.array_equal(read_run(place).discrepancy, values), "a damaged matrix is taken for good")

    return "matrix", place, read


def _rows() -> Made:
    from rwk.gram.kept import Kept, solved_values

    kept = Kept(_folder(), "graphs", "setting@1")
    values = np.linspace(0.0, 1.0, 6)
    kept.write("rows", values=values, health=np.array([6.0, 0.0, 2.0, 0.1]))

    def read() -> None:
        found = solved_values(kept.read("rows"), 6)
        holds(found is None or np.array_equal(found[0], values), "damaged rows are taken for good")

    return "rows", kept.place("rows"), read


def _folds() -> Made:
    from rwk.experiment.folds import load_folds, make_folds, save_folds

    folds, place = make_folds([0, 1] * 10, 5, 2), _folder() / "folds.json"
    save_folds(folds, place)

    def read() -> None:
        found = load_folds(place)
        same = set(found.test_fold) == set(folds.test_fold) and found.n_splits == folds.n_splits
        same = same and all(np.array_equal(found.test_fold[seed], at) for seed, at in folds.test_fold.items())
        holds(same, "damaged folds are taken for good")

    return "folds", place, read


def _record_of_run() -> Made:
    from rwk.runtime.files import load_json, write_json

    content = {"kind": "rwk run", "score": 0.875, "dataset": {"name": "TOY", "n": 12}, "names": ["a", "ü"]}
    place = write_json(_folder() / "run.json", content, checksum=True)

    def read() -> None:
        holds(load_json(place) == content, "a damaged record is taken for good")

    return "run", place, read


def _lines() -> Made:
    from rwk.experiment.records import Score, append_record, read_records

    place = _folder() / "records.jsonl"
    for fold in range(3):
        score = Score("TOY", "rwk", 0, fold, 0.5, 2, 8, 4, 0.5, {"C": 1.0}, 0.75, 0.1, {"n_splits": 3}, {"rwk": "0"})
        append_record(place, score, folds={0: "abc"})

    def read() -> None:
        for score in read_records(place):
            finite([score.score, score.seconds, score.majority], "a score")
            holds(0 <= score.score <= 1, "a score is not a share")

    return "lines", place, read


def _cache() -> Made:
    from rwk.datasets.parsed_cache import read_cached, write_cached
    from rwk.datasets.tu_files import find_source

    graphs = _graphs()
    source = find_source(_tu_folder())
    with _cache_in(_folder() / "cache"):
        write_cached(source, graphs)
    place = next((_folder() / "cache").rglob("*.npz"))

    def read() -> None:
        with _cache_in(_folder() / "cache"):
            found = read_cached(source)
        same = found is None or (
            np.array_equal(found.edges, graphs.edges) and np.array_equal(found.sizes, graphs.sizes)
        )
        same = same and (found is None or np.array_equal(found.node_labels, graphs.node_labels))
        holds(same, "a damaged cache is taken for good")

    return "cache", place, read


def _cache_in(folder: Path) -> Any:
    from unittest.mock import patch

    return patch.dict("os.environ", {"RWK_CACHE": str(folder)})


def _model() -> Made:
    from rwk.learn.saved_models import load_model, save_model

    setting = {"one": {"max_iter": 2, "sinkhorn_iter": 5, "n_jobs": 1, "backend": "cpu"}}
    process = rwk.RWKGaussianProcess(settings=setting, n_starts=1, n_jobs=1, backend="cpu")
    process.fit(_graphs(), np.arange(12.0))
    place = save_model(process, _folder() / "model.npz")
    new = [nx.star_graph(3)]
    nx.set_node_attributes(new[0], "C", "label")
    wanted = process.predict(new)

    def read() -> None:
        found = finite(load_model(place).predict(new), "a prediction")
        holds(np.array_equal(found, wanted), "a damaged model is taken for good")

    return "model", place, read


@functools.cache
def _tu_folder() -> Path:
    rwk.to_tu(_graphs(), _folder() / "TOY")
    return _folder() / "TOY"


def _tu_zip() -> Made:
    import shutil

    place = Path(shutil.make_archive(str(_folder() / "TOY"), "zip", _tu_folder()))
    return "zip", place, lambda: _read_tu(place)


def _tu_parts() -> list[Made]:
    folder = _tu_folder()
    return [(f"tu {part}", folder / f"TOY_{part}.txt", lambda: _read_tu(folder)) for part in PARTS]


def _read_tu(place: Path) -> None:
    with _cache_in(Path("/dev/null/none")):  # nothing is kept
        valid_set(rwk.load_dataset(place))


def _exported(ending: str) -> Made:
    place = _folder() / f"example{ending}"
    network = nx.path_graph(4)
    nx.set_node_attributes(network, "C", "label")
    nx.set_edge_attributes(network, 1.5, "weight")
    writers: dict[str, Callable[[], object]] = {
        ".graphml": lambda: nx.write_graphml(network, place),
        ".gml": lambda: nx.write_gml(network, place),
        ".gexf": lambda: nx.write_gexf(network, place),
        ".json": lambda: place.write_text(_node_link(network)),
        ".edgelist": lambda: place.write_text("v 0 C\nv 1 N\nv 2 C\n0 1 2.5\n1 2\n"),
        ".smi": lambda: place.write_text("CCO ethanol\nc1ccccc1 benzene\n"),
        ".sdf": lambda: place.write_text(_molfile()),
        ".csv": lambda: place.write_text("smiles,value\nCCO,1.5\nCC,2.5\n"),
        ".parquet": lambda: _write_parquet(place),
    }
    writers[ending]()
    return ending, place, lambda: valid_set(rwk.as_graphs(place))


def _node_link(network: Any) -> str:
    import json

    return json.dumps([nx.node_link_data(network)] * 2)


def _molfile() -> str:
    from rdkit import Chem

    return str(Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))) + "$$$$\n"


def _write_parquet(place: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"smiles": ["CCO", "CC"], "value": [1.5, 2.5]}), place)


def _store(which: int) -> Example:
    """A store with a matrix, made anew for every case, and one of its files."""
    folder = Path(tempfile.mkdtemp(dir=_folder())) / "store"
    settings: dict[str, Any] = {"max_iter": 2, "sinkhorn_iter": 5, "backend": "cpu", "n_jobs": 1}
    graphs = _graphs()[:4]
    wanted = rwk.compute_gram(graphs, store=folder, **settings).discrepancy()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    place = files[which % len(files)]

    def read() -> None:
        found = rwk.compute_gram(graphs, store=folder, existing="resume", **settings).discrepancy()
        holds(np.array_equal(finite(found, "a stored matrix"), wanted), "a damaged store is taken for good")

    return Example(place, place.read_bytes(), read)
