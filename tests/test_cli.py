"""The command line as users see it: real commands on small files, and one sentence for every mistake."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the pictures need the extra 'plot'")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TU folder of 24 labelled paths and cycles, two classes."""
    place = tmp_path_factory.mktemp("data") / "TOY"
    place.mkdir()
    edges, indicator, labels, classes = [], [], [], []
    first = 1
    for g in range(24):
        n = 4 + g % 5
        ends = [(i, i + 1) for i in range(n - 1)] + ([(n - 1, 0)] if g % 2 else [])
        edges += [f"{first + a}, {first + b}" for i, j in ends for a, b in ((i, j), (j, i))]
        indicator += [str(g + 1)] * n
        labels += [str(i % 2) for i in range(n)]
        classes.append(str(g % 2))
        first += n
    for part, lines in (
        ("A", edges),
        ("graph_indicator", indicator),
        ("node_labels", labels),
        ("graph_labels", classes),
    ):
        (place / f"TOY_{part}.txt").write_text("\n".join(lines) + "\n")
    return place


def rwk(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rwk", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", **environment},
        timeout=600,
    )


def test_baselines_are_listed_with_what_they_accept_and_see() -> None:
    done = rwk("baselines", "list")
    assert done.returncode == 0, done.stderr
    rows = {cells[1].strip(): cells for line in done.stdout.splitlines() if len(cells := line.split("│")) > 5}
    assert {"wl", "wl-oa", "ghk", "pk", "hgk-wl", "hgk-sp", "retgk", "gntk", "p-wl", "wl-pm", "wwl", "fgw"} < set(rows)
    seen = ["attributes, labels, neither", "labels or attributes", "labels and attributes", "kernel"]
    assert [cell.strip() for cell in rows["hgk-sp"][2:6]] == seen
    assert [cell.strip() for cell in rows["wl"][3:5]] == ["labels", "labels (its paper has no way to use attributes)"]
    assert rows["gin"][5].strip() == "classifier"
    assert "neither" in rows["gin"][2]
    assert "Xu" in rows["gin"][7]


def test_version_and_help_name_the_commands() -> None:
    assert rwk("--version").stdout.startswith("rwk ")
    text = rwk("--help").stdout
    for command in ("demo", "info", "gram", "classify", "align"):
        assert command in text


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['rwk', '--help']\n"
        "from rwk.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'sklearn', 'torch', 'ot', 'matplotlib', 'scipy', 'networkx'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [("rwk gr", ["gram"]), ("rwk gram COX", ["COX2", "COX2_MD"]), ("rwk gram MUTAG --beta-l", ["--beta-local"])],
)
def test_the_shell_completes(words: str, offered: list[str]) -> None:
    """Ask for completions as bash does, with the words of the line and the index of the word to complete."""
    asked = {"_RWK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    code = "import sys; sys.argv = ['rwk']; from rwk.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == offered, done.stderr


def test_every_parameter_is_an_option() -> None:
    from dataclasses import fields

    from rwk.parameters import Parameters

    pages = [rwk("gram", page).stdout for page in ("--help", "--help-tuning")]
    for field in fields(Parameters):
        option = f"--{field.name.replace('_', '-')} "
        assert sum(option in page for page in pages) == 1, option


def test_gram_writes_matrix_parameters_targets_and_version(folder: Path, tmp_path: Path) -> None:
    done = rwk("gram", folder, "-o", tmp_path / "K.npz", "--beta-global", "0.3", "--eta", "2")
    assert done.returncode == 0, done.stderr
    assert "300 pairs" in done.stdout + done.stderr
    saved = np.load(tmp_path / "K.npz", allow_pickle=False)
    assert saved["kernel"].shape == (24, 24)
    np.testing.assert_array_equal(saved["kernel"], np.exp(-2.0 * saved["discrepancy"]))
    np.testing.assert_array_equal(saved["kernel"], saved["kernel"].T)
    assert json.loads(str(saved["parameters"]))["beta_global"] == 0.3
    assert saved["targets"].tolist() == [0, 1] * 12
    assert str(saved["version"])
    assert [p.name for p in tmp_path.iterdir()] == ["K.npz"]


def test_gram_equals_the_library(folder: Path, tmp_path: Path) -> None:
    import rwk as library

    assert rwk("gram", folder, "-o", tmp_path / "K.npz", "--n-jobs", "1").returncode == 0
    D = library.pairwise_discrepancy(library.load_dataset(folder))
    np.testing.assert_array_equal(np.load(tmp_path / "K.npz")["discrepancy"], D)


def test_gram_as_a_plain_matrix(folder: Path, tmp_path: Path) -> None:
    """The .npy file has the same matrix whether it is computed in memory, within a budget, or from a store."""
    quick = ("--max-iter", "2", "--sinkhorn-iter", "5")
    assert rwk("gram", folder, "-o", tmp_path / "K.npz", *quick).returncode == 0
    wanted = np.load(tmp_path / "K.npz", allow_pickle=False)["discrepancy"]
    for name, more in (("a", ()), ("b", ("--memory", "20MB")), ("c", ("--store", str(tmp_path / "store")))):
        done = rwk("gram", folder, "-o", tmp_path / f"{name}.npy", *quick, *more)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy", mmap_mode="r"), wanted)


def test_classify_prints_accuracy_beside_the_majority_and_keeps_a_record(folder: Path, tmp_path: Path) -> None:
    done = rwk("classify", folder, "-o", tmp_path / "run", "--repeats", "2", "--splits", "3")
    assert done.returncode == 0, done.stderr
    for word in ("accuracy", "majority", "pairs/s", "not converged"):
        assert word in done.stdout
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["majority"] == 0.5
    assert record["accuracy"] > 0.8  # paths and cycles are easy
    assert len((tmp_path / "run" / "records.jsonl").read_text().splitlines()) == 7  # a header, six folds


def test_align_draws_a_picture(folder: Path, tmp_path: Path) -> None:
    done = rwk("align", folder, "0", "1", "-o", tmp_path / "picture.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "gromov_wasserstein" in done.stdout


def test_query_leaves_the_query_out_and_is_debiased(folder: Path) -> None:
    done = rwk("query", folder, "3", "-k", "5")
    assert done.returncode == 0, done.stderr
    rows = [line.split("│") for line in done.stdout.splitlines() if line.startswith("│")]
    assert len(rows) == 5
    assert "3" not in [row[2].strip() for row in rows]
    assert float(rows[0][5]) < 1e-6  # a copy of graph 3
    solved, ruled_out = re.search(r"(\d+) of \d+ pairs solved; (.*)", done.stdout).groups()
    left = 48 - int(solved)  # 23 pairs, and RW(G, G) of the query and 24 graphs
    assert ruled_out == (f"a lower bound ruled out the other {left}" if left else "the lower bound ruled out none")
    everyone = rwk("query", folder, "3", "-k", "23").stdout
    assert "48 of 48 pairs solved; the lower bound ruled out none" in everyone
    assert float(rwk("query", folder, "3", "-k", "1", "--no-debias").stdout.split("│")[-2]) > 1e-3


def test_info_of_a_path(folder: Path) -> None:
    text = rwk("info", folder).stdout
    assert "24" in text
    assert "2 (0: 12, 1: 12)" in text


MISTAKES = {
    "unknown dataset": (["info", "MUTAGG"], "MUTAG"),
    "dataset with a space in its name": (["info", "MU TAG"], "did you mean 'MUTAG'?"),
    "unknown file": (["gram", "no/such/place.zip"], "no/such/place"),
    "parameter outside its range": (["gram", "{folder}", "--entropy", "0"], "entropy=0"),
    "unknown choice": (["gram", "{folder}", "--structure", "shortest"], "shortest-path"),
    "unknown variant": (["gram", "{folder}", "--variant", "RWK-9"], "RWK-1"),
    "unknown grid": (["classify", "{folder}", "--grid", "huge"], "quick"),
    "graph that is not there": (["align", "{folder}", "0", "99"], "24 graphs"),
    "data without a name": (["info", ""], "the name of the data is empty"),
    "graph without a name": (["align", "CCO", ""], "is empty"),
    "unwritable output": (["gram", "{folder}", "-o", "/proc/nothing/K.npz"], "/proc/nothing"),
    "output is a folder": (["gram", "{folder}", "-o", "{folder}"], "folder"),
    "matrix of an unknown kind": (["gram", "{folder}", "-o", "K.txt"], "K.txt: a matrix is .npz"),
    "matrix of an unknown kind from a store": (["gram", "{folder}", "--store", "s", "-o", "K.doc"], "K.doc: a matrix"),
    "no start at all": (["align", "{folder}", "0", "1", "--starts", "0"], "n_starts=0 is outside its range"),
    "picture of an unknown kind": (["align", "{folder}", "0", "1", "-o", "a.xyz"], "is not the name of a picture"),
    "explanation of an unknown kind": (["explain", "{folder}", "0", "-o", "a.xyz"], "is not the name of a picture"),
    "resume without a store": (["gram", "{folder}", "--resume", "-o", "K.npz"], "--resume needs --store"),
    "extend without a store": (["gram", "{folder}", "--extend", "-o", "K.npz"], "--extend needs --store"),
    "store without a name": (["gram", "{folder}", "--store", ""], "the store has no name"),
    "memory for less than a tile": (["gram", "{folder}", "--memory", "1kB", "-o", "K.npz"], "too small for one tile"),
    "no threads": (["gram", "{folder}", "--n-jobs", "0"], "n_jobs=0 is not valid"),
    "more folds than members": (["classify", "{folder}", "--splits", "13"], "13"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_code_2(name: str, folder: Path, tmp_path: Path) -> None:
    arguments, said = MISTAKES[name]
    done = rwk(*(argument.format(folder=folder) for argument in arguments), cwd=tmp_path, RWK_DATA=str(tmp_path))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    message = [line for line in done.stderr.splitlines() if line.startswith("rwk: ")]
    assert len(message) == 1
    assert said in message[0]
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_baseline_does_not_run_elsewhere_than_asked(folder: Path, tmp_path: Path) -> None:
    asked = ("classify", folder, "-o", tmp_path / "run", "--method", "gntk", "--backend", "gpu")
    done = rwk(*asked, RWK_GPU_DEVICE="nosuch")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "backend='gpu' needs" in done.stderr or "is not a device" in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def broken(folder: Path, tmp_path: Path, part: str, change: object) -> Path:
    """A copy of the TU folder with one file changed."""
    import shutil

    place = tmp_path / "TOY"
    shutil.copytree(folder, place)
    file = place / f"TOY_{part}.txt"
    file.write_text(change(file.read_text()))  # type: ignore[operator]
    return place


DAMAGES = {
    "edge to a node that does not exist": ("A", lambda text: text + "1, 9999\n", "9999"),
    "graph indicator out of order": ("graph_indicator", lambda text: text.replace("2\n", "3\n", 1), "indicator"),
    "truncated labels": ("node_labels", lambda text: "\n".join(text.splitlines()[:-3]) + "\n", "node_labels"),
    "junk": ("A", lambda text: text + "one, two\n", "line"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_dataset_is_one_sentence(name: str, folder: Path, tmp_path: Path) -> None:
    part, change, said = DAMAGES[name]
    place = broken(folder, tmp_path, part, change)
    done = rwk("gram", place, "-o", tmp_path / "K.npz")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "K.npz").exists()


def test_a_corrupt_zip_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "BAD.zip").write_bytes(b"PK\x03\x04 and then nothing")
    done = rwk("info", tmp_path / "BAD.zip")
    assert done.returncode == 2
    assert "BAD.zip" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_zip_that_escapes_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "EVIL.zip", "w") as archive:
        archive.writestr("../EVIL_A.txt", "1, 2\n")
    done = rwk("info", tmp_path / "EVIL.zip")
    assert done.returncode == 2
    assert "EVIL.zip" in done.stderr
    assert not (tmp_path.parent / "EVIL_A.txt").exists()


def test_the_library_prints_nothing_and_logs() -> None:
    """Only the command line and what times things print; the library's log goes to `logging.getLogger("rwk")`."""
    import ast

    import rwk as library

    root = Path(library.__file__).parent
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] in ("cli", "bench"):
            continue
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"], path


def test_n_jobs_and_backend_mean_the_same_in_every_command() -> None:
    import typer

    from rwk.cli.app import app

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {(name, option.name): option.help for name, command in commands.items() for option in command.params}
    assert {name for name, option in options if option == "n_jobs"} > {"gram", "query", "classify", "reproduce"}
    assert len({text for (_, option), text in options.items() if option == "n_jobs"}) == 1
    assert len({text for (name, option), text in options.items() if option == "backend" and name != "bench"}) == 1


def test_the_progress_bar_needs_no_rich(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from rwk.runtime import progress

    for spec in (progress.find_spec, lambda name: None):
        monkeypatch.setattr(progress, "find_spec", spec)
        with progress.progress_bar("solving", 10, done=4) as tick:
            tick(6)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("solving") == printed.err.count("10/10") == 1


def test_a_warning_of_the_library_reaches_the_screen_once() -> None:
    code = "import logging; from rwk.runtime.log import LOG; {}; LOG.warning('rwk is compiling')"
    for first in ("pass", "from rwk.cli.screen import show_log; show_log(); show_log()"):
        done = subprocess.run([sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr.strip()) == ("", "rwk is compiling")


def test_warnings_are_sentences(tmp_path: Path) -> None:
    """Without the file and the line of our code that Python puts before and after them."""
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {n: n for n in graph}, "height")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    done = rwk("align", tmp_path / "a.graphml", tmp_path / "a.graphml")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "height" in line]
    assert lines, done.stderr
    assert all(line.startswith("warning: ") for line in lines)
    assert ".py" not in done.stderr
