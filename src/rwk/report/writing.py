"""Writing the report of a run to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwk.report.run_data import ReportError, RunData, read_run

if TYPE_CHECKING:
    from rwk.graphs import GraphSet
    from rwk.report.sections import Aligner


def write_report(run: str | Path, output: str | Path, *, graphs: GraphSet | None = None) -> list[Path]:
    """Write the report of a run, or of a single matrix, as HTML or Markdown.

    Parameters
    ----------
    run : path
        The folder of a run (`rwk classify`, `rwk regress`), or a matrix that `rwk gram` wrote.
    output : path
        File to write. `.html` is one file that contains everything; `.md` has its pictures in a folder beside it.
    graphs : GraphSet, optional
        The graphs of the run. By default they are looked for by the name of the dataset; if they are not found, the
        report has no pictures of alignments.

    Returns
    -------
    list of Path
        The files written, the page first.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import rwk
    >>> from rwk.gram.matrix_file import save_gram
    >>> graphs = rwk.as_graphs([nx.path_graph(n) for n in range(3, 9)])
    >>> folder = Path(tempfile.mkdtemp())
    >>> matrix = save_gram(folder / "K.npz", rwk.pairwise_discrepancy(graphs), rwk.Parameters())
    >>> [path.name for path in write_report(matrix, folder / "report.html", graphs=graphs)]
    ['report.html']
    """
    from rwk import __version__
    from rwk.report.html import html_page
    from rwk.report.markdown import markdown_page
    from rwk.report.sections import run_sections
    from rwk.runtime.files import check_writable

    output = Path(output)
    if output.suffix.lower() not in {".html", ".htm", ".md", ".markdown"}:
        raise ReportError(f"{output}: a report is .html or .md; choose one of these endings")
    check_writable(output)
    data = read_run(run)
    graphs = _graphs_of(data) if graphs is None else graphs
    if graphs is not None and len(graphs) != len(data.kernel):
        raise ReportError(f"the run is of {len(data.kernel)} graphs, but {graphs.name} has {len(graphs)}; give its own")
    graphs = None if graphs is None else _as_seen(data, graphs)
    sections = run_sections(data, graphs, None if graphs is None else _aligner(data, graphs))
    below = "Regularized Wasserstein graph kernel"
    if data.record:
        below += (
            f" · {data.record['dataset']['n_graphs']:,} graphs, {data.record['dataset']['mean_nodes']:.1f} nodes each"
        )
    foot = f"Written by rwk {__version__}. RW is a discrepancy, not a metric; alignments keep the order of the pair."
    if output.suffix.lower().startswith(".htm"):
        page = html_page(f"{data.name}: report of a run", sections, below=below, foot=foot)
        return [_write(output, page.encode())]
    folder = f"{output.stem}_files"
    page, pictures = markdown_page(f"{data.name}: report of a run", sections, folder=folder, below=below, foot=foot)
    written = [_write(output.parent / path, png) for path, png in pictures.items()]
    return [_write(output, page.encode()), *written]


def _graphs_of(data: RunData) -> GraphSet | None:
    from rwk.datasets import load_dataset
    from rwk.graphs import GraphError

    try:
        graphs = load_dataset(data.name, download=False)
    except GraphError:
        return None
    return graphs if len(graphs) == len(data.kernel) else None


def _as_seen(data: RunData, graphs: GraphSet) -> GraphSet:
    """The graphs in the form that the matrix of the run was computed from: the first, if there were several."""
    from rwk.datasets.forms import GraphForms

    forms = data.record.get("forms", [""])
    return GraphForms.learned(graphs).of(graphs).get(forms[0], graphs) if len(forms) > 1 else graphs


def _aligner(data: RunData, graphs: GraphSet) -> Aligner:
    """Alignments with the run's parameters and scales."""
    from rwk.kernel import RWKernel

    return RWKernel(**data.parameters).fit(graphs).align


def _write(path: Path, content: bytes) -> Path:
    from rwk.runtime.files import write_whole

    def write(beside: Path) -> Any:
        return beside.write_bytes(content)

    return write_whole(path, write)
