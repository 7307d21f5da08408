"""Faults of the computer, as they happen: a full disk, a read-only home, no home, two writers, odd locales and zips."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.experiment.json_lines import append_line, read_entries
from rwk.graphs import GraphError
from rwk.runtime.files import load_arrays, write_arrays


def run(
    script: str, *arguments: object, shell: str = "", **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own; with `shell`, after these commands in a namespace where it may mount."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    if shell:
        command = ["unshare", "-rm", "sh", "-c", f'{shell} && exec "$0" "$@"', *command]
    wanted = {**os.environ, **{name: value for name, value in environment.items() if value is not None}}
    for name in [name for name, value in environment.items() if value is None]:
        wanted.pop(name, None)
    return subprocess.run(command, capture_output=True, text=True, env=wanted, check=False, encoding="utf-8")


@pytest.fixture(scope="module")
def can_mount() -> None:
    allowed = (
        shutil.which("unshare")
        and not subprocess.run(
            ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /tmp"], capture_output=True, check=False
        ).returncode
    )
    if not allowed:
        pytest.skip("mounting a small disk is not allowed here")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    graphs = rwk.as_graphs([nx.path_graph(n) for n in range(2, 8)], targets=[0, 1] * 3)
    return rwk.to_tu(graphs, tmp_path_factory.mktemp("data") / "TOY")


CLI = "import sys; sys.argv = ['rwk', *sys.argv[1:]]; from rwk.cli import main; main()"

FULL = """
import os, sys
import numpy as np
from rwk.experiment.json_lines import append_line, read_entries
from rwk.gram.matrix_file import save_gram
from rwk.parameters import Parameters
from rwk.runtime.files import OutputError, write_arrays, write_json
place = sys.argv[1]
big = np.random.default_rng(0).random((200, 200))
for write in (
    lambda: save_gram(place + "/K.npz", big, Parameters()),
    lambda: save_gram(place + "/K.npy", big, Parameters()),
    lambda: save_gram(place + "/K.csv", big, Parameters()),
    lambda: write_arrays(place + "/a.npz", values=big),
    lambda: write_json(place + "/a.json", {"values": big}),
):
    try:
        write()
    except OutputError as error:
        print(error)
    assert os.listdir(place) == [], os.listdir(place)
try:
    for i in range(9999):
        append_line(place + "/lines.jsonl", {"i": i, "text": "x" * 500}, {})
except OSError as error:
    print(error)
print(len(list(read_entries(place + "/lines.jsonl", "record"))) > 50)
"""


@pytest.mark.usefixtures("can_mount")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    done = run(FULL, tmp_path, shell=f"mount -t tmpfs -o size=64k none '{tmp_path}'")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 7
    assert all("could not be written (" in line for line in lines[:6]), lines
    assert all("nothing was saved" in line for line in lines[:5])
    assert lines[6] == "True"  # the lines before the last are whole


@pytest.mark.usefixtures("can_mount")
def test_a_full_disk_ends_a_command_with_code_2(tmp_path: Path, toy: Path) -> None:
    shell = f"mount -t tmpfs -o size=8k none '{tmp_path}'"
    done = run(CLI, "convert", toy, tmp_path / "out", "--to", "graphml", shell=shell, RWK_CACHE=str(tmp_path / "c"))
    assert done.returncode == 2, done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("can_mount")
def test_a_read_only_home_is_no_obstacle(tmp_path: Path, toy: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shell = f"mount -t tmpfs -o ro none '{home}'"
    done = run(CLI, "info", toy, shell=shell, HOME=str(home), XDG_CACHE_HOME=None, RWK_CACHE=None)
    assert done.returncode == 0, done.stderr
    assert "TOY" in done.stdout


@pytest.mark.parametrize("home", [None, "", "/no/such/folder"])
def test_no_home_is_no_obstacle(toy: Path, home: str | None) -> None:
    done = run(CLI, "info", toy, HOME=home, XDG_CACHE_HOME=None, RWK_CACHE=None)
    assert done.returncode == 0, done.stderr
    assert "TOY" in done.stdout


def test_a_locale_without_unicode(tmp_path: Path) -> None:
    """Names that the terminal can't show are shown as well as it can; files are UTF-8 whatever the locale."""
    graphs = rwk.as_graphs({"größe": nx.path_graph(3), "β₁": nx.cycle_graph(4)})
    rwk.to_tu(graphs, tmp_path / "NAMED")
    (tmp_path / "ü.smi").write_text("CCO größe\nCC β₁\n", encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"}
    for words in (["info", tmp_path / "NAMED"], ["info", tmp_path / "ü.smi"], ["--help"], ["gram", "--help"]):
        if "smi" in str(words[-1]):
            pytest.importorskip("rdkit")
        done = run(CLI, *words, **plain)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    wrong = run(CLI, "info", tmp_path / "größe.smi", **plain)
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)


WRITER = """
import sys
import numpy as np
from rwk.experiment.json_lines import append_line
from rwk.runtime.files import write_arrays
place, own = sys.argv[1], int(sys.argv[2])
for i in range(15):
    write_arrays(place + "/shared.npz", values=np.full(5000, own))
    append_line(place + "/lines.jsonl", {"own": own, "i": i}, {"rwk": "records", "by": "both"})
"""


def test_two_writers_leave_whole_files(tmp_path: Path) -> None:
    write_arrays(tmp_path / "shared.npz", values=np.zeros(5000))
    both = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(own)]) for own in (1, 2)]
    while any(process.poll() is None for process in both):
        assert len(set(load_arrays(tmp_path / "shared.npz")["values"].tolist())) == 1  # one writer's, whole
        time.sleep(0.01)
    assert [process.returncode for process in both] == [0, 0]
    lines = [entry.content for entry in read_entries(tmp_path / "lines.jsonl", "record")]
    assert sorted((line["own"], line["i"]) for line in lines) == [(own, i) for own in (1, 2) for i in range(15)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "shared.npz"]


def test_a_real_highly_compressible_zip(tmp_path: Path) -> None:
    """A file of 64 kB that would unpack to more than 4 GiB: many names for one member of zeros."""
    place = tmp_path / "BOMB.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("BOMB_A.txt", bytes(2**26))
        for number in range(70):
            copy = zipfile.ZipInfo(f"BOMB_{number}.txt")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(copy, name, getattr(archive.filelist[0], name))
            archive.filelist.append(copy)
    assert place.stat().st_size < 2**17
    with pytest.raises(GraphError, match=r"would unpack to 4 GiB and the limit is 4; use a smaller set"):
        rwk.load_dataset(place)


def test_a_zip_that_lies_about_its_size(tmp_path: Path) -> None:
    place = tmp_path / "LIES.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("LIES_A.txt", bytes(2**24))
        archive.writestr("LIES_graph_indicator.txt", "1\n1\n")
        archive.writestr("LIES_graph_labels.txt", "1\n")
        archive.filelist[0].file_size = 100
    with pytest.raises(GraphError, match=r"LIES_A.txt"):
        rwk.load_dataset(place)


def test_lines_survive_a_full_pipe_of_torn_ends(tmp_path: Path) -> None:
    """A line that a kill cut off is dropped by the next writer, wherever it was cut."""
    place = tmp_path / "lines.jsonl"
    append_line(place, {"i": 0}, {"rwk": "records", "by": "one"})
    whole = place.read_bytes()
    for cut in range(len(whole) - 1, 0, -7):
        place.write_bytes(whole + whole[:cut])
        append_line(place, {"i": 1}, {"rwk": "records", "by": "one"})
        assert [entry.content["i"] for entry in read_entries(place, "record")][-1] == 1
