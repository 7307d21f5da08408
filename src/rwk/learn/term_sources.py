"""From graphs to the matrices of a sum of kernels: RW discrepancies, fingerprints of molecules, composition."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from rwk.convert import as_graphs
from rwk.convert.fingerprints import columns_of, fingerprint_counts, smiles_of
from rwk.convert.label_coding import in_form_of
from rwk.convert.molecules import molecules
from rwk.graphs import GraphError, GraphSet
from rwk.kernel import RWKernel
from rwk.learn.composition import CompositionTerms
from rwk.learn.count_kernels import tanimoto_kernel
from rwk.learn.exact_gp import Block
from rwk.parameters import Parameters
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.user_warnings import warn_user

FINGERPRINTS: Final = ("morgan", "fragments")  # the terms on counts of substructures


def fingerprint_blocks(first: FloatArray, second: FloatArray, kind: str) -> dict[str, Block]:
    """The Tanimoto kernel on each kind of substructures: a molecule has many times more Morgan counts than groups.

    In one kernel on all counts the functional groups would hardly take part; in two, their weight is learned.

    >>> counts = fingerprint_counts(["CCO", "CCCO"], "both")
    >>> list(fingerprint_blocks(counts, counts, "both"))
    ['morgan', 'fragments']
    """
    return {
        name: Block(tanimoto_kernel(first[:, part], second[:, part]), False) for name, part in columns_of(kind).items()
    }


@dataclass(frozen=True)
class TermOptions:
    """Which terms the sum has."""

    settings: Mapping[str, Parameters]
    fingerprints: str | None = None
    extensive: bool = False
    featurizer: str = "full"

    def read(self, X: Any) -> GraphSet:
        """The graphs; SMILES and RDKit molecules are read with the featurizer, and name their graphs."""
        if not is_molecules(X):
            return as_graphs(X)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*stereochemistry", category=UserWarning)
            try:
                graphs = molecules(X, featurizer=self.featurizer)
            except GraphError as error:  # a regressor can't skip a molecule, whose value it was given or is asked for
                raise GraphError(str(error).removesuffix(", or pass on_error='skip'")) from None
        items = smiles_of(X)
        return replace(graphs, names=tuple(map(str, items))) if isinstance(items[0], str) else graphs


@dataclass(frozen=True, eq=False)
class TermSources:
    """The terms of a sum between graphs to predict and fixed graphs, the training graphs or landmarks among them."""

    options: TermOptions
    graphs: GraphSet
    kernels: Mapping[str, RWKernel]
    counts: FloatArray | None
    composition: CompositionTerms | None
    known: IntArray | None  # node labels of the training graphs

    @classmethod
    def of(cls, options: TermOptions, X: Any, graphs: GraphSet) -> TermSources:
        """Fit every source to graphs; `X` is what they were read from."""
        counts = (
            None if options.fingerprints is None else fingerprint_counts(_molecules_of(X, graphs), options.fingerprints)
        )
        return cls(
            options=options,
            graphs=graphs,
            kernels={name: RWKernel(**setting.asdict()).fit(graphs) for name, setting in options.settings.items()},
            counts=counts,
            composition=CompositionTerms.of(graphs) if options.extensive else None,
            known=None if graphs.node_labels is None else np.unique(graphs.node_labels),
        )

    def training(self, given: Mapping[str, Any] | None = None) -> dict[str, Block]:
        """The square matrices of all terms; discrepancies that are `given` by name are not computed."""
        found = {}
        for name, kernel in self.kernels.items():
            matrix = kernel.discrepancy() if not given or name not in given else np.asarray(given[name][:], np.float64)
            if matrix.shape != (len(self.graphs), len(self.graphs)):
                raise ValueError(
                    f"the matrix given for {name!r} has shape {matrix.shape}, but there are {len(self.graphs)} graphs"
                )
            found[name] = Block(matrix, True)
        if given and (unknown := sorted(set(given) - set(found))):
            raise ValueError(f"there is no setting {unknown[0]!r}; the settings are {', '.join(self.kernels)}")
        return found | self._counted(self.counts, self.graphs)

    def computed(self, store: str | os.PathLike[str] | None, executor: Any) -> dict[str, FloatArray] | None:
        """The square matrices of all settings by `compute_gram`, each in a folder of the store; None without both."""
        if store is None and executor is None:
            return None
        places = {
            name: None if store is None else f"{os.fspath(store)}/{quote(name, safe='')}" for name in self.kernels
        }
        return {
            name: kernel.tiled_discrepancy(self.graphs, store=places[name], executor=executor)
            for name, kernel in self.kernels.items()
        }

    def rows(self, X: Any, graphs: GraphSet) -> dict[str, Block]:
        """Matrices with new graphs in rows and the fixed graphs in columns."""
        found = {name: Block(kernel.discrepancy(graphs), True) for name, kernel in self.kernels.items()}
        return found | self._counted(self._counts_of(X, graphs), graphs)

    def own(self, X: Any, graphs: GraphSet) -> dict[str, Block]:
        """The values of each new graph with itself."""
        found = {
            name: Block(kernel.discrepancy_among(graphs, diagonal=True), True) for name, kernel in self.kernels.items()
        }
        if (kind := self.options.fingerprints) is not None:
            found |= {name: Block(np.ones(len(graphs)), False) for name in columns_of(kind)}
        if self.composition is not None:
            found |= self.composition.own(graphs)
        return found

    def among(self, X: Any, graphs: GraphSet) -> dict[str, Block]:
        """Square matrices of new graphs with each other."""
        found = {name: Block(kernel.discrepancy_among(graphs), True) for name, kernel in self.kernels.items()}
        if (kind := self.options.fingerprints) is not None:
            counts = self._counts_of(X, graphs)
            assert counts is not None
            found |= fingerprint_blocks(counts, counts, kind)
        if self.composition is not None:
            found |= self.composition.blocks(graphs, graphs)
        return found

    def read(self, X: Any) -> GraphSet:
        """New graphs with the label codes of the training graphs; warns about labels that no training graph has."""
        if _is_empty(X):
            raise ValueError("there are no graphs to predict; give at least one")
        graphs = self.options.read(X)
        if not len(graphs):
            raise ValueError("there are no graphs to predict; give at least one")
        graphs = in_form_of(graphs, self.graphs)
        self._warn_unseen(graphs)
        return graphs

    def _warn_unseen(self, graphs: GraphSet) -> None:
        if self.known is None or graphs.node_labels is None:
            return
        unseen = ~np.isin(graphs.node_labels, self.known)
        if unseen.any():
            owners = np.unique(np.repeat(np.arange(len(graphs)), graphs.sizes)[unseen])
            codes = np.unique(graphs.node_labels[unseen])[:5].tolist()
            words = ", ".join(str((graphs.label_names or {}).get(code, code)) for code in codes)
            warn_user(
                f"{len(owners)} of {len(graphs)} graphs have node labels that no training graph has ({words}), the "
                f"first is {graphs.title(int(owners[0]))}; do not trust their predictions"
            )

    def _counts_of(self, X: Any, graphs: GraphSet) -> FloatArray | None:
        kind = self.options.fingerprints
        return None if kind is None else fingerprint_counts(_molecules_of(X, graphs), kind)

    def _counted(self, counts: FloatArray | None, graphs: GraphSet) -> dict[str, Block]:
        found: dict[str, Block] = {}
        if (kind := self.options.fingerprints) is not None and counts is not None and self.counts is not None:
            found |= fingerprint_blocks(counts, self.counts, kind)
        if self.composition is not None:
            found |= self.composition.blocks(graphs, self.graphs)
        return found


def is_molecules(X: Any) -> bool:
    """Whether data is a list, array or column of SMILES or RDKit molecules.

    >>> is_molecules(["CCO", "C"]), is_molecules("MUTAG"), is_molecules([])
    (True, False, False)
    """
    if isinstance(X, GraphSet | str | Mapping) or not hasattr(X, "__len__") or not len(X):
        return False
    return all(isinstance(item, str) or hasattr(item, "GetAtoms") for item in X)


def _molecules_of(X: Any, graphs: GraphSet) -> Any:
    return X if is_molecules(X) else graphs


def _is_empty(X: Any) -> bool:
    return hasattr(X, "__len__") and not isinstance(X, str) and not len(X)
