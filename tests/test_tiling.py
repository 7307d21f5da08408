"""Tiles, budgets and estimates of a Gram matrix are what their definitions say, counted again one pair at a time."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from gram_graphs import QUICK, random_graphs
from rwk import Graph, GraphSet, compute_gram, estimate_gram
from rwk.gram import estimate as estimating
from rwk.gram.budget import (
    BYTES_PER_PAIR,
    COPIES_OF_MEASURES,
    MATRICES_OF_A_PAIR,
    MOST_GRAPHS,
    Workload,
    check_fits,
    largest_tile_bytes,
    limits_within,
    parse_memory,
    tiles_at_once,
)
from rwk.gram.errors import GramError
from rwk.gram.executors import TileJob, solve_tile
from rwk.gram.matrix import PAIRS_PER_BLOCK
from rwk.gram.opening import Request, in_memory
from rwk.gram.tiles import (
    LEAST_COST,
    MOST_COST,
    TILES_WANTED,
    TileLimits,
    Tiling,
    block_ends,
    tile_weight,
)
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.represent.footprint import measure_bytes
from rwk.transport.work import pair_cost, root_costs

RNG = np.random.default_rng(0)
SIZES = [RNG.integers(2, 40, n) for n in (1, 2, 9, 30)]


def bytes_of(sizes: Any) -> Any:
    """Bytes of measures of graphs of these sizes: any that grow with the size."""
    return 8.0 * (sizes**2 + 160.0 * sizes + 64.0)


LIMITS = [
    TileLimits(1e300, 4, 1e300),
    TileLimits(1e300, 10**9, 2.5e5),
    TileLimits(2000.0, 10**9, 1e300),
    TileLimits(3000.0, 5, 2e5),
    TileLimits(1.0, 1, 1.0),
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=len)
def test_blocks_are_as_large_as_the_limits_allow(sizes: Any, limits: TileLimits) -> None:
    ordered, ends = np.sort(sizes), block_ends(sizes, bytes_of(sizes), limits)
    assert ends[-1] == len(sizes)

    def fits(block: Any) -> bool:
        return bool(
            root_costs(block).sum() <= limits.weight
            and bytes_of(block).sum() <= limits.bytes
            and len(block) <= limits.graphs
        )

    for start, end in pairwise([0, *ends]):
        assert end == start + 1 or fits(ordered[start:end])
        assert end == len(sizes) or not fits(ordered[start : end + 1])


def tiling() -> Tiling:
    return Tiling.of(
        SIZES[1:],
        [block_ends(sizes, bytes_of(sizes), limits) for sizes, limits in zip(SIZES[1:], LIMITS[1:], strict=False)],
        bytes_of(np.concatenate(SIZES[1:])),
    )


def test_tiles_of_all_segments_are_counted_pair_by_pair() -> None:
    made, sizes = tiling(), np.concatenate(SIZES[1:])
    assert made.n_blocks == len(made.bounds) - 1 > 6
    firsts = np.cumsum([0, *(len(part) for part in SIZES[1:])])
    for block in range(made.n_blocks):
        members, segment = made.members(block), made.segment_of(block)
        assert ((members >= firsts[segment]) & (members < firsts[segment + 1])).all()
        assert (np.diff(sizes[members]) >= 0).all()
    for segment in range(3):
        mine = [len(made.members(b)) for b in range(made.n_blocks) if made.segment_of(b) == segment]
        assert made.largest_block(segment) == max(mine)
    seen: list[tuple[int, int]] = []
    for tile in made:
        rows, columns = made.members(tile.row), made.members(tile.column)
        assert (tile.n_rows, tile.n_columns) == (len(rows), len(columns))
        costs = pair_cost(sizes[rows].astype(float)[:, None], sizes[columns].astype(float)[None, :])
        assert tile.cost == pytest.approx(float(costs.sum()) * (0.5 if tile.row == tile.column else 1.0))
        pairs = {(min(a, b), max(a, b)) for a in rows.tolist() for b in columns.tolist()}
        assert tile.n_pairs == len(pairs)
        seen += pairs
    assert sorted(seen) == [(a, b) for a in range(len(sizes)) for b in range(a, len(sizes))]


def test_a_middling_set_makes_as_many_tiles_as_wanted() -> None:
    sizes = np.full(3000, 30)
    total = float(root_costs(sizes).sum())
    assert LEAST_COST < 0.5 * total**2 / TILES_WANTED < MOST_COST
    assert 0.5 * (total / tile_weight(sizes)) ** 2 == pytest.approx(TILES_WANTED)
    assert tile_weight(np.array([3])) ** 2 == pytest.approx(LEAST_COST)
    assert tile_weight(np.full(10**6, 30)) ** 2 == pytest.approx(MOST_COST)


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize(
    ("unit", "bytes_"),
    [
        *[("", 1), ("b", 1), ("k", 10**3), ("kB", 10**3), ("M", 10**6), ("GB", 10**9), ("t", 10**12), ("TB", 10**12)],
        *[("kib", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40), ("ki", 2**10)],
    ],
)
def test_units_of_memory(unit: str, bytes_: int) -> None:
    assert parse_memory(f"3{unit}") == 3 * bytes_
    assert parse_memory(f" 2.5 {unit} ") == int(2.5 * bytes_)


def tile_bytes(sizes: Any, rows: Any, columns: Any) -> float:
    """Pairs of one tile, and three copies of the measures of its two blocks."""
    measures = float(bytes_of(sizes[rows]).sum() + bytes_of(sizes[columns]).sum())
    return BYTES_PER_PAIR * len(rows) * len(columns) + COPIES_OF_MEASURES * measures


def solving_bytes(sizes: Any, threads: int) -> float:
    return 8.0 * MATRICES_OF_A_PAIR * threads * float(sizes.max()) ** 2


def test_the_largest_tile_is_the_largest_of_all() -> None:
    made, sizes = tiling(), np.concatenate(SIZES[1:])
    wanted = max(tile_bytes(sizes, made.members(t.row), made.members(t.column)) for t in made)
    assert largest_tile_bytes(made) == pytest.approx(wanted)
    for tiles, threads in ((1, 1), (3, 1), (2, 4)):
        needed = int(tiles * wanted + solving_bytes(sizes, threads)) + 1
        check_fits(made, needed, Workload(tiles, threads))
        with pytest.raises(GramError, match="too small for one tile"):
            check_fits(made, needed - 2, Workload(tiles, threads))
    free = 5 * wanted + 10
    assert tiles_at_once(made, int(free + solving_bytes(sizes, 8)), threads=8) == 5
    assert tiles_at_once(made, int(free + solving_bytes(sizes, 4)), threads=4) == 4
    assert tiles_at_once(made, 10, threads=4) == 1


@pytest.mark.parametrize("load", [Workload(1, 1), Workload(4, 2), Workload(3, 8)])
@pytest.mark.parametrize("budget", [3 * 10**6, 10**7, 10**9])
def test_all_tiles_at_work_stay_within_the_budget(budget: int, load: Workload) -> None:
    sizes = SIZES[-1]
    limits = limits_within(budget, sizes, bytes_of(sizes), load)
    share = (budget - solving_bytes(sizes, load.threads)) / load.tiles
    assert limits.graphs == min(MOST_GRAPHS, max(1, int(np.sqrt(0.5 * share / BYTES_PER_PAIR))))
    assert 2 * COPIES_OF_MEASURES * limits.bytes == pytest.approx(0.5 * share)
    assert limits.weight == tile_weight(sizes)
    check_fits(Tiling.of([sizes], [block_ends(sizes, bytes_of(sizes), limits)], bytes_of(sizes)), budget, load)


def test_the_least_budget_is_one_pair_of_the_largest_graphs() -> None:
    sizes, load = np.array([3, 20]), Workload(2, 3)
    least = BYTES_PER_PAIR + 2 * COPIES_OF_MEASURES * float(bytes_of(np.array([20]))[0])
    enough = int(np.ceil(2 * least + solving_bytes(sizes, 3)))
    assert limits_within(enough, sizes, bytes_of(sizes), load).graphs >= 1
    with pytest.raises(GramError, match="graphs of 20 nodes on 3 threads need"):
        limits_within(enough - 2, sizes, bytes_of(sizes), load)


def dense_labelled(n: int, share: float, kinds: int) -> GraphSet:
    """Random graphs of n nodes with this share of all edges, and labels of so many kinds (0: none)."""
    rng, made = np.random.default_rng(n), []
    for _ in range(3):
        edges = np.argwhere(np.triu(rng.random((n, n)) < share, 1)).astype(np.int64)
        labels = rng.integers(0, kinds, n) if kinds else None
        made.append(Graph(n, edges, node_labels=labels, node_attributes=rng.normal(size=(n, 2))))
    return GraphSet.from_graphs(made)


@pytest.mark.parametrize(
    "keywords",
    [
        *[{}, {"hops": 0}, {"hops": 1}, {"wl_rounds": 0}, {"feature_metric": "hamming"}, {"feature_metric": "both"}],
        *[{"feature_metric": "product", "attribute_rounds": 2}, {"laplacian_source": 0.1}, {"beta_local": 0.0}],
        {"embedding": "attention", "embedding_dim": 2},
    ],
    ids=str,
)
def test_stated_bytes_of_measures_are_enough_and_not_many_more(keywords: dict[str, Any]) -> None:
    """Also of dense graphs with many labels, whose sparse features take most."""
    settings = Parameters.of({**QUICK, **keywords})
    for n, share, kinds in product((1, 5, 60), (0.05, 0.9), (0, 3, 40)):
        graphs = dense_labelled(n, share, kinds)
        measures, _ = represent(graphs, settings)
        taken = sum(np.asarray(part).nbytes for part in measures)
        assert 1.0 <= float(measure_bytes(graphs, settings).sum()) / taken < 1.5


@pytest.mark.parametrize(("budget", "blocks"), [(7 * 10**6, 3), (30 * 10**6, 1)])
def test_tiles_of_dense_labelled_graphs_stay_within_the_budget(budget: int, blocks: int) -> None:
    request = Request(dense_labelled(60, 0.9, 40), Parameters.of(QUICK), "cpu", budget, Workload(1, 1))
    made = in_memory(request, "cpu")
    held = [sum(np.asarray(part).nbytes for part in made.block(b)) for b in range(made.tiling.n_blocks)]
    assert len(held) == blocks
    assert 2 * COPIES_OF_MEASURES * max(held) <= largest_tile_bytes(made.tiling) <= budget


# ---------------------------------------------------------------- estimates


def test_an_estimate_counts_pairs_tiles_and_bytes() -> None:
    graphs = random_graphs(25)
    found = estimate_gram(graphs, memory="700kB", **QUICK)
    seen: list[Any] = []
    compute_gram(graphs, memory="700kB", report=seen.append, **QUICK)
    assert (found.n_graphs, found.n_pairs) == (25, 25 * 26 // 2)
    assert found.n_tiles == seen[-1].tiles_done > 1
    assert found.matrix_bytes == 8 * 25**2
    measures = float(measure_bytes(graphs, Parameters.of(QUICK)).sum())
    assert found.store_bytes == 8 * found.n_pairs + int(measures)
    each = estimating.BYTES_PER_PAIR_BEING_SOLVED
    assert found.memory_bytes == pytest.approx(measures + 8 * 25**2 + each * min(325, PAIRS_PER_BLOCK["cpu"]))
    assert found.seconds == pytest.approx(found.core_seconds / found.n_workers)
    assert found.pairs_per_core_second == pytest.approx(found.n_pairs / found.core_seconds)


@pytest.mark.parametrize("rate", [1e-9, 1e-5])
def test_if_time_follows_the_cost_model_the_estimate_is_exact(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rate of 1e-5 the time for measuring is over after one stratum, and the others follow from the model."""
    graphs = random_graphs(60, low=3, high=60)
    sizes = graphs.sizes.astype(float)
    timed: list[int] = []

    def pretend(self: Any, measures: Any, pairs: Any) -> tuple[float, int]:
        timed.append(len(pairs))
        n = measures.sizes.astype(float)
        return rate * float(pair_cost(n[pairs[:, 0]], n[pairs[:, 1]]).sum()), len(pairs)

    monkeypatch.setattr(estimating._Stopwatch, "timed", pretend)
    found = estimate_gram(graphs, **QUICK)
    mean = float(pair_cost(sizes[:, None], sizes[None, :]).mean())
    assert found.core_seconds == pytest.approx(found.n_pairs * mean * rate, rel=0.05)
    assert found.sampled_pairs == sum(timed)
    assert len(timed) == (estimating.STRATA if rate < 1e-6 else 1)


@pytest.mark.parametrize(
    ("seconds", "most", "rounds"), [(1.0, 10**9, 1), (0.0, 10**9, None), (0.0, 4, 1), (0.0, 17, 3)]
)
def test_short_measurements_are_repeated_with_four_times_the_pairs(
    seconds: float, most: int, rounds: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def solve(self: Any, measures: Any, pairs: Any) -> float:
        calls.append(len(pairs))
        return 0.1 if len(pairs) >= 4**4 else seconds  # a tenth of a second is long enough

    monkeypatch.setattr(estimating._Stopwatch, "_solve", solve)
    stopwatch = estimating._Stopwatch(None, 1, most)  # type: ignore[arg-type]
    _, n_timed = stopwatch.timed(None, np.zeros((4, 2), np.int64))  # type: ignore[arg-type]
    expected = [4 * 4**i for i in range(rounds or 4)]
    assert calls == expected
    assert n_timed == expected[-1]


def test_compiling_a_solver_is_not_taken_for_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small and large pairs have solvers of their own, and each compiles when it is first used."""
    compiled: set[bool] = set()

    def solve(self: Any, measures: Any, pairs: Any) -> float:
        kinds = {bool(large) for large in (measures.sizes[pairs] > 40).any(axis=1)}
        new = kinds - compiled
        compiled.update(kinds)
        return 1000.0 * len(new) + 1e-3 * len(pairs)

    monkeypatch.setattr(estimating._Stopwatch, "_solve", solve)
    found = estimate_gram(random_graphs(60, low=3, high=60), **QUICK)
    assert compiled == {True, False}
    assert found.core_seconds == pytest.approx(1e-3 * found.n_pairs)


def test_the_rates_of_threads_are_averaged_harmonically(monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([1.0, 3.0])
    monkeypatch.setattr(estimating._Stopwatch, "_solve", lambda *_: next(given))
    stopwatch = estimating._Stopwatch(None, 2, 10)  # type: ignore[arg-type]
    seconds, _ = stopwatch.timed(None, np.zeros((4, 2), np.int64))  # type: ignore[arg-type]
    assert seconds == pytest.approx(1.5)


def test_a_tile_reports_its_own_time() -> None:
    measures, _ = represent(random_graphs(5), Parameters.of(QUICK))
    job = TileJob.of(Parameters.of(QUICK), "cpu")
    for columns in (None, measures):
        solved = solve_tile(job, measures, columns)
        assert 0 < solved.seconds < 60
        assert solved.n_iter >= 15
