"""The GPU backend: chunks of pairs of similar size, each solved by one launch of the fused kernel or as one batch.

    devices.py           several GPUs: pairs dealt to them by cost, one thread for each; the stores that are kept
    device_measures.py   the data of the graphs on the device, in one stack per size class
    plan.py              which pairs are solved together, in chunks that fit on the device
    fused_run.py         up to 128 nodes: solves chunks with a kernel per step, matrices in registers (Triton)
      direction.py         steps 2 to 4: start and Sinkhorn direction, on plain numbers or on logarithms
      step.py              steps 5 to 9: gap, products, line search, step and value
      fused_costs.py       step 1 (costs): M of every pair of a chunk, tile by tile
      fused_math.py        arithmetic for the kernels
    streamed_run.py      up to 1,024 nodes: solves batches with the kernels of streamed.py and torch's products
      streamed.py          all other steps; a program reads the matrices of its pair tile by tile (Triton)
    batched.py           the numbered steps for B pairs at once (torch): still larger, single pairs, or no Triton
      batched_costs.py     step 1 (costs)
      batched_pairs.py     step 1 (all else that stays the same), and the map Q
      batched_sinkhorn.py  step 4 (direction)
      partial_batch.py     a mass below 1: its step 4, and what its Q adds

    run_pairs ──► devices ──► plan ──► up to 128 nodes: fused_run ──► fused_costs, direction, step
                                ├────► up to 1,024:     streamed_run ──► fused_costs, streamed
                                └────► larger:          batched
    run_pair ────────────────────────► one pair:        batched, in double precision

`rwk.runtime.device` chooses the device and says how much memory a chunk may take.

`run_pairs` solves in single precision, `run_pair` in double. `run_pairs_fast` is for the FGW baseline: single precision
is enough there, and the costs of features may be squared distances. `run_pairs` solves a pair again in double precision
if single precision is not accurate enough for it, which is so in four cases:

    - g / lam spreads so far that the kernel of step 4 gives up, even on logarithms;
    - a gap came so near the tolerance that rounding decides whether the pair stops;
    - the value is a small difference of large terms, for example for a graph paired with itself;
    - the node weights of a graph differ widely.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.device import is_out_of_memory, kernels_usable, no_room, open_device, open_devices
from rwk.runtime.threads import Ticker
from rwk.transport.gpu.batched import BatchResults, solve_batch, solve_places
from rwk.transport.gpu.batched_costs import linear_cost
from rwk.transport.gpu.batched_pairs import load_batch
from rwk.transport.gpu.device_measures import Store, make_store
from rwk.transport.gpu.devices import dealt, drop_other_stores, run_on_workers, store_of
from rwk.transport.gpu.plan import LARGEST_BATCH, Group, Job, batched_pair_bytes, fused_shape, group_pairs, run_chunks
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import CostWeights, PairResults, PairSolution, ScgOptions, make_solution

WIDEST: Final = 1024  # nodes; of larger graphs there are few pairs, too few for one program each to fill the device
SMALL_REMAINDER: Final = 0.3  # of the Gromov-Wasserstein term's constant part
SMALL_SHARE: Final = 0.1  # of the largest product cost, which is computed as 1 minus a number near 1
UNEVEN_WEIGHTS: Final = 1e3  # largest node weight of a graph divided by its smallest


def run_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """Solve pairs, each as (source, target), on all devices. `n_jobs` has no effect here: one thread drives each."""
    if not len(pairs):
        open_device()
        return PairResults.empty(0)
    devices, heard = open_devices(), tick or (lambda done: None)
    shares = dealt(measures.sizes, pairs, len(devices))

    def solve(worker: int, device: Any, share: NDArray[np.int64], told: Ticker) -> PairResults:
        mine = pairs if len(share) == len(pairs) else pairs[share]
        return _solve_on(device, worker, measures, mine, weights, options, told)

    drop_other_stores(measures)
    with _on_device():
        if len(shares) == 1:
            return solve(0, devices[0], shares[0], heard)
        return run_on_workers(solve, devices, shares, heard)


def _solve_on(
    device: Any,
    worker: int,
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    heard: Ticker,
) -> PairResults:
    """Solve pairs on one device; `worker` numbers the stores that are kept."""
    results = PairResults.empty(len(pairs))
    if weights.mass < 1.0:  # the partial problem has a batched body alone, in double precision
        _run_job(Job(_doubles(measures, pairs, device), pairs, weights, options, results, heard), fused=False)
        return results
    job = Job(store_of(measures, device, worker), pairs, weights, options, results, heard)
    given_up = _run_job(job, fused=kernels_usable(device))
    again = np.union1d(given_up, _spoilt(measures, job))
    if len(again):
        _solve_in_double(measures, again, job)
    return results


def run_pairs_fast(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    squared: bool = False,
) -> PairResults:
    """Like `run_pairs`, in double precision only where single precision finds no direction.

    With `squared`, C_V takes squared distances of feature vectors.
    """
    device = open_device()
    results = PairResults.empty(len(pairs))
    if not len(pairs):
        return results
    with _on_device():
        store = store_of(measures, device)._replace(squared=squared)
        job = Job(store, pairs, weights, options, results, lambda done: None)
        given_up = _run_job(job, fused=kernels_usable(device))
        if len(given_up):
            _solve_in_double(measures, given_up, job)
    return results


def run_pair(
    measures: GraphMeasures, a: int, b: int, weights: CostWeights, options: ScgOptions, *, trace: bool = False
) -> PairSolution:
    """Solve one pair in double precision; the solution includes the coupling."""
    import torch

    device = open_device()
    with _on_device():
        store = make_store(measures, np.unique([a, b]), device, torch.float64)
        group = group_pairs(store, np.array([[a, b]]))[0]
        places = [torch.tensor([store.places[graph]], device=device) for graph in (a, b)]
        solved = solve_places(store, group.source, group.target, places[0], places[1], weights, options, trace=trace)
    n, m = measures.sizes[a], measures.sizes[b]
    history = np.array([[float(value[0]) for value in row] for row in solved.history]) if trace else None
    return make_solution(
        solved.gamma[0, :n, :m].cpu().numpy(),
        solved.terms[0].cpu().numpy(),
        n_iter=int(solved.n_iter[0]),
        gap=float(solved.gaps[0]),
        converged=bool(solved.converged[0]),
        history=history,
    )


def run_starts(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    starts: NDArray[np.float64],
    *,
    n_jobs: int | None = None,
) -> list[PairSolution]:
    """Solve one pair from many couplings (S, n, m), all at once in double precision."""
    import torch

    device, (count, n, m) = open_device(), starts.shape
    with _on_device():
        store = make_store(measures, np.unique([a, b]), device, torch.float64)
        group = group_pairs(store, np.array([[a, b]]))[0]
        places = [torch.full((count,), int(store.places[graph]), device=device) for graph in (a, b)]
        padded = torch.zeros((count, group.source.width, group.target.width), dtype=torch.float64, device=device)
        padded[:, :n, :m] = torch.from_numpy(starts).to(device)
        solved = solve_places(store, group.source, group.target, places[0], places[1], weights, options, start=padded)
        gamma, terms = solved.gamma[:, :n, :m].cpu().numpy(), solved.terms.cpu().numpy()
        health = [part.cpu().numpy() for part in (solved.n_iter, solved.gaps, solved.converged)]
    return [
        make_solution(gamma[s], terms[s], n_iter=health[0][s], gap=health[1][s], converged=health[2][s])
        for s in range(count)
    ]


def _run_job(job: Job, *, fused: bool) -> NDArray[np.int64]:
    """Solve the pairs of a job; returns the indices of those that need double precision."""
    given_up = [np.zeros(0, np.int64)]
    for group in group_pairs(job.store, job.pairs):
        shape = fused_shape(group.source, group.target) if fused else None
        if shape is None:
            given_up.append(_run_batched(job, group, fused=fused))
        else:
            from rwk.transport.gpu.fused_run import run_fused

            given_up.append(run_fused(job, group, shape))
    return np.concatenate(given_up)


def _run_batched(job: Job, group: Group, *, fused: bool) -> NDArray[np.int64]:
    """Solve a group with the batched body; returns the indices of the pairs that need double precision."""
    store, source, target = job.store, group.source, group.target
    unsure = [np.zeros(0, np.int64)]

    def solve(members: NDArray[np.int64]) -> None:
        a, b = job.places(members)
        if fused:
            from rwk.transport.gpu.fused_run import linear_cost_on_chip
            from rwk.transport.gpu.streamed_run import solve_streamed

            cost = linear_cost_on_chip(job, source, target, a, b)
        else:
            cost = linear_cost(store, source, target, a, b, job.weights)[0]
        if fused and max(source.width, target.width) <= WIDEST:
            solved = solve_streamed(cost, source, target, a, b, job.weights, job.options)
        else:
            batch = load_batch(store, source, target, a, b, job.weights, (cost, None))
            solved = solve_batch(batch, job.weights, job.options)
        job.results.put(members, _as_results(solved))
        unsure.append(members[solved.unsure.cpu().numpy()])
        job.report(len(members))

    pair_bytes = batched_pair_bytes(source, target, store.real.itemsize, costs_on_chip=fused)
    run_chunks(solve, group.members, pair_bytes, store.device, largest=LARGEST_BATCH)
    return np.concatenate(unsure)


def _as_results(solved: BatchResults) -> PairResults:
    parts = solved.values, solved.n_iter, solved.gaps, solved.converged
    return PairResults(*(part.cpu().numpy() for part in parts))


def _spoilt(measures: GraphMeasures, job: Job) -> NDArray[np.int64]:
    """Indices of solved pairs for which single precision is not accurate enough.

    A value may be a small difference of large terms. Also, L contains 1 / weights, so its entries differ widely in size
    if the node weights of a graph do.
    """
    first, second = job.pairs.T
    # each graph's part of the value below which a pair is solved again
    small = SMALL_REMAINDER * job.weights.beta_global * job.store.moments + 0.5 * SMALL_SHARE * job.store.product_cost
    spoilt = np.abs(job.results.values) < small[first] + small[second]
    starts = measures.offsets[:-1]
    largest, least = (extreme.reduceat(measures.weights, starts) for extreme in (np.maximum, np.minimum))
    uneven = largest > UNEVEN_WEIGHTS * least
    if uneven.any():
        spoilt |= uneven[first] | uneven[second]
    return np.flatnonzero(spoilt)


def _solve_in_double(measures: GraphMeasures, members: NDArray[np.int64], job: Job) -> None:
    """Solve some pairs of a job again, in double precision."""
    pairs = job.pairs[members]
    store = _doubles(measures, pairs, job.store.device)._replace(squared=job.store.squared)
    again = Job(store, pairs, job.weights, job.options, PairResults.empty(len(pairs)), lambda done: None)
    _run_job(again, fused=False)
    job.results.put(members, again.results)


def _doubles(measures: GraphMeasures, pairs: NDArray[np.int64], device: Any) -> Store:
    """The graphs of some pairs on the device, in double precision."""
    import torch

    return make_store(measures, np.unique(pairs), device, torch.float64)


@contextmanager
def _on_device() -> Iterator[None]:
    """Turn off tf32 inside the block, whatever the process chose, and report full device memory in one sentence."""
    import torch

    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise no_room("these graphs are") from None
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
