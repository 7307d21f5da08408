"""From graphs to `GraphMeasures`: everything that the solver knows of each graph.

    pipeline       `represent` and `learn_scale`: call all the files below, in the order in which they are listed
    structures     what is computed graph by graph, for graphs of one size together; it calls:
    spectrum         one eigendecomposition per graph: lambda_max, heat signatures, heat-kernel distances
    spectrum_gpu     the same for many graphs at once on a GPU
    embedding        structure embeddings E: heat signatures, or trained by attention over heat-kernel walks
    embedding_gpu    the attention embedding of many graphs at once on a GPU
    structure        C_P, the pairwise structure of a graph; distances and signs of embedded nodes
    walks          return probabilities of random walks, for the product cost
    features       what a node is like: signals of colours and attributes, their local variation
    packing        the arrays of all graphs side by side, as the solver reads them
    scaling        the typical size of each cost, learned from the fitted graphs
    footprint      the bytes that all of this will take, which `gram` plans with

METHOD, section 2, is implemented here; its readings R1 to R7, R11, R12 and R18 are cited where they are implemented.
"""

from rwk.represent.pipeline import learn_scale, represent

__all__ = ["learn_scale", "represent"]
