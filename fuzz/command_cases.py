"""Command lines that nobody should type: an answer, or one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np

import rwk
from fuzz.parameter_cases import CHOICES, NAMES
from fuzz.promise import holds
from fuzz.values import Chance

COMMANDS = ("info", "convert", "align", "match", "gram", "query", "classify", "regress", "predict", "report", "explain",
            "baselines", "explore", "reproduce", "bench", "doctor", "demo", "warmup", "nothing", "")  # fmt: skip
# these run for long, or until they are stopped, if nothing is wrong with what they are given
LONG = ("classify", "explore", "reproduce", "bench", "demo", "warmup", "regress", "doctor")
OPTIONS = ("--output", "-o", "--store", "--resume", "--extend", "--memory", "--dask", "--processes", "--part",
           "--dry-run", "--smiles-column", "--target", "--k", "--seeds", "--folds", "--help", "--version", "--port",
           "--grid", "--method", "--picture", "--verbose", "--n-starts", "--jobs", "--")  # fmt: skip
FILES = ("good.graphml", "markup.graphml", "good.smi", "good.npz", "good.json", "TOY", "broken.graphml", "broken.npz",
         "empty.csv", "run")  # fmt: skip


def make(chance: Chance) -> Any:
    """A command and some words after it."""
    command = chance.choice(COMMANDS)
    words = [_word(chance) for _ in range(chance.of(0, 1, 2, 2, 3))]
    for _ in range(chance.of(0, 1, 2)):
        words += _option(chance)
    if command in LONG:
        words.append(chance.of("--no-such-option", "--entropy=-1", "--hops=x"))
    return {"words": [command, *words]}


def _word(chance: Chance) -> str:
    return str(
        chance.of(chance.choice(FILES), "MU TAG", "mutagg", chance.text(), str(chance.integer()), "no/such/file")
    )


def _option(chance: Chance) -> list[str]:
    name = chance.choice(OPTIONS) if chance.happens(0.5) else f"--{chance.choice(NAMES).replace('_', '-')}"
    if chance.happens(0.2):
        return [name]
    value = str(
        chance.of(chance.number(), chance.integer(), chance.text(), chance.choice(CHOICES), "0/3", "4/3", "1MB")
    )
    if name in ("--dask", "--processes"):
        value = str(chance.of("", "x", "-1", "0", "local:x", "nan"))
    if name == "--store" or name in ("--output", "-o"):
        value = str(
            chance.of(
                "out", "out.npz", "out.csv", "out.png", "TOY", "no/such/folder/out.npz", "", "/dev/null/out.npz", "a\0b"
            )
        )
    return [name, value] if chance.happens(0.7) else [f"{name}={value}"]


def run(recipe: Any) -> None:
    """Run the command in this process, in a folder with a few files; leave the folder as it was."""
    from rwk.cli.app import main

    place = _folder()
    before = {path.name for path in place.iterdir()}
    said = io.StringIO()
    here = Path.cwd()
    os.chdir(place)
    environment = {"RWK_DEBUG": "1", "RWK_CACHE": str(place / ".cache"), "COLUMNS": "100", "RWK_DATA": str(place)}
    code: Any = 0
    try:
        with (
            patch.object(sys, "argv", ["rwk", *(_typable(word) for word in recipe["words"])]),
            patch.dict(os.environ, environment),
            patch("rwk.datasets.load.fetch", side_effect=OSError("no network here")),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        holds(code in (0, 2), f"exit code {code}")
        holds("Traceback" not in said.getvalue(), "a traceback is shown")
        half = [path.name for path in place.rglob(".*") if path.name != ".cache" and ".cache" not in path.parts]
        holds(not half, "a half-written file is left")
    finally:
        os.chdir(here)
        _clear(place, before)


def _typable(word: str) -> str:
    """What can be typed: a command line has no NUL, and odd bytes arrive as surrogates."""
    return word.replace("\0", "0")


def _clear(place: Path, before: set[str]) -> None:
    import shutil

    for path in place.iterdir():
        if path.name not in before:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@functools.cache
def _folder() -> Path:
    """A few good and bad files."""
    from rwk.gram.matrix_file import save_gram

    place = Path(tempfile.mkdtemp(prefix="rwk-fuzz-"))
    network = nx.cycle_graph(4)
    nx.write_graphml(network, place / "good.graphml")
    nx.set_node_attributes(network, {0: "[/b]", 1: "$x_$", 2: "_c", 3: "<i>"}, "label")  # markup to rich, TeX, legends
    nx.write_graphml(nx.relabel_nodes(network, {0: "[red]", 1: "[/]"}), place / "markup.graphml")
    (place / "good.smi").write_text("CCO\nCC\nC\n")
    (place / "good.json").write_text('{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}')
    save_gram(place / "good.npz", np.zeros((3, 3)), rwk.Parameters(), targets=[0, 1, 0])
    rwk.to_tu(rwk.as_graphs([nx.path_graph(n) for n in range(2, 8)], targets=[0, 1] * 3), place / "TOY")
    (place / "broken.graphml").write_text("<graphml><node/></graphml")
    (place / "broken.npz").write_bytes((place / "good.npz").read_bytes()[:100])
    (place / "empty.csv").write_text("")
    (place / "run").mkdir()
    (place / "run" / "run.json").write_text("{")
    return place
