"""`rwk reproduce regression` on a computer without RDKit, several splits at a time.

    python benchmarks/regression_packed.py pack packed                  where RDKit is: one file per set
    python benchmarks/regression_packed.py run packed --folder results --jobs 6 --backend gpu --seconds 380

A packed file holds the graphs, values, fingerprints and scaffolds of a set, without pickle. `run` computes matrices one
after the other, lets processes learn from those that are finished, and stops when the time is over; what is missing
is run by the next call. Records are those of `rwk reproduce regression`.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from functools import cache, cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from rwk.convert.fingerprints import COLUMNS
from rwk.experiment.regression import MOLECULE_SETS, RegressionOptions, known_method, missing_splits, run_split
from rwk.experiment.regression_methods import NETWORK, MoleculeData
from rwk.graphs import GraphSet
from rwk.runtime.arrays import FloatArray

METHODS = "RW,RW+FP,FP,FP+composition"


@dataclass
class PackedMolecules(MoleculeData):
    """A set of molecules from a packed file; `data` is the folder of these files."""

    @cached_property
    def graphs(self) -> GraphSet:
        found = self._arrays
        known = {f.name: found[f"graphs_{f.name}"] for f in fields(GraphSet) if f"graphs_{f.name}" in found}
        return GraphSet(**known, name=self.name)

    @cached_property
    def scaffolds(self) -> list[str]:
        return [str(number) for number in self._arrays["scaffolds"]]

    def counts(self, kind: str) -> FloatArray:
        both = self._arrays["counts"].astype(np.float64)
        return {"both": both, "morgan": both[:, :COLUMNS], "fragments": both[:, COLUMNS:]}[kind]

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        assert self.data is not None
        with np.load(self.data / f"{self.name}.npz", allow_pickle=False) as found:
            return dict(found)


def pack(folder: Path, sets: list[str], source: Path | None) -> None:
    """Write one file per set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sets:
        data = MoleculeData(name, source)
        graphs = data.graphs
        arrays = {f"graphs_{f.name}": getattr(graphs, f.name) for f in fields(graphs)}
        arrays = {key: value for key, value in arrays.items() if isinstance(value, np.ndarray)}
        numbers = np.unique(data.scaffolds, return_inverse=True)[1]
        counts = data.counts("both").astype(np.uint16)
        np.savez_compressed(folder / f"{name}.npz", scaffolds=numbers, counts=counts, **arrays)
        print(name, len(graphs), f"{(folder / f'{name}.npz').stat().st_size / 1e6:.2f} MB", flush=True)


@cache
def data_of(name: str, folder: Path, matrices: Path) -> PackedMolecules:
    """The set in this process."""
    return PackedMolecules(name, folder, matrices, "cpu", 1)


def one_split(name: str, method: str, key: tuple[str, int], options: RegressionOptions) -> str:
    """Run one split; matrices are in their folder already."""
    assert options.data is not None
    assert options.matrices is not None
    began = time.perf_counter()
    run_split(data_of(name, options.data, options.matrices), method, key, options)
    return f"{name} {method} {key[0]} {key[1]}: {time.perf_counter() - began:.1f} s"


def run(arguments: argparse.Namespace, end: float) -> None:
    """Everything that is missing, until the time is over."""
    options = RegressionOptions(arguments.folder, arguments.matrices, arguments.packed, backend="cpu", n_jobs=1)
    methods = [known_method(name) for name in arguments.methods.split(",")]
    pool = ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn"))
    futures: list[Future[str]] = []
    for name in arguments.sets.split(","):
        data = PackedMolecules(name, arguments.packed, arguments.matrices, arguments.backend, None)
        for method in methods:
            keys = missing_splits(name, method, options)
            if keys and method != NETWORK and time.time() < end:
                began = time.time()
                data.inputs(method)  # computes the matrices, and keeps them
                print(f"{name} {method}: matrices {time.time() - began:.1f} s", flush=True)
            for key in keys:
                futures.append(pool.submit(one_split, name, method, key, options))
                futures[-1].add_done_callback(told)
    wait(futures, timeout=max(end - time.time(), 0.0))
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


def told(future: Future[str]) -> None:
    """Print what a process did, or why it could not."""
    if not future.cancelled() and not isinstance(future.exception(), BrokenProcessPool):  # stopped when time is over
        print(future.result() if future.exception() is None else repr(future.exception()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pack", "run"))
    parser.add_argument("packed", type=Path, help="folder of the packed files")
    parser.add_argument("--sets", default=",".join(MOLECULE_SETS))
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--data", type=Path, default=None, help="folder of the tables, for pack")
    parser.add_argument("--folder", type=Path, default=Path("results"))
    parser.add_argument("--matrices", type=Path, default=Path("matrices"))
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600.0)
    arguments = parser.parse_args()
    end = time.time() + arguments.seconds
    if arguments.what == "pack":
        pack(arguments.packed, arguments.sets.split(","), arguments.data)
    else:
        run(arguments, end)


if __name__ == "__main__":
    main()
