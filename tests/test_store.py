"""Stores: processes that are killed, damaged files, full disks, several writers, extensions, mismatches."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gram_graphs import QUICK, SMALL, fill_store, random_graphs
from rwk import GraphSet, pairwise_discrepancy
from rwk.gram.compute import GramProgress, compute_gram
from rwk.gram.errors import GramError
from rwk.gram.reading import Gram

pytest.importorskip("zarr", reason="zarr is in the extra 'distributed'")
HERE = Path(__file__).parent
GRAPHS = random_graphs(40)
N_KILLS = 20


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return pairwise_discrepancy(GRAPHS, **QUICK)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete store; tests work on copies of it."""
    place = tmp_path_factory.mktemp("finished") / "store"
    compute_gram(GRAPHS, store=place, memory=SMALL, **QUICK)
    return place


@pytest.fixture
def store(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "store"))


def computed(graphs: GraphSet, place: Any, **options: Any) -> tuple[Gram, GramProgress]:
    """The Gram matrix, and the last progress report."""
    last: list[GramProgress] = []
    keywords = {"memory": SMALL, **QUICK, **options}
    gram = compute_gram(graphs, store=place, report=last.append, **keywords)
    return gram, last[-1]


def tiles(store: Path) -> list[Path]:
    return sorted(path for path in (store / "discrepancy-0").iterdir() if path.name != "zarr.json")


# ---------------------------------------------------------------- going on


def test_a_store_gives_the_same_matrix(finished: Path, matrix: np.ndarray) -> None:
    gram, progress = computed(GRAPHS, finished)
    assert progress.tiles_done == 0
    assert progress.tiles_found == progress.n_tiles > 6
    np.testing.assert_array_equal(gram.discrepancy(), matrix)
    assert gram.health.n_pairs == 820


def test_only_missing_tiles_are_computed(store: Path, matrix: np.ndarray) -> None:
    for path in tiles(store)[::3]:
        path.unlink()
    n_gone = len(tiles(store)[::3])
    gram, progress = computed(GRAPHS, store)
    assert abs(progress.tiles_done - n_gone * 3 / 2) <= 2
    np.testing.assert_array_equal(gram.discrepancy(), matrix)


@pytest.mark.parametrize("damage", ["cut short", "empty", "one bit", "zeros"])
def test_a_damaged_tile_is_found_and_computed_again(damage: str, store: Path, matrix: np.ndarray) -> None:
    victim = tiles(store)[1]
    content = bytearray(victim.read_bytes())
    if damage == "one bit":
        content[len(content) // 2] ^= 4
    wanted = {"cut short": content[:-9], "empty": b"", "one bit": content, "zeros": bytes(len(content))}
    victim.write_bytes(wanted[damage])
    with pytest.raises(GramError, match="missing or damaged; run again"):
        Gram(computed_source(store), settings(), 10**9).discrepancy()
    gram, progress = computed(GRAPHS, store)
    assert (progress.tiles_damaged, progress.tiles_done) == (1, 1)
    np.testing.assert_array_equal(gram.discrepancy(), matrix)


def computed_source(store: Path) -> Any:
    from rwk.gram.opening import read_segments
    from rwk.gram.places import place_at
    from rwk.gram.store import GramStore

    place = place_at(store)
    return GramStore(place, read_segments(place), GRAPHS, settings())


def settings() -> Any:
    from rwk import Parameters

    return Parameters.of(QUICK)


def test_damaged_measures_are_made_again(store: Path, matrix: np.ndarray) -> None:
    [folder] = store.glob("measures-*")
    first, second, *_ = sorted(folder.iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:200])
    shutil.rmtree(store / "discrepancy-0")
    gram, _ = computed(GRAPHS, store)
    np.testing.assert_array_equal(gram.discrepancy(), matrix)


def test_a_tile_without_its_health_is_computed_again(store: Path, finished: Path) -> None:
    """Health is written before its tile; without it, the counts of iterations and failures would be wrong."""
    true = compute_gram(GRAPHS, store=finished, memory=SMALL, **QUICK).health
    lost = sorted((store / "health-0").glob("*.*.*"))[1:4]
    for file in lost:
        file.unlink()
    progress: list[GramProgress] = []
    health = compute_gram(GRAPHS, store=store, memory=SMALL, report=progress.append, **QUICK).health
    assert progress[-1].tiles_done == progress[-1].tiles_damaged == len(lost)
    assert health[:3] == true[:3]


@pytest.mark.parametrize("content", ["", "garbage", "{}", "another shape"])
def test_damaged_metadata_is_said_and_heals(content: str, store: Path, matrix: np.ndarray) -> None:
    file = store / "discrepancy-0" / "zarr.json"
    if content == "another shape":
        described = json.loads(file.read_text())
        described["shape"] = [1, 1]
        content = json.dumps(described)
    file.write_text(content)
    with pytest.raises(GramError, match=r"discrepancy-0/zarr\.json is damaged; remove that file and run again"):
        compute_gram(GRAPHS, store=store, memory=SMALL, **QUICK)
    file.unlink()
    progress: list[GramProgress] = []
    again = compute_gram(GRAPHS, store=store, memory=SMALL, report=progress.append, **QUICK)
    assert progress[-1].tiles_done == 0
    np.testing.assert_array_equal(again.discrepancy(), matrix)


def test_any_budget_gives_the_same_bits(tmp_path: Path, matrix: np.ndarray) -> None:
    for memory in ("500kB", "1GB"):
        gram, _ = computed(GRAPHS, tmp_path / memory, memory=memory)
        np.testing.assert_array_equal(gram.discrepancy(), matrix)


def test_any_fsspec_place(matrix: np.ndarray) -> None:
    for _ in range(2):
        gram, progress = computed(GRAPHS, "memory://test-store/nci")
        np.testing.assert_array_equal(gram.discrepancy(), matrix)
    assert progress.tiles_done == 0
    with pytest.raises(GramError, match="was made with entropy"):
        computed(GRAPHS, "memory://test-store/nci", entropy=0.3)


# ---------------------------------------------------------------- killed


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Kill a process with -9 at random moments and restart it, twenty times: bit-identical to an undisturbed run."""
    count = 45
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["rwk.gram.compute", "rwk.transport.cpu.dispatch", "zarr", "gram_graphs"])
    first = processes.Process(target=fill_store, args=(str(tmp_path / "first"), 2))
    first.start()
    first.join()
    start = time.perf_counter()
    unbroken = processes.Process(target=fill_store, args=(str(tmp_path / "unbroken"), count))
    unbroken.start()
    unbroken.join()
    lifetime = time.perf_counter() - start
    wanted = compute_gram(random_graphs(count), store=tmp_path / "unbroken", memory=SMALL, **QUICK).discrepancy()
    rng = np.random.default_rng(int.from_bytes(os.urandom(4), "little"))
    kills, finished = 0, 0
    while kills < N_KILLS:
        place = tmp_path / f"store-{finished}"
        process = processes.Process(target=fill_store, args=(str(place), count))
        process.start()
        process.join(rng.uniform(0.0, lifetime))
        if process.exitcode is None:
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            kills += 1
        else:
            assert process.exitcode == 0
            gram, progress = computed(random_graphs(count), place)
            assert progress.tiles_done == 0
            np.testing.assert_array_equal(gram.discrepancy(), wanted)
            finished += 1
    gram, progress = computed(random_graphs(count), tmp_path / f"store-{finished}")
    assert progress.tiles_damaged == 0  # a tile is there whole or not at all
    np.testing.assert_array_equal(gram.discrepancy(), wanted)


def test_two_processes_share_a_store(tmp_path: Path, matrix: np.ndarray) -> None:
    command = [sys.executable, str(HERE / "gram_graphs.py"), str(tmp_path / "store"), "40"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    done = []
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        done.append(int(output.split()[-1]))
    gram, progress = computed(GRAPHS, tmp_path / "store")
    assert progress.tiles_done == 0
    assert sum(done) >= progress.n_tiles
    np.testing.assert_array_equal(gram.discrepancy(), matrix)
    assert len(list((tmp_path / "store").glob("measures-*"))) == 1


FULL_DISK = """
import subprocess, sys
sys.path.insert(0, {here!r})
import numpy as np
from gram_graphs import QUICK, SMALL, random_graphs
from rwk import compute_gram
from rwk.gram.errors import NoRoomError
graphs, place = random_graphs(40), {place!r}
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], check=True)
try:
    compute_gram(graphs, store=place + "/store", memory=SMALL, **QUICK)
except NoRoomError as error:
    print(error)
subprocess.run(["mount", "-o", "remount,size=50m", place], check=True)
seen = []
gram = compute_gram(graphs, store=place + "/store", memory=SMALL, report=seen.append, **QUICK)
print(seen[-1].tiles_found, "found,", seen[-1].tiles_damaged, "damaged")
np.save({result!r}, gram.discrepancy())
"""


def test_a_full_disk_stops_cleanly_and_resumes(tmp_path: Path, matrix: np.ndarray) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("a small file system of one's own needs Linux user namespaces")
    (tmp_path / "disk").mkdir()
    code = FULL_DISK.format(here=str(HERE), place=str(tmp_path / "disk"), result=str(tmp_path / "D.npy"))
    run = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "the disk is full" in run.stdout
    assert "run the same command again" in run.stdout
    found, _, damaged, _ = run.stdout.splitlines()[-1].split()
    assert 0 < int(found) < 45
    assert damaged == "0"
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), matrix)


# ---------------------------------------------------------------- extended


def test_new_graphs_extend_a_store(store: Path) -> None:
    more = random_graphs(55)
    with pytest.raises(GramError, match="holds the first 40 of these 55 graphs; extend it"):
        computed(more, store)
    old = {path.name: path.stat().st_mtime_ns for path in tiles(store)}
    gram, progress = computed(more, store, existing="extend")
    assert progress.tiles_found == len(old)
    assert {path.name: path.stat().st_mtime_ns for path in tiles(store)} == old
    assert gram.health.n_pairs == 55 * 56 // 2
    from rwk.represent import represent

    scale = represent(GRAPHS, settings())[1]
    np.testing.assert_array_equal(gram.discrepancy(), pairwise_discrepancy(more, scale=scale, **QUICK))
    most, again = computed(random_graphs(60), store, existing="extend"), computed(random_graphs(60), store)
    assert again[1].tiles_done == 0
    np.testing.assert_array_equal(most[0][:55, :55], gram.discrepancy())


def test_a_store_of_another_representation_is_not_extended(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rwk.gram.opening.alike", lambda first, second: False)
    with pytest.raises(GramError, match="represents graphs differently"):
        computed(random_graphs(45), store, existing="extend")


# ---------------------------------------------------------------- refused


def test_what_differs_is_said(store: Path) -> None:
    with pytest.raises(GramError, match=r"was made with hops 2 \(now 1\), entropy 0\.1 \(now 0\.2\)"):
        computed(GRAPHS, store, entropy=0.2, hops=1)
    with pytest.raises(GramError, match="graph number 7 differs"):
        computed(GraphSet.from_graphs([*GRAPHS[:7], *random_graphs(1, seed=9), *GRAPHS[8:]]), store)
    with pytest.raises(GramError, match="39 graphs, the first number 0 differs"):
        computed(GraphSet.from_graphs([*random_graphs(39, seed=9), *GRAPHS[39:]]), store)
    with pytest.raises(GramError, match="in another order"):
        computed(GRAPHS[::-1], store)
    with pytest.raises(GramError, match="holds 40 graphs, of which only the first 30 were given"):
        computed(GRAPHS[:30], store)
    gram, progress = computed(GRAPHS, store, eta=3.0, debias=True, n_jobs=2)  # what changes no stored value
    assert progress.tiles_done == 0
    assert gram[0, 0] == 0


def test_another_solver_version_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rwk.gram.manifest.SOLVER_VERSION", 99)
    with pytest.raises(GramError, match=r"solver version \d+ \(now 99\)"):
        computed(GRAPHS, store)


def test_an_existing_store_is_not_overwritten(store: Path) -> None:
    with pytest.raises(GramError, match="already holds a Gram matrix of 40 graphs"):
        computed(GRAPHS, store, existing="refuse")


def test_a_manifest_of_a_newer_version(store: Path) -> None:
    manifest = store / "manifest-0000.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"format": 7, "rwk": "9.0", "novelty": 1}))
    with pytest.raises(GramError, match=r"written by a newer rwk \(9\.0, store format 7"):
        computed(GRAPHS, store)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', None])
def test_a_damaged_manifest(store: Path, content: str | None) -> None:
    manifest = store / "manifest-0000.json"
    manifest.write_text(manifest.read_text().replace('"cpu"', '"gpu"') if content is None else content)
    with pytest.raises(GramError, match="manifest is damaged"):
        computed(GRAPHS, store)


def test_a_store_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(GramError, match="is not a folder"):
            computed(GRAPHS, place)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_of_other_things(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(GramError, match=r"is not a store, but holds other files \(thesis\.tex"):
        computed(GRAPHS, tmp_path)


@contextmanager
def somebody_else() -> Iterator[None]:
    """File permissions do not apply to root, so root becomes another user for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights work differently here")
def test_a_store_without_permission(store: Path) -> None:
    os.chmod(store.parent, 0o755)
    locked = store.parent / "locked"
    locked.mkdir(mode=0o500)
    for place, mode in ((locked / "new", None), (store, 0o000)):
        if mode is not None:
            os.chmod(place, mode)
        with pytest.raises(GramError, match="can't be read or written by this user"), somebody_else():
            computed(GRAPHS, place)
    os.chmod(store, 0o755)


def test_an_address_nobody_knows() -> None:
    with pytest.raises(GramError, match="can't be opened by fsspec"):
        computed(GRAPHS, "nowhere://bucket/store")


def test_a_missing_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "zarr.storage", None)
    with pytest.raises(GramError, match=r"a store needs zarr.*pip install 'rwk\[distributed\]'"):
        computed(GRAPHS, tmp_path / "store")


def test_a_budget_too_small_for_the_tiles_of_a_store(tmp_path: Path) -> None:
    computed(GRAPHS, tmp_path / "store", memory="1GB")
    with pytest.raises(GramError, match="too small for one tile of this store; it needs"):
        computed(GRAPHS, tmp_path / "store", memory="300kB")
