"""Benchmark sets in TU form: find, fetch, verify, read, cache.

    load       where is it? ──► source    a folder or a zip, opened safely, never extracted
                    │              │
                    │              ▼
    catalogue  names, checksums  tu       one vectorised reader for all sets
                    │              │
                    ▼              ▼
               download          cache    the parsed form as npz, and its content checksum

`statistics` describes a set in one row, `distances` treats sets whose edges carry a length.
"""

from rwk.datasets.distances import bonds_only, distance_graph
from rwk.datasets.load import list_datasets, load_dataset
from rwk.datasets.summary import DatasetStatistics, dataset_statistics

__all__ = [
    "DatasetStatistics",
    "bonds_only",
    "dataset_statistics",
    "distance_graph",
    "list_datasets",
    "load_dataset",
]
