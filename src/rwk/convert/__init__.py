"""Graphs from anywhere: `as_graphs` recognises what it is given and calls the converter for that form.

    recognise         `as_graphs`: which form is it? Calls one of the converters below, or `datasets.load`
    networkx_igraph   networkx and igraph graphs
    adjacency         adjacency matrices, alone or with labels and attributes
    pyg               PyTorch Geometric's `Data`, batches and datasets
    grakel            GraKeL's tuples
    molecules         RDKit molecules and SMILES: `rwk.molecules`
    atoms             what is read from the atoms and bonds of a molecule; called by `molecules`
    fingerprints      counts of substructures of molecules, and their scaffolds
    graph_paths       what a file, a folder or a path with wildcards contains; calls the readers below
    graph_files       GraphML, GML, GEXF and edge lists; reads them with networkx and calls `networkx_igraph`
    edge_lists        text with one edge per line
    node_link         node-link JSON
    molecule_files    .smi, .sdf and .mol
    table_files       .csv, .tsv and .parquet with a column of SMILES
    file_contents     `Contents`, what the readers return: graphs, targets, names
    exports           the other way: networkx, a TU folder, GraphML files, parquet
    build             what the converters share: names of attributes, warnings, the last step to a `Graph`
    label_coding      gives new graphs the label codes of fitted graphs; called by the kernel and `explore`

A library is recognised by the name of the package that an object comes from, so none is imported to find out.
"""

from rwk.convert.recognise import as_graphs

__all__ = ["as_graphs"]
