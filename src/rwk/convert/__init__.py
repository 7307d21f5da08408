"""Graphs from anywhere: `as_graphs` recognises what it is given and leaves it to the family that knows.

    build     shared: names of attributes, notes, the last step to a Graph
    attributed  networkx, igraph          adjacency  adjacency matrices, with labels or attributes
    pyg       PyTorch Geometric           grakel     GraKeL's tuples
    molecules RDKit, SMILES               files      GraphML, GML, GEXF
    coding    one code for one label, wherever graphs come from

Libraries are recognised by the name of the package an object comes from, so none is imported to find out.
"""

from rwk.convert.recognise import as_graphs

__all__ = ["as_graphs"]
