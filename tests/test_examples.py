"""The examples of the gallery run unchanged, draw their pictures, and print what they promise."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rwk
from gram_graphs import QUICK, random_graphs, write_tu

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))
NEEDS = {"molecules": "rdkit", "similar_molecules": "rdkit", "matrix_on_disk": "zarr"}


def skip_without_mutag() -> None:
    try:
        rwk.load_dataset("MUTAG", download=False)
    except rwk.GraphError:
        pytest.skip("MUTAG is neither in $RWK_DATA nor installed")


def last_number(printed: str) -> float:
    return float(re.findall(r"\d+\.?\d*", printed)[-1])


def finds_the_motif(printed: str) -> bool:
    important, motif = (eval(line.split(":", 1)[1]) for line in printed.strip().splitlines()[-2:])
    return len(set(important) & set(motif)) >= 4


# what an example prints
PROMISES = {
    "boiling_points": lambda printed: float(re.search(r"error: ([\d.]+)", printed)[1]) < 12,
    "brain_networks": lambda printed: last_number(printed) > 0.75,
    "clustering": lambda printed: last_number(printed) > 0.9,
    "embedding_map": lambda printed: last_number(printed) > 75,
    "explain_prediction": finds_the_motif,
    "large_sets": lambda printed: float(re.search(r"40 landmarks.*accuracy ([\d.]+)", printed)[1]) > 0.85,
    "matrix_on_disk": lambda printed: "tiles still missing: 0" in printed and "bit-identical: True" in printed,
    "molecules": lambda printed: "caffeine           is most similar to theobromine" in printed,
    "network_versions": lambda printed: (
        sum(map(int, re.match(r"(\d+) of 34 members found, (\d+)", printed).groups())) >= 32
    ),
    "own_graphs": lambda printed: last_number(printed) > 0.8,
    "precomputed_kernel": lambda printed: last_number(printed) > 0.75,
    "similar_molecules": lambda printed: printed.startswith("salicylic acid"),
    "social_networks": lambda printed: "karate club: most like preferential" in printed,
}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_draws_its_picture_and_prints_what_it_promises(name, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures are in the extra 'plot'")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"this example needs {NEEDS[name]}")
    if "MUTAG" in (EXAMPLES / f"{name}.py").read_text(encoding="utf-8"):
        skip_without_mutag()
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert PROMISES.get(name, lambda _: True)(printed), printed


def test_every_promise_is_of_an_example():
    assert set(PROMISES) | set(NEEDS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_and_in_the_gallery(name):
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    assert f"python examples/{name}.py" in text.split('"""')[1]
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert f"](images/gallery/{name}.png)" in page
    assert f"<!-- example: examples/{name}.py -->" in page
    assert (ROOT / "docs" / "images" / "gallery" / f"{name}.png").exists()


def test_the_gallery_is_large_and_its_pictures_are_small():
    assert len(NAMES) >= 12
    pictures = list((ROOT / "docs" / "images" / "gallery").iterdir())
    assert {picture.name for picture in pictures} == {f"{name}.png" for name in NAMES}
    assert sum(picture.stat().st_size for picture in pictures) < 1.5e6


# ---------------------------------------------------------------- the SLURM scripts, without SLURM


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    graphs = random_graphs(30)
    return write_tu(tmp_path_factory.mktemp("slurm") / "TOY", graphs), graphs


def batch(script, task=None, count=None, **variables):
    """Start a batch script with the variables that SLURM would set."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    numbers = {} if task is None else {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(count)}
    given = {"SLURM_CPUS_PER_TASK": "2", "OPTIONS": "--max-iter 2 --sinkhorn-iter 5 --backend cpu", **variables}
    environment = {**os.environ, "PATH": path, **numbers, **{name: str(value) for name, value in given.items()}}
    command = ["bash", str(EXAMPLES / "slurm" / script)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process):
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def test_a_job_array_over_one_store(toy, tmp_path):
    """Tasks run side by side, one is killed and submitted again, and the matrix is collected at the end."""
    pytest.importorskip("zarr", reason="stores are in the extra 'distributed'")
    folder, graphs = toy
    where = {"DATA": folder, "STORE": tmp_path / "store"}
    tasks = [batch("array.sbatch", task, 3, **where) for task in (1, 2, 3)]
    os.killpg(tasks[1].pid, signal.SIGKILL)
    tasks[1].communicate()
    for task in (tasks[0], tasks[2], batch("array.sbatch", 2, 3, **where)):
        code, output = finish(task)
        assert code == 0, output
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "store" / "discrepancy-0").iterdir()}
    code, output = finish(batch("collect.sbatch", **where, MATRIX=tmp_path / "matrix.npz"))
    assert code == 0, output
    after = {file: file.stat().st_mtime_ns for file in (tmp_path / "store" / "discrepancy-0").iterdir()}
    assert before == after  # nothing was left to compute
    found = np.load(tmp_path / "matrix.npz", allow_pickle=False)["discrepancy"]
    np.testing.assert_array_equal(found, rwk.pairwise_discrepancy(graphs, **QUICK))


def test_a_job_array_fails_when_it_must(toy, tmp_path):
    code, output = finish(batch("array.sbatch", 4, 3, DATA=toy[0], STORE=tmp_path / "store"))
    assert code == 2
    assert "part='4/3' is not a part of a whole" in output


def test_workers_as_jobqueue_starts_them(toy, tmp_path):
    pytest.importorskip("distributed", reason="Dask is in the extra 'distributed'")
    command = [sys.executable, EXAMPLES / "slurm" / "jobqueue.py", toy[0], tmp_path / "store", "--workers", "2"]
    done = subprocess.run([*command, "--local"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "30" in done.stdout
