"""Tiles, budgets, reading, estimates, and the commands around them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import rwk
from gram_graphs import QUICK, SMALL, random_graphs, write_tu
from rwk.cli.app import app
from rwk.gram.budget import MOST_GRAPHS, Workload, limits_within, parse_memory
from rwk.gram.compute import compute_gram, parse_part
from rwk.gram.errors import GramError
from rwk.gram.estimate import estimate_gram
from rwk.gram.tiles import MOST_COST, TileLimits, Tiling, block_ends, tile_weight
from rwk.graphs import GraphError
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.words import size
from rwk.transport.measures import GraphMeasures, cut, from_bytes, joined, to_bytes
from rwk.transport.work import pair_cost

pytest.importorskip("zarr", reason="zarr is in the extra 'distributed'")
GRAPHS = random_graphs(40)


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return rwk.pairwise_discrepancy(GRAPHS, **QUICK)


# ---------------------------------------------------------------- tiles


def test_tiles_cover_every_pair_once() -> None:
    sizes = [np.array([5, 3, 9, 3, 40, 7]), np.array([2, 8, 2])]
    tiling = Tiling.of(
        sizes,
        [block_ends(s, 1e3 * s, TileLimits(weight=600.0, graphs=3, bytes=1e9)) for s in sizes],
        1e3 * np.concatenate(sizes),
    )
    seen = np.zeros((9, 9), int)
    for tile in tiling:
        rows, columns = tiling.members(tile.row), tiling.members(tile.column)
        block = np.ix_(rows, columns)
        seen[block] += 1
        if tile.row != tile.column:
            seen[np.ix_(columns, rows)] += 1
        n, m = (tiling.sizes[part].astype(float) for part in (rows, columns))
        whole = pair_cost(n[:, None], m[None, :]).sum()
        assert tile.cost == pytest.approx(whole / 2 if tile.row == tile.column else whole)
    assert (seen == 1).all()


def test_tiles_cost_alike_whatever_the_sizes() -> None:
    sizes = np.concatenate([np.full(3000, 10), np.full(300, 80), np.full(20, 900)])
    ends = block_ends(sizes, 1e3 * sizes, TileLimits(weight=tile_weight(sizes), graphs=10**6, bytes=1e18))
    costs = np.array([tile.cost for tile in Tiling.of([sizes], [ends], 1e3 * sizes) if tile.row != tile.column])
    assert costs.max() <= 4 * np.median(costs)
    assert costs.max() <= 3 * MOST_COST


def test_a_part_of_the_measures_equals_the_whole() -> None:
    settings = Parameters.of(QUICK)
    whole, scale = represent(GRAPHS, settings)
    chosen = np.array([7, 3, 30])
    alone, _ = represent(GRAPHS[chosen], settings, scale=scale)
    for measures in (cut(whole, chosen), from_bytes(to_bytes(cut(whole, chosen)))):
        assert measures is not None
        for name in GraphMeasures._fields:
            np.testing.assert_array_equal(getattr(measures, name), getattr(alone, name), err_msg=name)
    together = joined(cut(whole, chosen[:1]), cut(whole, chosen[1:]))
    np.testing.assert_array_equal(together.structure, alone.structure)


def test_damaged_measures_are_noticed() -> None:
    content = bytearray(to_bytes(represent(GRAPHS[:2], Parameters())[0]))
    content[len(content) // 3] ^= 1
    assert from_bytes(bytes(content)) is None
    assert from_bytes(bytes(content[:100])) is None


# ---------------------------------------------------------------- the matrix


def test_tiles_make_the_same_matrix(matrix: np.ndarray) -> None:
    gram = compute_gram(GRAPHS, memory=SMALL, **QUICK)
    assert gram._source.tiling.n_blocks > 3
    np.testing.assert_array_equal(gram.discrepancy(), matrix)


def test_parts_are_read_as_the_whole(matrix: np.ndarray, tmp_path: Path) -> None:
    gram = compute_gram(GRAPHS, memory=SMALL, **QUICK)
    assert gram[3, 7] == matrix[3, 7]
    np.testing.assert_array_equal(gram[5], matrix[5])
    np.testing.assert_array_equal(gram[-3:, [4, 1, 4]], matrix[-3:, [4, 1, 4]])
    np.testing.assert_array_equal(gram[:, matrix[0] > 1], matrix[:, matrix[0] > 1])
    mapped = gram.memmap(tmp_path / "D.npy")
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, matrix)
    assert [path.name for path in tmp_path.iterdir()] == ["D.npy"]
    np.testing.assert_array_equal(gram.kernel(0.5), np.exp(-0.5 * matrix))


def test_debiasing_is_done_on_reading() -> None:
    gram = compute_gram(GRAPHS[:12], memory=SMALL, debias=True, **QUICK)
    wanted = rwk.pairwise_discrepancy(GRAPHS[:12], debias=True, **QUICK)
    np.testing.assert_array_equal(gram.discrepancy(), wanted)
    np.testing.assert_array_equal(gram[2:5, 1:], wanted[2:5, 1:])


def test_health_counts_all_pairs() -> None:
    health = compute_gram(GRAPHS, memory=SMALL, **QUICK).health
    assert health.n_pairs == 40 * 41 // 2
    assert 0 < health.n_not_converged <= health.n_pairs
    assert 1 <= health.mean_iterations <= 2


def test_progress_reaches_the_end() -> None:
    seen = []
    compute_gram(
        GRAPHS, memory=SMALL, report=lambda p: seen.append((p.tiles_done, p.cost_done, p.eta_seconds)), **QUICK
    )
    assert seen[0] == (0, 0.0, None)
    tiles, cost, eta = seen[-1]
    assert tiles == len({tile for tile, _, _ in seen}) - 1 > 3
    assert cost > 0
    assert eta == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_pairs_under_way_are_counted_once(n_jobs: int) -> None:
    """Pairs are reported while tiles run, and no pair is counted twice in the end."""
    seen: list[tuple[int, int]] = []
    graphs = random_graphs(70)
    gram = compute_gram(
        graphs,
        memory="4MB",
        report=lambda p: seen.append((p.pairs_done, p.pairs_under_way)),
        **{**QUICK, "n_jobs": n_jobs, "laplacian_source": 0.3, "laplacian_target": 0.1},
    )
    assert seen[-1] == (gram.health.n_pairs, 0)
    assert all(under_way >= 0 for _, under_way in seen)
    assert max(under_way for _, under_way in seen) > 0


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("text", ["2 apples", "", "-1GB", "0", "GB", "1..5GB"])
def test_an_amount_of_memory_that_is_none(text: str) -> None:
    with pytest.raises(GramError, match="not an amount of memory"):
        parse_memory(text)


def test_amounts_of_memory() -> None:
    assert parse_memory("1.5 gb") == 1_500_000_000
    assert parse_memory("64KiB") == 65536
    assert size(999) == "999 B"


def test_memory_too_small_for_one_tile() -> None:
    with pytest.raises(GramError, match=r"too small for one tile.*need"):
        compute_gram(GRAPHS, memory="10kB", **QUICK)


def test_the_budget_named_in_the_refusal_is_enough() -> None:
    sizes, load = np.array([30, 500]), Workload(tiles=2, threads=2)
    with pytest.raises(GramError) as caught:
        limits_within(1000, sizes, 1e4 * sizes, load)
    named = str(caught.value).split("need ")[1].split(";")[0]
    assert 1 <= limits_within(parse_memory(named), sizes, 1e4 * sizes, load).graphs <= MOST_GRAPHS


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize(("memory", "whole"), [("3MB", False), ("12MB", True)])
def test_memory_stays_within_the_budget(memory: str, whole: bool, n_jobs: int, tmp_path: Path) -> None:
    """Always while solving; before that, the graphs that set the scale (at most 512) are in memory together."""
    graphs = random_graphs(150, low=8, high=20)
    compute_gram(graphs[:4], store=tmp_path / "first", **QUICK)  # imports and compiled code are not the matter here
    tracemalloc.start()
    before: list[int] = []

    def report(progress: object) -> None:
        if not before:
            before.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.reset_peak()

    compute_gram(graphs, store=tmp_path / "store", memory=memory, report=report, **{**QUICK, "n_jobs": n_jobs})
    solving = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solving < parse_memory(memory)
    assert before[0] < parse_memory(memory) or not whole


def test_a_matrix_beyond_the_budget_is_refused(tmp_path: Path) -> None:
    gram = compute_gram(GRAPHS, memory=SMALL, **QUICK)
    gram._budget = 40 * 8
    for read in (gram.discrepancy, gram.kernel, lambda: gram[:2]):
        with pytest.raises(GramError, match="budget is 320 B"):
            read()
    assert gram[0].shape == (40,)
    assert gram.memmap(tmp_path / "D.npy").shape == (40, 40)


# ---------------------------------------------------------------- estimates and commands


def test_an_estimate_counts_what_a_run_does() -> None:
    estimate = estimate_gram(GRAPHS, memory=SMALL, **QUICK)
    gram = compute_gram(GRAPHS, memory=SMALL, **QUICK)
    assert estimate.n_pairs == gram.health.n_pairs
    assert estimate.n_tiles == len(list(gram._source.tiling))
    assert estimate.core_seconds > 0
    assert estimate.sampled_pairs > 100
    assert estimate.seconds == estimate.core_seconds


def test_an_estimate_takes_measures_that_are_at_hand() -> None:
    measures, _ = represent(GRAPHS, Parameters.of(QUICK))
    estimate = estimate_gram(GRAPHS, memory=SMALL, measures=measures, **QUICK)
    assert estimate[:3] == estimate_gram(GRAPHS, memory=SMALL, **QUICK)[:3]
    assert estimate.backend == "cpu"
    assert estimate.memory_bytes > measures.structure.nbytes + estimate.matrix_bytes


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_a_part_that_is_none(part: str) -> None:
    with pytest.raises(GramError, match="not a part of a whole"):
        parse_part(part)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tu(tmp_path_factory.mktemp("data") / "TOY", GRAPHS))


def command(*arguments: str | Path) -> str:
    """What a command prints on stdout; errors are raised."""
    quick = [word for name, value in QUICK.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    done = CliRunner(env={"COLUMNS": "150"}).invoke(app, [*map(str, arguments), *quick])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_gram_command(data: str, tmp_path: Path, matrix: np.ndarray) -> None:
    asked = ("gram", data, "--store", tmp_path / "store", "--memory", SMALL)
    assert "820 pairs" in command(*asked, "-o", tmp_path / "D.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), matrix)
    with pytest.raises(GramError, match="already holds a Gram matrix of 40 graphs; resume it"):
        command(*asked)
    assert "820 pairs" in command(*asked, "--resume")


def test_parts_of_a_job_array_make_the_whole(data: str, tmp_path: Path, matrix: np.ndarray) -> None:
    store = tmp_path / "store"
    asked = ("gram", data, "--store", store, "--resume", "--memory", SMALL)
    texts = [command(*asked, "--part", f"{number}/3") for number in (1, 2, 3)]
    assert "tiles missing" in texts[0]
    assert "tiles missing" not in texts[2]
    gram = compute_gram(GRAPHS, store=store, memory=SMALL, report=only_found, **QUICK)
    np.testing.assert_array_equal(gram.discrepancy(), matrix)


def only_found(progress: object) -> None:
    assert progress.tiles_found == progress.n_tiles  # type: ignore[attr-defined]


def test_gram_command_needs_a_place(data: str) -> None:
    with pytest.raises(GramError, match="nowhere to put"):
        command("gram", data, "--memory", SMALL)
    with pytest.raises(GramError, match="--part needs --store"):
        command("gram", data, "-o", "D.npy", "--part", "1/2")
    with pytest.raises(GramError, match="exclude each other"):
        command("gram", data, "--store", "s", "--dask", "local:1", "--processes", "2")


def test_dry_run_command(data: str) -> None:
    printed = command("gram", data, "--memory", SMALL, "--dry-run")
    for wanted in ("820", "pairs/s", "core-hours", "storage"):
        assert wanted in printed


def test_query_command(data: str) -> None:
    assert "pairs solved" in command("query", data, "7", "-k", "3")
    with pytest.raises(GraphError, match="there is no graph 40"):
        command("query", data, "40", "-k", "3")


def test_interrupt_keeps_tiles_and_says_how_to_go_on(data: str, tmp_path: Path) -> None:
    code = (
        "import signal, sys, time; from rwk.cli import main; from rwk.gram import compute\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # tests in the background inherit deaf ears
        "computing = compute.compute_gram\n"
        "def announced(*args, report, **kw):\n"
        "    def heard(progress):\n"
        "        report(progress); print('tiles', progress.tiles_done, flush=True)\n"
        "        time.sleep(50 * (progress.tiles_done > 0))\n"  # until it is interrupted, however fast tiles are
        "    return computing(*args, report=heard, **kw)\n"
        "compute.compute_gram = announced\n"
        f"sys.argv = ['rwk', 'gram', {data!r}, '--store', {str(tmp_path / 'store')!r}, '--resume',\n"
        "            '--memory', '1MB', '--n-jobs', '1', '--backend', 'cpu']\n"
        "main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("tiles 1"):
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "the same command with --resume goes on" in " ".join(errors.split())
    assert list((tmp_path / "store" / "discrepancy-0").glob("*.*"))
