"""Benchmark sets: the published statistics, the reader, the cache, and the message for each kind of bad file."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rwk import Graph, GraphError, GraphSet, load_dataset
from rwk.datasets import bonds_only, catalogue, dataset_statistics, distance_graph, list_datasets, load
from rwk.datasets import tu_reader as tu
from rwk.datasets.parsed_cache import content_checksum

DATA = Path(os.environ.get("RWK_DATA") or Path(__file__).parents[2] / "shared" / "datasets")

# graphs, classes, mean nodes, mean edges, smallest-largest, node labels, node attributes, edge labels, edge attributes,
# graphs with isolated nodes, disconnected graphs
PUBLISHED = """
MUTAG | 188 | 2 (-1: 63, 1: 125) | 17.93 | 19.79 | 10-28 | 7 | - | 4 | - | 0 | 0
PTC_MR | 344 | 2 (-1: 192, 1: 152) | 14.29 | 14.69 | 2-64 | 18 | - | 4 | - | 0 | 0
NCI1 | 4110 | 2 (0: 2053, 1: 2057) | 29.87 | 32.30 | 3-111 | 37 | - | - | - | 399 | 580
NCI109 | 4127 | 2 (0: 2048, 1: 2079) | 29.68 | 32.13 | 4-111 | 38 | - | - | - | 437 | 608
DD | 1178 | 2 (1: 691, 2: 487) | 284.32 | 715.66 | 30-5748 | 82 | - | - | - | 0 | 21
COLLAB | 5000 | 3 (1: 2600, 2: 775, 3: 1625) | 74.49 | 2457.78 | 32-492 | - | - | - | - | 0 | 0
ENZYMES | 600 | 6 (1: 100, 2: 100, 3: 100, 4: 100, 5: 100, 6: 100) | 32.63 | 62.14 | 2-126 | 3 | 18 | - | - | 8 | 31
PROTEINS | 1113 | 2 (1: 663, 2: 450) | 39.06 | 72.82 | 4-620 | 3 | 1 | - | - | 5 | 46
PROTEINS_full | 1113 | 2 (1: 663, 2: 450) | 39.06 | 72.82 | 4-620 | 3 | 29 | - | - | 5 | 46
COX2 | 467 | 2 (-1: 365, 1: 102) | 41.22 | 43.45 | 32-56 | 8 | 3 | - | - | 0 | 0
BZR | 405 | 2 (-1: 319, 1: 86) | 35.75 | 38.36 | 13-57 | 10 | 3 | - | - | 0 | 0
COX2_MD | 303 | 2 (-1: 155, 1: 148) | 26.28 | 335.12 | 21-36 | 7 | - | 5 | 1 | 0 | 0
BZR_MD | 306 | 2 (-1: 149, 1: 157) | 21.30 | 225.06 | 8-33 | 8 | - | 5 | 1 | 0 | 0
"""
ROWS = {line.split(" | ")[0]: line.split(" | ") for line in PUBLISHED.strip().splitlines()}

# two graphs: a triangle with classes on nodes and edges, and a path of two
TWO = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "7\n8\n7\n8\n8\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5e-1\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n3\n3\n",
}


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_places(module_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use neither the user's cache nor the network."""
    monkeypatch.setenv("RWK_CACHE", str(module_cache))
    monkeypatch.delenv("RWK_DATA", raising=False)
    monkeypatch.setattr(catalogue, "SITE", "http://127.0.0.1:1")


def needs(name: str) -> Path:
    path = DATA / f"{name}.zip"
    if not path.exists():
        pytest.skip(f"{name}.zip is not in $RWK_DATA or ../shared/datasets")
    return path


def folder(place: Path, name: str = "TWO", **changes: str | None) -> Path:
    """Write a small set in TU form; a file given as None is left out."""
    path = place / name
    path.mkdir(parents=True)
    for part, text in {**TWO, **changes}.items():
        if text is not None:
            (path / f"{name}_{part}.txt").write_text(text, newline="")
    return path


def zipped(path: Path) -> Path:
    archive = path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as stream:
        for file in path.iterdir():
            stream.write(file, f"{path.name}/{file.name}")
    return archive


def assert_same(one: GraphSet, other: GraphSet) -> None:
    assert content_checksum(one) == content_checksum(other)


# what is published


@pytest.mark.parametrize("name", ROWS)
def test_statistics_are_the_published_ones(name: str) -> None:
    graphs = load_dataset(needs(name))
    assert list(dataset_statistics(graphs).row().values()) == ROWS[name]
    checksum = content_checksum(graphs, node_order=name not in catalogue.ANY_NODE_ORDER)
    assert checksum == catalogue.CHECKSUMS[name]
    again = load_dataset(needs(name))  # from the cache
    assert_same(again, graphs)
    assert list(dataset_statistics(again).row().values()) == ROWS[name]


@pytest.mark.parametrize("name", catalogue.ELEMENTS)
def test_elements_are_those_of_the_sets_own_description(name: str) -> None:
    if not (DATA / f"{name}.zip").exists():
        pytest.skip(f"{name} is not here; put it into $RWK_DATA")
    with zipfile.ZipFile(DATA / f"{name}.zip") as folder:
        text = folder.read(f"{name}/README.txt").decode("latin-1")
    listed = re.search(r"Node labels:\s*((?:\d+\s+[A-Z][a-z]?\s+)+)", text)
    assert listed
    assert re.findall(r"(\d+)\s+(\w+)", listed[1]) == [(str(c), n) for c, n in catalogue.element_names(name).items()]


def test_collab_loops_are_dropped_and_counted() -> None:
    graphs = load_dataset(needs("COLLAB"))
    assert graphs.n_self_loops is not None
    assert (graphs.n_self_loops.sum(), (graphs.n_self_loops > 0).sum()) == (2837, 1902)
    assert (graphs.edges[:, 0] < graphs.edges[:, 1]).all()
    assert round(len(graphs.edges) / len(graphs), 2) == 2457.22
    part = graphs[:10]
    assert dataset_statistics(part).n_graphs == 10


def test_mutag_is_carried_by_an_installed_package() -> None:
    pytest.importorskip("grakel")
    graphs = load_dataset("mutag", download=False)
    assert list(dataset_statistics(graphs).row().values()) == ROWS["MUTAG"]
    assert content_checksum(graphs) == catalogue.CHECKSUMS["MUTAG"]


def test_the_reader_agrees_with_grakel(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grakel")
    from grakel.datasets.base import read_data

    from rwk import as_graphs

    ours = load_dataset("MUTAG")
    place = [p for p in load._folders(None) if (p / "MUTAG").is_dir()][-1]
    monkeypatch.chdir(place)
    theirs = read_data("MUTAG", with_classes=True, produce_labels_nodes=False, prefer_attr_nodes=False)
    assert_same(as_graphs(list(theirs.data), targets=theirs.target), ours)


def test_several_label_columns_are_one_label() -> None:
    pytest.importorskip("grakel")
    with pytest.warns(UserWarning, match="in the two directions"):
        graphs = load_dataset("Cuneiform")
    assert graphs.label_names is not None
    assert graphs.node_labels is not None
    assert {graphs.label_names[code] for code in graphs.node_labels.tolist()} >= {"0, 0", "3, 0"}


@pytest.mark.parametrize(
    ("spelling", "name"), [("D&D", "DD"), ("dd", "DD"), ("PTC-MR", "PTC_MR"), ("ptc_mr", "PTC_MR"), ("PTC", "PTC_MR")]
)
def test_spelling_is_forgiven(spelling: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path, name)
    assert load_dataset(spelling, root=tmp_path).name == name
    monkeypatch.setenv("RWK_DATA", str(tmp_path))
    assert load_dataset(spelling).name == name


def test_names_are_listed() -> None:
    assert set(list_datasets()) == set(ROWS)


# the reader


def test_reading_a_small_set(tmp_path: Path) -> None:
    graphs = load_dataset(folder(tmp_path))
    first, second = graphs
    assert first.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert second.edges.tolist() == [[0, 1]]
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [0, 2, 1, 3]
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [7, 8, 7, 8, 8]
    assert graphs.node_attributes is not None
    assert graphs.node_attributes[:, 1].tolist() == [1, 2, 3, 4, 0.5]
    assert graphs.targets is not None
    assert graphs.targets.tolist() == [1, -1]
    assert graphs.name == "TWO"


def test_folder_and_zip_agree(tmp_path: Path) -> None:
    path = folder(tmp_path)
    assert_same(load_dataset(path), load_dataset(zipped(path)))
    assert_same(load_dataset(str(path)), load_dataset("TWO", root=tmp_path))


def test_files_at_the_top_of_a_zip(tmp_path: Path) -> None:
    path = folder(tmp_path)
    with zipfile.ZipFile(tmp_path / "flat.zip", "w") as stream:
        for file in path.iterdir():
            stream.write(file, file.name)
    assert_same(load_dataset(path), load_dataset(tmp_path / "flat.zip"))


def test_the_layout_of_pyg(tmp_path: Path) -> None:
    folder(tmp_path / "TWO", "raw").rename(tmp_path / "files")
    folder(tmp_path / "in").rename(tmp_path / "TWO" / "raw")
    assert load_dataset("two", root=tmp_path).name == "TWO"


def test_twins_that_macos_adds_are_ignored(tmp_path: Path) -> None:
    archive = zipped(folder(tmp_path))
    with zipfile.ZipFile(archive, "a") as stream:
        stream.writestr("__MACOSX/TWO/._TWO_A.txt", b"\x00\x05")
    assert len(load_dataset(archive)) == 2


def test_another_folder_of_that_name_is_passed_by(tmp_path: Path) -> None:
    pytest.importorskip("grakel")
    (tmp_path / "MUTAG").mkdir()
    assert len(load_dataset("MUTAG", root=tmp_path, download=False)) == 188


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text.replace(", ", ","),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text + "\n \n\n",
        lambda text: text.replace(", ", " ,\t "),
    ],
    ids=["no spaces", "carriage returns", "no last newline", "blank lines at the end", "tabs"],
)
def test_spaces_and_line_ends_do_not_matter(write: object, tmp_path: Path) -> None:
    changed = {part: write(text) for part, text in TWO.items()}  # type: ignore[operator]
    assert_same(load_dataset(folder(tmp_path / "a")), load_dataset(folder(tmp_path / "b", **changed)))


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_chunk_size_agnostic(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load_dataset(folder(tmp_path / "a"))
    monkeypatch.setattr(tu, "_CHUNK", chunk)
    assert_same(load_dataset(folder(tmp_path / "b", A=TWO["A"] + "\n\n")), whole)


def test_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    lines, labels = TWO["A"].splitlines(), TWO["edge_labels"].splitlines()
    shuffled = np.random.default_rng(0).permutation(len(lines))
    other = folder(
        tmp_path / "b",
        A="\n".join(lines[i] for i in shuffled),
        edge_labels="\n".join(labels[i] for i in shuffled),
    )
    assert_same(load_dataset(folder(tmp_path / "a")), load_dataset(other))


def test_one_direction_is_used_in_both_and_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=re.escape("TWO_A.txt: 1 edges are listed in one direction only; they are")):
        graphs = load_dataset(folder(tmp_path, A="1, 2\n2, 1\n4, 5\n", edge_labels=None))
    assert graphs.n_edges.tolist() == [1, 1]


def test_directions_that_disagree_are_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="1 edges have different labels or attributes in the two directions"):
        graphs = load_dataset(folder(tmp_path, edge_labels="0\n5\n1\n1\n2\n2\n3\n3\n"))
    assert graphs.edge_labels is not None
    assert graphs.edge_labels[0] == 0


def test_self_loops_are_counted_as_published(tmp_path: Path) -> None:
    graphs = load_dataset(folder(tmp_path, A=TWO["A"] + "5, 5\n", edge_labels=None))
    assert graphs.n_edges.tolist() == [3, 1]
    assert dataset_statistics(graphs).mean_edges == 2.5


def test_regression_targets(tmp_path: Path) -> None:
    graphs = load_dataset(folder(tmp_path, graph_labels=None, graph_attributes="0.25\n-1.5\n"))
    assert graphs.targets is not None
    assert graphs.targets.tolist() == [0.25, -1.5]
    assert dataset_statistics(graphs).row()["classes (label: count)"] == "-"


def test_a_set_without_edges(tmp_path: Path) -> None:
    graphs = load_dataset(folder(tmp_path, A="", edge_labels=""))
    assert graphs.n_edges.tolist() == [0, 0]
    assert dataset_statistics(graphs).n_disconnected == 2


BAD_FILES: dict[str, dict[str, str | None]] = {
    "TWO_graph_indicator.txt is missing": {"graph_indicator": None},
    "TWO_graph_labels.txt is missing": {"graph_labels": None},
    "contains no file NAME_A.txt, which every TU set has": {"A": None},
    "TWO_graph_labels.txt is empty; get the set again": {"graph_labels": ""},
    "TWO_node_labels.txt has 3 lines and TWO_graph_indicator.txt has 5; one of them is truncated": {
        "node_labels": "7\n8\n7\n"
    },
    "TWO_edge_labels.txt has 2 lines and TWO_A.txt has 8": {"edge_labels": "1\n1\n"},
    "TWO_A.txt, line 3: '2,' is not 2 whole numbers": {"A": "1, 2\n2, 1\n2,"},
    "TWO_A.txt, line 2: edge 2, 9 joins a node that does not exist (there are 5)": {"A": "1, 2\n2, 9\n"},
    "TWO_A.txt, line 1: edge 0, 2 joins a node that does not exist": {"A": "0, 2\n"},
    "TWO_A.txt, line 2: edge 3, 4 joins two different graphs": {"A": "1, 2\n3, 4\n"},
    "TWO_A.txt, line 2: 'two, 1' is not 2 whole numbers with commas": {"A": "1, 2\ntwo, 1\n"},
    "TWO_A.txt, line 1: '1, 2, 3' is not 2 whole": {"A": "1, 2, 3\n"},
    "TWO_A.txt, line 1: '1 2, 3' is not 2 whole": {"A": "1 2, 3\n4, \n"},
    "TWO_A.txt, line 2: '' is not 2 whole": {"A": "1, 2\n\n2, 1\n"},
    "TWO_A.txt, line 1: '1.5, 2' is not 2 whole": {"A": "1.5, 2\n"},
    "TWO_A.txt, line 1: '1-2, 3' is not 2 whole": {"A": "1-2, 3\n"},
    "TWO_graph_indicator.txt, line 3: graph 1 comes after graph 2; sort": {"graph_indicator": "1\n2\n1\n2\n2\n"},
    "TWO_graph_indicator.txt, line 5: graph 3 does not exist, there are 2": {"graph_indicator": "1\n1\n1\n2\n3\n"},
    "TWO_graph_indicator.txt: graph 2 has no nodes": {"graph_indicator": "1\n1\n1\n1\n1\n"},
    "TWO_node_attributes.txt, line 2: 'x, 2' is not 2 numbers": {"node_attributes": "1, 2\nx, 2\n"},
    "TWO_node_attributes.txt, line 2: '1' is not 2 numbers": {"node_attributes": "1, 2\n1\n"},
    "graph 1, node 0: node attributes are NaN or infinite": {"node_attributes": "1\n1\n1\nnan\n1\n"},
    "TWO_edge_attributes.txt, line 2: NaN or infinite": {"edge_attributes": "1\ninf\n1\n1\n1\n1\n1\n1\n"},
    "TWO_graph_labels.txt, line 2: NaN or infinite": {"graph_labels": "1\nnan\n"},
    "TWO_node_labels.txt, line 1: 'C' is not one whole number": {"node_labels": "C\nC\nC\nC\nC\n"},
}


@pytest.mark.parametrize("sentence", BAD_FILES)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_bad_files_are_rejected_in_one_sentence(sentence: str, form: str, tmp_path: Path) -> None:
    path = folder(tmp_path, **BAD_FILES[sentence])
    with pytest.raises(GraphError, match=re.escape(sentence)) as caught:
        load_dataset(path if form == "folder" else zipped(path))
    assert "\n" not in str(caught.value)


def test_a_folder_with_two_sets(tmp_path: Path) -> None:
    path = folder(tmp_path / "in", "ONE").rename(tmp_path / "both")
    for file in folder(tmp_path, "TWO").iterdir():
        file.rename(path / file.name)
    with pytest.raises(GraphError, match=re.escape("contains several sets (ONE, TWO); keep one")):
        load_dataset(path)


# zips


def test_a_file_that_is_not_a_zip(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(GraphError, match="not a readable zip"):
        load_dataset(tmp_path / "bad.zip")


def test_a_truncated_zip(tmp_path: Path) -> None:
    archive = zipped(folder(tmp_path))
    archive.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(GraphError, match="not a readable zip"):
        load_dataset(archive)


def test_a_zip_with_a_flipped_byte(tmp_path: Path) -> None:
    archive = zipped(folder(tmp_path))
    content = bytearray(archive.read_bytes())
    at = content.index(b"1, 2\n2, 1")
    content[at] = ord("4")
    archive.write_bytes(bytes(content))
    with pytest.raises(GraphError, match=r"TWO/TWO_A.txt cannot be read .*CRC.*; get the set again"):
        load_dataset(archive)


@pytest.mark.parametrize("member", ["../TWO_A.txt", "/etc/TWO_A.txt", "..\\TWO_A.txt", "C:/TWO_A.txt"])
def test_a_zip_that_points_outside(member: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "escape.zip", "w") as stream:
        stream.writestr(member, TWO["A"])
    with pytest.raises(GraphError, match="points outside the zip; don't use this zip"):
        load_dataset(tmp_path / "escape.zip")


def test_a_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rwk.datasets.tu_files.MAX_BYTES", 50)
    with pytest.raises(GraphError, match=r"would unpack to .* and the limit is .*; use a smaller set"):
        load_dataset(zipped(folder(tmp_path)))


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"there is no folder or zip .*nothing\.zip; check the path"):
        load_dataset(tmp_path / "nothing.zip")
    with pytest.raises(GraphError, match="is not a folder; check the path"):
        load_dataset("MUTAG", root=tmp_path / "nowhere")


# names and downloads


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(GraphError, match=r"there is no dataset 'PROTIENS'; did you mean 'PROTEINS'\?"):
        load_dataset("PROTIENS")
    with pytest.raises(GraphError, match="there is no dataset '@'; the known names are BZR, BZR_MD, COLLAB"):
        load_dataset("@")


def test_a_set_of_ones_own_by_name(tmp_path: Path) -> None:
    folder(tmp_path, "MY_SET")
    assert load_dataset("my-set", root=tmp_path).name == "MY_SET"
    with pytest.raises(GraphError, match="did you mean 'MY_SET'"):
        load_dataset("my-sets", root=tmp_path)


def test_no_download_unless_allowed(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"ENZYMES is not on this computer; allow the download, or put ENZYMES\.zip"):
        load_dataset("enzymes", root=tmp_path, download=False)


def test_a_download_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    with pytest.raises(GraphError, match=r"could not be downloaded from http://.*/ENZYMES\.zip"):
        load_dataset("ENZYMES")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A web site that serves a folder, and an empty cache."""
    served = tmp_path / "site"
    served.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(served)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(catalogue, "SITE", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    yield served
    server.shutdown()
    server.server_close()


def test_a_download_is_verified_and_kept(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_dataset(zipped(folder(site, "ENZYMES")))
    monkeypatch.setitem(catalogue.CHECKSUMS, "ENZYMES", content_checksum(expected))
    assert_same(load_dataset("enzymes"), expected)
    (site / "ENZYMES.zip").unlink()
    assert_same(load_dataset("enzymes"), expected)  # from the user's cache


def test_a_set_of_the_collection_is_downloaded_without_a_checksum(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = load_dataset(zipped(folder(site, "IMDB-BINARY")))
    with caplog.at_level("INFO", "rwk"):
        assert_same(load_dataset("imdb-binary"), expected)
    assert f"downloading {catalogue.SITE}/IMDB-BINARY.zip" in caplog.text


def test_a_bar_shows_the_download_in_a_terminal(
    site: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    zipped(folder(site, "AIDS"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    load_dataset("AIDS")
    assert "downloading AIDS.zip" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("IMDB-BINRY", "IMDB-BINARY"),
        ("Mutagenicty", "Mutagenicity"),
        ("REDIT-BINARY", "REDDIT-BINARY"),
        ("AIDZ", "AIDS"),
    ],
)
def test_the_nearest_name_of_the_collection_is_suggested(typed: str, meant: str) -> None:
    with pytest.raises(GraphError, match=f"there is no dataset {typed!r}; did you mean {meant!r}"):
        load_dataset(typed)


def test_a_download_that_is_not_allowed_gives_the_address(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"REDDIT-BINARY is not on this computer; .*http.*/REDDIT-BINARY\.zip"):
        load_dataset("reddit-binary", root=tmp_path, download=False)


def test_a_download_with_another_content(site: Path, tmp_path: Path) -> None:
    zipped(folder(site, "ENZYMES"))
    with pytest.raises(GraphError, match=r"does not contain the expected ENZYMES \(content .* expected 860a4bb0"):
        load_dataset("ENZYMES")
    assert not list((tmp_path / "cache" / "datasets").iterdir())


def test_a_download_that_is_not_a_zip(site: Path, tmp_path: Path) -> None:
    (site / "ENZYMES.zip").write_text("the site has moved")
    with pytest.raises(GraphError, match="not a readable zip"):
        load_dataset("ENZYMES")
    assert not list((tmp_path / "cache" / "datasets").iterdir())


# the cache


def cached_files(cache: Path) -> list[Path]:
    return sorted((cache / "parsed").iterdir())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refuse(*_: object) -> GraphSet:
    raise AssertionError("it was read again")


def test_the_second_time_comes_from_the_cache(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder(tmp_path)
    graphs = load_dataset(path)
    monkeypatch.setattr(load, "read_tu", refuse)
    again = load_dataset(path)
    assert_same(again, graphs)
    for name in ("edges", "node_labels", "edge_labels", "node_offsets", "targets"):
        assert getattr(again, name).dtype == getattr(graphs, name).dtype == np.int64
    with np.load(cached_files(cache)[0], allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "iufU" for name in stored)


def test_label_names_survive_the_cache(tmp_path: Path, cache: Path) -> None:
    path = folder(tmp_path, node_labels="1, 1\n1, 2\n1, 1\n1, 2\n1, 1\n")
    graphs, again = load_dataset(path), load_dataset(path)
    assert again.label_names == graphs.label_names
    assert again.label_names is not None
    assert set(again.label_names.values()) == {"1, 1", "1, 2"}


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "other", "pickle", "folder"])
def test_a_damaged_cache_is_rebuilt(damage: str, tmp_path: Path, cache: Path) -> None:
    path = folder(tmp_path)
    graphs = load_dataset(path)
    (file,) = cached_files(cache)
    content = file.read_bytes()
    if damage == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        at = content.index(b"node_labels.npy") + 150
        file.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "other":
        with file.open("wb") as stream:
            np.savez(stream, something=np.arange(3))
    elif damage == "pickle":
        with file.open("wb") as stream:
            np.savez(stream, head=np.array([{"stamp": 1}], dtype=object))
    else:
        file.unlink()
        file.mkdir()
    assert_same(load_dataset(path), graphs)
    if damage != "folder":
        assert file.read_bytes()[:2] == b"PK"
        assert len(file.read_bytes()) == len(content)
    assert list(file.parent.iterdir()) == [file]


def test_a_changed_source_is_read_again(tmp_path: Path, cache: Path) -> None:
    path = folder(tmp_path)
    load_dataset(path)
    (path / "TWO_node_labels.txt").write_text("1\n1\n1\n1\n10\n")
    graphs = load_dataset(path)
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [1, 1, 1, 1, 10]
    assert len(cached_files(cache)) == 1


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "file"))
    assert len(load_dataset(folder(tmp_path))) == 2


def test_nothing_is_written_beside_the_source(tmp_path: Path) -> None:
    path = folder(tmp_path)
    before = sorted(path.iterdir())
    load_dataset(path)
    assert sorted(path.iterdir()) == before
    shutil.rmtree(path)


# bonds and distances


def test_bonds_keep_all_distances() -> None:
    whole = load_dataset(needs("BZR_MD"))
    bonds = bonds_only(whole)
    assert bonds.edge_labels is not None
    assert (bonds.edge_labels != 1).all()
    for i in (0, 7, 305):
        molecule, complete = bonds[i], whole[i]
        assert molecule.n_edges < complete.n_edges
        assert molecule.node_distances is not None
        assert complete.edge_attributes is not None
        assert molecule.edge_attributes is not None
        a, b = complete.edges.T
        np.testing.assert_array_equal(molecule.node_distances[a, b], complete.edge_attributes[:, 0])
        np.testing.assert_array_equal(molecule.node_distances, molecule.node_distances.T)
        c, d = molecule.edges.T
        np.testing.assert_array_equal(molecule.edge_attributes[:, 0], molecule.node_distances[c, d])
    assert 1 < bonds.n_edges.sum() / bonds.sizes.sum() < 1.3


def test_distance_graph_weighs_near_atoms_more() -> None:
    whole = load_dataset(needs("COX2_MD"))
    weighed = distance_graph(whole, sigma=2.0)
    assert weighed.edge_weights is not None
    assert whole.edge_attributes is not None
    np.testing.assert_allclose(weighed.edge_weights, np.exp(-((whole.edge_attributes[:, 0] / 2) ** 2)))
    assert distance_graph(bonds_only(whole), sigma=2.0).edge_weights is not None


def test_bonds_and_distances_need_what_they_need() -> None:
    bare = GraphSet.from_graphs([Graph(2, np.array([[0, 1]]))])
    with pytest.raises(GraphError, match="has no edge labels that tell bonds from other edges"):
        bonds_only(bare)
    with pytest.raises(GraphError, match="has no edge attributes, so its edges have no lengths"):
        distance_graph(bare, sigma=1.0)
    lengths = GraphSet.from_graphs([Graph(2, np.array([[0, 1]]), edge_attributes=np.ones((1, 1)))])
    with pytest.raises(GraphError, match="sigma is 0; it must be positive"):
        distance_graph(lengths, sigma=0)
