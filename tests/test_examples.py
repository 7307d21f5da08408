"""The examples run unchanged and print what they promise."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rwk
from gram_graphs import QUICK, random_graphs, write_tu

EXAMPLES = Path(__file__).parent.parent / "examples"
NEEDS = {"similar_molecules": "rdkit", "matrix_on_disk": "zarr"}


def run(name, monkeypatch, tmp_path, capsys, *arguments):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        "explain_prediction",
        "matrix_on_disk",
        "own_graphs",
        "precomputed_kernel",
        "similar_molecules",
    }


def test_own_graphs(monkeypatch, tmp_path, capsys):
    printed = run("own_graphs", monkeypatch, tmp_path, capsys)
    assert float(printed.rsplit(":", 1)[1]) > 0.8


def test_similar_molecules(monkeypatch, tmp_path, capsys):
    printed = run("similar_molecules", monkeypatch, tmp_path, capsys, tmp_path / "aspirin.png")
    assert printed.startswith("salicylic acid")
    assert (tmp_path / "aspirin.png").read_bytes().startswith(b"\x89PNG")


def test_explain_prediction(monkeypatch, tmp_path, capsys):
    printed = run("explain_prediction", monkeypatch, tmp_path, capsys, tmp_path / "why.png")
    important, motif = (eval(line.split(":", 1)[1]) for line in printed.strip().splitlines()[-2:])
    assert len(set(important) & set(motif)) >= 4
    assert (tmp_path / "why.png").exists()


def test_precomputed_kernel(monkeypatch, tmp_path, capsys):
    assert "new graphs" in run("precomputed_kernel", monkeypatch, tmp_path, capsys)


def test_matrix_on_disk(monkeypatch, tmp_path, capsys):
    assert "bit-identical: True" in run("matrix_on_disk", monkeypatch, tmp_path, capsys, tmp_path / "store")


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
