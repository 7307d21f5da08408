"""Files and folders: each format is read from a small example, and each mistake is one sentence."""

from __future__ import annotations

import csv
import json
import logging
import pickle
import re
import sys
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from rwk import GraphError, GraphSet, as_graphs, load_dataset, pairwise_discrepancy, to_networkx, to_tu
from rwk.convert.exports import write_graphml


def atoms(graphs: GraphSet) -> list[str]:
    assert graphs.label_names is not None
    assert graphs.node_labels is not None
    return [graphs.label_names[code] for code in graphs.node_labels.tolist()]


def targets(graphs: GraphSet) -> list[object]:
    assert graphs.targets is not None
    return list(graphs.targets.tolist())


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# molecules


def test_smi(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = put(
        tmp_path / "drugs.smi", "smiles name\n# a comment\nCCO ethanol\nc1ccccc1\tbenzene ring\n\nCC(=O)[O-] acetate\n"
    )
    for given in (path, str(path)):
        graphs = as_graphs(given)
        assert graphs.sizes.tolist() == [3, 6, 4]
        assert graphs.name == "drugs"
    assert as_graphs([path, "CC", path]).sizes.tolist() == [3, 6, 4, 2, 3, 6, 4]
    put(path, "CCO\nC1CC bad\n\nCC(\n")
    with pytest.raises(GraphError, match=re.escape("2 of 3 SMILES do not parse: line 2 ('C1CC'), line 4 ('CC(')")):
        as_graphs(path)


def test_sdf(tmp_path: Path) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    path = tmp_path / "two.sdf"
    with chem.SDWriter(str(path)) as writer:
        for text, name, value in (("CCO", "ethanol", 0.5), ("C[NH3+]", "cation", 2)):
            molecule = chem.AddHs(chem.MolFromSmiles(text))
            molecule.SetProp("_Name", name)
            molecule.SetProp("logS", str(value))
            writer.write(molecule)
    graphs = as_graphs(path, target="logS")
    assert atoms(graphs) == ["C", "C", "O", "C", "N+"]
    assert targets(graphs) == [0.5, 2.0]
    with pytest.raises(GraphError, match="molecule 0 has no property 'pIC50'; its properties are: 'logS'"):
        as_graphs(path, target="pIC50")
    put(path, "ethanol\n\n\n  1  0\nnonsense\nM  END\n$$$$\n")
    with pytest.raises(GraphError, match="molecule 0 of 1"):
        as_graphs(path)


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_tables(ending: str, mark: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("rdkit")
    rows = [["id", "SMILES", "y", "other"], ["1", "CCO", "0.5", "a"], ["2", "c1ccccc1", "1.5", "b"]]
    path = put(tmp_path / f"table.{ending}", "\n".join(mark.join(row) for row in rows) + "\n")
    with caplog.at_level(logging.INFO, "rwk"):
        graphs = as_graphs(path)
    assert "column 'SMILES' is read as SMILES, 'y' as target" in caplog.text
    assert graphs.sizes.tolist() == [3, 6]
    assert targets(graphs) == [0.5, 1.5]
    assert targets(as_graphs(path, target="other")) == ["a", "b"]
    assert targets(as_graphs(path, target="id")) == [1, 2]


def test_a_table_with_other_names_and_missing_targets(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = put(tmp_path / "t.csv", 'compound,pIC50\n"CCO",5.5\n"CC",\nCCC,6\n')
    with pytest.raises(
        GraphError, match=r"no column of SMILES: its columns are 'compound', 'pIC50'; name it with smil"
    ):
        as_graphs(path)
    with pytest.raises(GraphError, match="has no column 'ic50'; its columns are"):
        as_graphs(path, smiles_column="compound", target="ic50")
    with pytest.warns(UserWarning, match="1 of 3 rows have no 'pIC50' and are left out"):
        graphs = as_graphs(path, smiles_column="compound", target="pIC50")
    assert graphs.sizes.tolist() == [3, 3]
    assert targets(graphs) == [5.5, 6.0]
    put(path, "smiles,y\nCC,1\nC1,2\n")
    with pytest.raises(GraphError, match=re.escape("1 of 2 SMILES do not parse: line 3 ('C1')")):
        as_graphs(path)
    put(path, "smiles,y\nCC\n")
    with pytest.raises(GraphError, match="row 1 has 1 columns and the header 2; correct it"):
        as_graphs(path)
    put(path, "smiles,y,y\nCC,1,2\n")
    with pytest.raises(GraphError, match="more than one column 'y'; rename or remove all but one"):
        as_graphs(path)
    put(path, "smiles,y\n")
    with pytest.raises(GraphError, match="has no rows below its header"):
        as_graphs(path)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"smiles": ["CCO", "C", "CC"], "y": [1, 0, None]}), path)
    with pytest.warns(UserWarning, match="1 of 3 rows have no 'y'"):
        graphs = as_graphs(path)
    assert targets(graphs) == [1, 0]
    put(path, "nothing")
    with pytest.raises(GraphError, match="not a valid parquet file"):
        as_graphs(path)


def test_parquet_without_pyarrow_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = put(tmp_path / "t.parquet", "")
    with pytest.raises(GraphError, match=re.escape("parquet files need pyarrow: pip install 'rwk[parquet]'")):
        as_graphs(path)


# networks


def test_edge_lists(tmp_path: Path) -> None:
    for name in ("a.edgelist", "a.edges", "a.txt"):
        path = put(tmp_path / name, "# friends\nann bob\nbob cid 2.5\nv ann C\nv bob O\nv cid C\n")
        graphs = as_graphs(path)
        assert graphs.edges.tolist() == [[0, 1], [1, 2]]
        assert graphs.edge_weights is not None
        assert graphs.edge_weights.tolist() == [1.0, 2.5]
        assert atoms(graphs) == ["C", "O", "C"]
    with pytest.raises(GraphError, match=r"a\.txt, line 2: 'one two three four' is not an edge; write `a b`"):
        as_graphs(put(path, "a b\none two three four\n"))
    with pytest.raises(GraphError, match="line 1: 'heavy' is not a weight"):
        as_graphs(put(path, "a b heavy\n"))


def test_a_table_of_edges_is_one_graph(tmp_path: Path) -> None:
    path = put(tmp_path / "edges.csv", "Source,Target,Weight,label\na,b,2,x\nb,c,3,y\n")
    graphs = as_graphs(path)
    assert len(graphs) == 1
    assert graphs.edge_weights is not None
    assert graphs.edge_weights.tolist() == [2.0, 3.0]
    assert graphs.edge_labels is not None


def test_node_link_json(tmp_path: Path) -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "O", 2: "C"}, "label")
    data = {"nodes": [{"id": n, **d} for n, d in graph.nodes(data=True)]}
    links = [{"source": u, "target": v} for u, v in graph.edges]
    for key in ("links", "edges"):
        path = put(tmp_path / "one.json", json.dumps({**data, key: links}))
        assert atoms(as_graphs(path)) == ["C", "O", "C"]
    several = put(tmp_path / "many.json", json.dumps([{**data, "links": links}] * 3))
    assert len(as_graphs(several)) == 3
    written = put(tmp_path / "nx.json", json.dumps(nx.node_link_data(graph)))
    np.testing.assert_array_equal(as_graphs(written).edges, as_graphs(graph).edges)
    with pytest.raises(GraphError, match="is not node-link JSON; write"):
        as_graphs(put(path, "[1, 2]"))
    with pytest.raises(GraphError, match="not valid JSON"):
        as_graphs(put(path, "{"))
    with pytest.raises(GraphError, match="each link needs a source and a target"):
        as_graphs(put(path, '{"nodes": [], "links": [{"source": 1}]}'))


@pytest.mark.parametrize("ending", ["pkl", "pickle", "gpickle"])
def test_pickles_are_refused_with_the_way_to_convert(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"one.{ending}"
    path.write_bytes(pickle.dumps(nx.path_graph(3)))
    with pytest.raises(GraphError, match=r"is a pickle, .* pass the graphs to rwk\.as_graphs, or write them with netw"):
        as_graphs(path)


# folders


@pytest.fixture
def networks(tmp_path: Path) -> Path:
    folder = tmp_path / "networks"
    folder.mkdir()
    for n in (2, 3, 10):
        nx.write_graphml(nx.path_graph(n), folder / f"g{n}.graphml")
    nx.write_gexf(nx.path_graph(4), folder / "h4.gexf")
    put(folder / "i5.json", json.dumps(nx.node_link_data(nx.path_graph(5))))
    put(folder / "README.txt", "not a graph")
    return folder


def test_folders_and_wildcards(networks: Path) -> None:
    for given in (networks, str(networks)):
        graphs = as_graphs(given)
        assert graphs.sizes.tolist() == [2, 3, 10, 4, 5]  # g2 before g10
        assert graphs.targets is None
    assert as_graphs(str(networks / "*.graphml")).sizes.tolist() == [2, 3, 10]
    with pytest.raises(GraphError, match=r"no file matches .*\*\.gml; check the path"):
        as_graphs(str(networks / "*.gml"))


def test_targets_of_a_folder(networks: Path) -> None:
    put(networks / "targets.csv", "file,target,mass\ng2.graphml,a,1.5\ng3,b,2\ng10,a,3\nh4.gexf,b,4\ni5,a,5\n")
    assert targets(as_graphs(networks)) == ["a", "b", "a", "b", "a"]
    assert targets(as_graphs(networks, target="mass")) == [1.5, 2, 3, 4, 5]
    assert targets(as_graphs(str(networks / "*.graphml"))) == ["a", "b", "a"]
    with pytest.raises(GraphError, match="has no column 'weight'; its columns are 'file', 'target', 'mass'"):
        as_graphs(networks, target="weight")
    put(networks / "targets.csv", "file,target\ng2.graphml,1\n")
    with pytest.raises(GraphError, match="has no target for 'g3'; add a line for it, or remove the file"):
        as_graphs(networks)


def test_an_empty_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"contains neither a TU set \(NAME_A.txt\) nor files that can be read"):
        as_graphs(tmp_path)


def test_columns_are_for_files() -> None:
    with pytest.raises(GraphError, match="smiles_column and target name columns of a file"):
        as_graphs([nx.path_graph(2)], target="y")


# the command line


def test_the_command_line_reads_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    path = put(tmp_path / "t.csv", "compound,active\nCCO,yes\nCC,no\nCCC,no\n")
    done = CliRunner().invoke(app, ["info", str(path), "--smiles-column", "compound", "--target", "active"])
    assert done.exit_code == 0, done.output
    assert "no: 2" in done.output
    done = CliRunner().invoke(app, ["info", "MUTAG", "--target", "active"])
    assert isinstance(done.exception, GraphError)
    assert "name columns of a table, but MUTAG is not one" in str(done.exception)


def test_align_two_files_prints_names_and_writes_tables_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from rwk.cli.app import app

    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    kite = nx.Graph([("ann", "bob"), ("bob", "cid"), ("cid", "dan"), ("dan", "eve"), ("cid", "eve"), ("eve", "fay")])
    nx.write_graphml(kite, tmp_path / "a.graphml")
    nx.write_gml(nx.relabel_nodes(kite, {"ann": "zoe"}), tmp_path / "b.gml")
    arguments = ["align", str(tmp_path / "a.graphml"), str(tmp_path / "b.gml"), "--entropy", "0.02"]
    arguments += ["-o", str(tmp_path / "m.csv"), "-o", str(tmp_path / "m.json")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "zoe" in done.output
    rows = list(csv.DictReader((tmp_path / "m.csv").read_text().splitlines()))
    assert [(row["source_name"], row["target_name"]) for row in rows][:2] == [("ann", "zoe"), ("bob", "bob")]
    record = json.loads((tmp_path / "m.json").read_text())
    assert record["matching"][0]["target_name"] == "zoe"
    assert np.shape(record["coupling"]) == (6, 6)


def test_align_members_by_name(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    path = put(tmp_path / "two.smi", "CC ethane\nCO methanol\n")
    done = CliRunner().invoke(app, ["align", str(path), "ethane", "1"])
    assert done.exit_code == 0, done.output
    assert "two: ethane and methanol" in " ".join(done.output.split())
    put(path, "CC same\nCO same\n")
    done = CliRunner().invoke(app, ["align", str(path), "same", "1"])
    assert "2 graphs are called 'same'; give a number, such as 0 or 1" in str(done.exception)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_gram_writes_tables_with_names(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = put(tmp_path / "three.smi", "CC ethane\nCO methanol\nCCO ethanol\n")
    out = tmp_path / f"D.{ending}"
    done = CliRunner().invoke(app, ["gram", str(path), "-o", str(out)])
    assert done.exit_code == 0, done.output
    if ending == "csv":
        header, *rows = csv.reader(out.read_text().splitlines())
    else:
        columns = pytest.importorskip("pyarrow.parquet").read_table(out).to_pydict()
        header, rows = list(columns), [list(row) for row in zip(*columns.values(), strict=True)]
    assert header == ["graph", "ethane", "methanol", "ethanol"]
    assert [row[0] for row in rows] == header[1:]
    values = np.array([[float(value) for value in row[1:]] for row in rows])
    np.testing.assert_array_equal(values, pairwise_discrepancy(as_graphs(path)))


def test_align_two_smiles(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    done = CliRunner().invoke(app, ["align", "CC(=O)O", "CC(=O)[O-]", "-o", str(tmp_path / "m.svg")])
    assert done.exit_code == 0, done.output
    assert "O-" in done.output
    assert (tmp_path / "m.svg").exists()
    put(tmp_path / "two.smi", "CC\nCO\n")
    done = CliRunner().invoke(app, ["align", str(tmp_path / "two.smi"), "CC"])
    assert "holds 2 graphs; say which two: rwk align" in str(done.exception)
    assert CliRunner().invoke(app, ["align", str(tmp_path / "two.smi"), "0", "1"]).exit_code == 0
    done = CliRunner().invoke(app, ["align", str(tmp_path / "two.smi"), "0", "x"])
    assert "'x' is not the name or number of a graph; two has graphs 0 to 1" in str(done.exception)


# back to other forms


def everything() -> GraphSet:
    graphs = []
    for n in (3, 5):
        graph = nx.cycle_graph(n)
        for i in graph:
            graph.nodes[i].update(label="CNO"[i % 3], x=[i / 3, 1.0])
        for k, (u, v) in enumerate(graph.edges):
            graph.edges[u, v].update(label="ab"[k % 2], attributes=[k / 7])
        graphs.append(graph)
    return as_graphs(graphs, targets=["yes", "no"])


def same(one: GraphSet, other: GraphSet, *fields: str) -> None:
    np.testing.assert_array_equal(one.node_offsets, other.node_offsets)
    np.testing.assert_array_equal(one.edges, other.edges)
    for field in fields:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


FIELDS = ("node_labels", "node_attributes", "edge_labels", "edge_attributes")


def test_networkx_and_back() -> None:
    graphs = everything()
    networks = to_networkx(graphs)
    assert [network.graph["target"] for network in networks] == ["yes", "no"]
    same(as_graphs(networks), graphs, *FIELDS)
    weighted = as_graphs(np.array([[0, 2.5], [2.5, 0]]))
    same(as_graphs(to_networkx(weighted)), weighted, "edge_weights")


def test_tu_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    graphs = everything()
    found = load_dataset(to_tu(graphs, tmp_path / "OUT"))
    assert found.name == "OUT"
    same(found, graphs, "node_attributes", "edge_attributes")
    assert targets(found) == [1, 0]
    names = dict(line.split(": ") for line in (tmp_path / "OUT" / "OUT_names.txt").read_text().splitlines())
    assert found.node_labels is not None
    assert found.edge_labels is not None
    assert [names[f"node label {code}"] for code in found.node_labels.tolist()] == atoms(graphs)
    assert graphs.edge_labels is not None
    assert graphs.label_names is not None
    written = [names[f"edge label {code}"] for code in found.edge_labels.tolist()]
    assert written == [graphs.label_names[code] for code in graphs.edge_labels.tolist()]
    with pytest.raises(GraphError, match="OUT exists already; give a folder that is new or empty"):
        to_tu(graphs, tmp_path / "OUT")


def test_tu_keeps_numbers_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grakel")
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    mutag = load_dataset("MUTAG")
    same(load_dataset(to_tu(mutag, tmp_path / "M")), mutag, "node_labels", "edge_labels", "targets")
    values = replace(mutag, targets=np.arange(188) / 7)
    same(load_dataset(to_tu(values, tmp_path / "R")), values, "targets")
    with pytest.warns(UserWarning, match="no targets; every class in the TU folder is 0"):
        to_tu(replace(mutag, targets=None), tmp_path / "N")
    with pytest.warns(UserWarning, match="no edge weights; they are written as the first edge attribute"):
        to_tu(as_graphs(np.array([[0, 2.5], [2.5, 0]]), targets=[1]), tmp_path / "W")


@pytest.mark.parametrize("kind", ["tu", "graphml", "parquet"])
def test_convert_writes_what_as_graphs_reads(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from rwk.cli.app import app

    pytest.importorskip("rdkit")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    path = put(tmp_path / "t.csv", "smiles,y\nCC(=O)[O-],0.5\nc1ccccc1,1.5\nC,2.5\n")
    out = tmp_path / ("out.parquet" if kind == "parquet" else "out")
    done = CliRunner().invoke(app, ["convert", str(path), str(out), "--to", kind])
    assert done.exit_code == 0, done.output
    assert f"3 graphs as {kind}" in done.output
    found, original = as_graphs(out), as_graphs(path)
    assert targets(found) == [0.5, 1.5, 2.5]
    same(found, original)
    if kind != "tu":
        assert atoms(found) == atoms(original)
        same(found, original, "edge_labels")
    done = CliRunner().invoke(app, ["convert", str(path), str(out), "--to", "xml"])
    assert "--to xml is unknown; give tu, graphml or parquet" in str(done.exception)


def test_graphml_keeps_vectors(tmp_path: Path) -> None:
    graphs = everything()
    found = as_graphs(write_graphml(graphs, tmp_path / "out"))
    same(found, graphs, *FIELDS)
    assert targets(found) == ["yes", "no"]


# the page of formats

PAGE = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = {
    "SMILES: .smi": ".smi",
    "Tables": ".csv",
    "GraphML, GML": ".gml",
    "Node-link": ".json",
    "Edge lists": ".txt",
}


@pytest.mark.parametrize("heading", EXAMPLES)
def test_the_examples_of_the_page_are_read(heading: str, tmp_path: Path) -> None:
    if EXAMPLES[heading] in (".smi", ".csv"):
        pytest.importorskip("rdkit")
    section = PAGE.split(f"\n## {heading}")[1].split("\n## ")[0]
    text = re.findall(r"```text\n(.*?)```", section, re.DOTALL)[0]
    assert as_graphs(put(tmp_path / f"example{EXAMPLES[heading]}", text)).sizes.min() >= 2


def test_the_table_of_edges_on_the_page_is_one_graph(tmp_path: Path) -> None:
    text = re.findall(r"```text\n(source,target.*?)```", PAGE, re.DOTALL)[0]
    assert as_graphs(put(tmp_path / "edges.csv", text)).n_edges.tolist() == [4]


def test_match_prints_pairs_and_writes_them(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    files = [tmp_path / f"m.{ending}" for ending in ("csv", "json", "png")]
    arguments = ["match", "OC(=O)c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O"]  # salicylic acid and aspirin
    for path in files:
        arguments += ["-o", str(path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "without a partner in the second graph: 0, 1, 2" in done.output  # the acetyl group
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert {int(row["source"]): int(row["target"]) for row in rows}[8] == 4  # the carbon of the hydroxyl group
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert all(row["source_label"] == row["target_label"] for row in rows)
    record = json.loads(files[1].read_text())
    assert record["unmatched"] == [[], ["0", "1", "2"]]
    assert record["edges_preserved"] == 1.0
    assert files[2].read_bytes().startswith(b"\x89PNG")


def test_match_of_a_common_part_members_and_nothing_in_common(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    path = put(tmp_path / "two.smi", "CCCO propanol\nNCCO aminoethanol\n")
    done = CliRunner().invoke(app, ["match", str(path), "propanol", "1", "--common", "-o", str(tmp_path / "c.csv")])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [(row["source"], row["target"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "3")]
    done = CliRunner().invoke(app, ["match", "C", "N", "--common", "-o", str(tmp_path / "none.csv")])
    assert "no node in common" in done.output
    assert (tmp_path / "none.csv").read_text().startswith("source,")
    done = CliRunner().invoke(app, ["match", "C", "N", "--common", "--effort", "fast"])
    assert "--common has none; leave one of the two out" in str(done.exception)
    done = CliRunner().invoke(app, ["match", "CC", "CC"])
    assert "which of them is which is arbitrary" in done.output
    done = CliRunner().invoke(app, ["match", str(path), "CC"])
    assert "say which two: rwk match" in str(done.exception)


def test_names_with_markup_and_formulas_are_text(tmp_path: Path) -> None:
    """Square brackets are styles to rich, dollars formulas to matplotlib, and a label in a legend is hidden by `_`."""
    from typer.testing import CliRunner

    from rwk.cli.app import app

    node, label, folder = "[/b]", "_$\\foo$", tmp_path / "[red]$x_$"
    folder.mkdir()
    for i in range(8):
        graph = nx.relabel_nodes(nx.path_graph(3 + i % 3) if i % 2 else nx.cycle_graph(3 + i % 3), {0: node})
        nx.set_node_attributes(graph, label, "label")
        nx.write_graphml(graph, folder / f"$g_{i}$.graphml")
    rows = "".join(f"$g_{i}$.graphml,{('[/c]$_$', '_<b>')[i % 2]}\n" for i in range(8))
    put(folder / "targets.csv", f"graph,target\n{rows}")
    for arguments, shown in {
        ("align", "0", "1", "-o", str(tmp_path / "a.png")): node,
        ("match", "0", "1", "-o", str(tmp_path / "m.png")): node,
        ("query", "0"): "$g_2$",
        ("explain", "0", "-o", str(tmp_path / "w.png")): "$g_0$",
        ("classify", "--grid", "quick", "--splits", "2", "-o", str(tmp_path / "run")): "[red]$x_$",
    }.items():
        done = CliRunner().invoke(app, [arguments[0], str(folder), *arguments[1:]])
        assert done.exit_code == 0, (arguments[0], done.output, done.exception)
        assert shown in done.output, (arguments[0], done.output)
    done = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "-o", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    assert "_<b>" not in (tmp_path / "report.html").read_text(encoding="utf-8")
