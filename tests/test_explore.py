"""The explorer: its state, the uploads that it rejects, and the page itself in a real browser."""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.explore.choosing import first_pair
from rwk.explore.map_drawing import map_figure
from rwk.explore.map_places import MapPlaces
from rwk.explore.parity_drawing import parity_figure, parity_words
from rwk.explore.settings import Settings
from rwk.explore.state import KEPT_UPLOADS, Explorer
from rwk.explore.upload import MAX_BYTES, fitted_to, parse_smiles, parse_upload
from rwk.graphs import GraphError


@pytest.fixture(scope="module")
def mutag():
    return rwk.load_dataset("MUTAG")[:40]


@pytest.fixture(scope="module")
def explorer(mutag):
    explorer = Explorer(mutag)
    explorer.warm_up()
    return explorer


# ---------------------------------------------------------------- state


def test_the_default_sliders_give_the_kernels_own_alignment(explorer, mutag):
    kernel = rwk.RWKernel().fit(mutag)  # edge labels take part
    assert explorer.solve("0", "5").solution.value == pytest.approx(kernel.align(mutag[0], mutag[5]).value, rel=1e-9)


def test_thirty_nodes_are_solved_within_200_ms(explorer):
    graphs = rwk.load_dataset("MUTAG")
    largest = [graphs[int(i)] for i in np.argsort(graphs.sizes)[-2:]]
    keys = [explorer.add(f"large {i}", graph) for i, graph in enumerate(largest)]
    explorer.solve(*keys)  # places are kept after the first look
    times = [explorer.solve(*keys, Settings(0.5, 0.1 * i, 0.1, i % 4)).milliseconds for i in range(8)]
    assert min(times) < 200  # the best: other work on this machine is not the solver's


def test_sliders_change_what_they_name(explorer):
    base = explorer.solve("0", "5", Settings(0.5, 0.5, 0.1, 2)).solution
    assert explorer.solve("0", "5", Settings(0.0, 0.5, 0.1, 2)).solution.terms["neighbourhood"] == 0
    assert explorer.solve("0", "5", Settings(0.5, 0.0, 0.1, 2)).solution.terms["gromov_wasserstein"] == 0
    blurred = explorer.solve("0", "5", Settings(0.5, 0.5, 1.0, 2)).solution
    assert (blurred.coupling**2).sum() < (base.coupling**2).sum()
    assert explorer.solve("0", "5", Settings(0.5, 0.5, 0.1, 0)).solution.value != base.value


def test_neighbours_are_the_smallest_discrepancies(explorer):
    near = explorer.neighbours("3", 5)
    row = explorer.discrepancy[3].copy()
    row[3] = np.inf
    assert [int(n.key) for n in near] == np.argsort(row)[:5].tolist()


@pytest.mark.parametrize("metric", ["both", "product"])
def test_a_copy_finds_its_original(mutag, metric):
    explorer = Explorer(mutag, rwk.Parameters(debias=True, feature_metric=metric))
    key = explorer.add("copy", mutag[7])
    assert explorer.neighbours(key, 1)[0].value == pytest.approx(0.0, abs=1e-9)


def test_unknown_graphs_and_old_uploads_are_one_sentence(explorer):
    with pytest.raises(GraphError, match="the numbers are 0 to 39"):
        explorer.graph("40")
    with pytest.raises(GraphError, match="there is no graph -1"):
        explorer.graph("-1")
    with pytest.raises(GraphError, match="upload the graph again"):
        explorer.graph("u:gone")


def test_uploads_are_forgotten_in_turn(mutag):
    explorer = Explorer(mutag[:3])
    first = explorer.add("first", mutag[0])
    for i in range(KEPT_UPLOADS):
        explorer.add(str(i), mutag[0])
    with pytest.raises(GraphError, match="no longer kept"):
        explorer.graph(first)


def test_uploads_are_on_the_map_and_among_neighbours(mutag):
    explorer = Explorer(mutag)
    key = explorer.add("copy", mutag[7])
    assert explorer.add("copy", mutag[7]) == key
    assert explorer.neighbours("7", 1)[0].key == key
    # a copy lies where its original is, as near as graphs that differ can be drawn
    apart = np.linalg.norm(explorer.map.places - explorer.place(key), axis=1)
    assert apart.argmin() == 7
    drawn = map_figure(explorer, {"a": "0", "b": "1", "next": "a"})["data"]
    assert next(trace for trace in drawn if trace.get("name") == "your graphs")["customdata"] == [key]


def test_neighbours_follow_the_sliders(explorer):
    settings = Settings(0.0, 2.0, 0.1, 1)
    near = explorer.neighbours("3", 5, settings)
    pairs = [explorer.solve("3", n.key, settings).solution.value for n in near]
    assert [n.value for n in near] == pytest.approx(pairs, rel=0.05)  # the list does not depend on the order of a pair
    assert [n.key for n in near] != [n.key for n in explorer.neighbours("3", 5)]


def test_graphs_without_the_edge_labels_of_the_set_are_compared_without_them(mutag):
    explorer = Explorer(mutag)
    key = explorer.add("benzene", parse_smiles("c1ccccc1"))
    assert "without edge labels" in explorer.solve("0", key).note
    assert explorer.solve("0", "1").note == ""
    plain = rwk.RWKernel(wl_edge_labels=False).fit(mutag)
    expected = plain.align(mutag[0], explorer.graph(key)).value
    assert explorer.solve("0", key).solution.value == pytest.approx(expected, rel=1e-9)


def test_the_product_metric_can_be_chosen(explorer, mutag):
    kernel = rwk.RWKernel(feature_metric="product", return_weight=2.0).fit(mutag)
    settings = Settings(0.5, 0.5, 0.1, 2, "product", 2.0)
    expected = kernel.align(mutag[0], mutag[5]).value
    assert explorer.solve("0", "5", settings).solution.value == pytest.approx(expected, rel=1e-9)


def test_far_graphs_do_not_squash_the_map():
    at = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)), [[200.0, 0.0]]])
    places = MapPlaces(np.linalg.norm(at[:, None] - at[None], axis=2))
    assert places.n_drawn_nearer == 1
    assert np.ptp(places.places[:60], axis=0).min() > 0.2 * np.ptp(places.places, axis=0).max()


@pytest.mark.parametrize("names", [None, ("<b>bold</b>", "b", "c", "d")])
def test_continuous_targets_are_a_scale_and_names_are_text(names):
    graphs = rwk.as_graphs([nx.path_graph(n) for n in (2, 3, 4, 5)])
    graphs = replace(graphs, targets=np.array([0.5, 1.25, 2.0, np.nan]), names=names)
    drawn = map_figure(Explorer(graphs), {"a": "0", "b": "1", "next": "a"})["data"]
    assert drawn[0]["marker"]["color"] == [0.5, 1.25, 2.0]
    assert "colorbar" in drawn[0]["marker"]
    assert len(drawn[1]["x"]) == 1  # the graph without a target
    assert "<b>" not in drawn[0]["text"][0]


def test_values_are_predicted_from_the_others_and_drawn():
    pytest.importorskip("dash", reason="Dash is not installed (extra: explore)")
    from rwk.explore.server import make_app
    from rwk.explore.web_page import page

    graphs = rwk.as_graphs([nx.path_graph(n) for n in range(2, 14)])
    values = np.array([0.5 * n for n in range(12)])
    values[3] = np.nan
    explorer = Explorer(replace(graphs, targets=values))
    line, points = parity_figure(explorer)["data"]
    assert points["x"] == [value for value in values.tolist() if value == value]
    assert np.corrcoef(points["x"], points["y"])[0, 1] > 0.8
    assert len(points["error_y"]["array"]) == 11
    assert line["x"] == line["y"]
    assert "Root mean squared error" in parity_words(explorer)
    layout = str(page(explorer, first_pair(explorer)))
    assert "parity-draw" in layout
    assert "shown-class" not in layout
    make_app(explorer)


def test_classes_are_not_drawn_as_values():
    from rwk.datasets.synthetic import planted_motif

    pytest.importorskip("dash", reason="Dash is not installed (extra: explore)")
    from rwk.explore.web_page import page

    explorer = Explorer(planted_motif(6)[0])
    assert explorer.left_out() is None
    assert parity_figure(explorer)["data"] == []
    assert "parity-draw" not in str(page(explorer, first_pair(explorer)))


def test_one_graph_alone_is_shown():
    explorer = Explorer(rwk.as_graphs([nx.path_graph(3)]))
    explorer.warm_up()
    assert explorer.neighbours("0") == []
    assert first_pair(explorer) == {"a": "0", "b": "0", "next": "a"}


def test_large_sets_are_sampled_for_the_map():
    from rwk.explore import state

    graphs = rwk.as_graphs([nx.path_graph(3)] * (state.MAX_MAPPED + 5))
    assert len(state._mapped(len(graphs), 0)) == state.MAX_MAPPED


# ---------------------------------------------------------------- uploads

GRAPHML = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="l" for="node" attr.name="label" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="a"><data key="l">C</data></node><node id="b"><data key="l">O</data></node>
    <edge source="a" target="b"/>
  </graph>
</graphml>"""
BOMB = b"""<?xml version="1.0"?><!DOCTYPE bomb [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<graphml><graph id="&b;"/></graphml>"""
REACH = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]><graphml>&file;</graphml>"""


def test_graphml_smiles_and_edge_lists_are_read():
    assert parse_upload("g.graphml", GRAPHML)[0].graph.n_edges == 1
    assert parse_smiles("c1ccccc1").n_edges == 6
    edges = parse_upload("g.txt", b"# a triangle\nv a C\nv b C\nv c O\na b\nb c 2.5\nc,a\n")[0]
    assert (edges.graph.n_nodes, edges.graph.n_edges, edges.graph.edge_weights.max()) == (3, 3, 2.5)
    assert edges.graph.node_names == ("a", "b", "c")


def test_all_molecules_of_a_file_are_read():
    found = parse_upload("m.smi", b"smiles name\nCCO ethanol\n\n# a comment\nc1ccccc1\n")
    assert [(upload.name, upload.graph.n_nodes) for upload in found] == [("ethanol", 3), ("c1ccccc1", 6)]
    with pytest.raises(GraphError, match=r"m\.smi, line 2: 'C1C' is not a SMILES"):
        parse_upload("m.smi", b"CCO\nC1C\n")
    with pytest.raises(GraphError, match="51 molecules; give at most 50"):
        parse_upload("m.smi", b"C\n" * 51)


@pytest.mark.parametrize("content", [BOMB, REACH])
def test_xml_entities_are_rejected(content):
    with pytest.raises(GraphError, match="DOCTYPE, which is not allowed"):
        parse_upload("g.graphml", content)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("g.graphml", b"<graphml><graph>", "not well-formed XML"),
        ("g.graphml", b"<graphml></graphml>", "not a valid GraphML file"),
        ("g.txt", b"", "empty"),
        ("g.txt", b"a b c d e", "is not an edge"),
        ("g.txt", b"a b -2", "is not a weight"),
        ("g.txt", b"a b nan", "is not a weight"),
        ("g.bin", b"\xff\xfe\x00\x01", "not a text file"),
        ("m.smi", b"C1CC(", "not a SMILES"),
        ("g.txt", b"a b\n" * (MAX_BYTES // 4 + 1), "bytes; give a file of at most"),
        ("g.txt", "\n".join(f"{i} {i + 1}" for i in range(600)).encode(), "too large; give at most 500 nodes"),
        ("m.smi", b"C" * 1001, "the SMILES has 1,001 characters; give one of at most"),
    ],
)
def test_bad_uploads_are_one_sentence(name, content, sentence):
    with pytest.raises(GraphError, match=sentence):
        parse_upload(name, content)


def test_labels_take_the_codes_of_the_set(mutag):
    nitro = fitted_to(parse_smiles("c1ccccc1[N+](=O)[O-]"), mutag)
    assert sorted(nitro.node_labels.tolist()) == [0] * 6 + [1, 2, 2]
    silicon = fitted_to(parse_smiles("C[SiH3]"), mutag)
    assert silicon.label_names[int(silicon.node_labels[1])] == "Si"
    assert int(silicon.node_labels[1]) not in set(mutag.node_labels.tolist())


def test_missing_labels_and_attributes_are_one_sentence(mutag):
    with pytest.raises(GraphError, match="have node labels, but yours has none"):
        fitted_to(parse_upload("g.txt", b"a b")[0].graph, mutag)
    attributed = rwk.as_graphs([(np.ones((2, 2)) - np.eye(2), np.ones((2, 3)))])
    with pytest.raises(GraphError, match="have 3 node attributes"):
        fitted_to(parse_upload("g.txt", b"a b")[0].graph, attributed)


# ---------------------------------------------------------------- the page in a browser


def _browser_missing() -> str:
    pytest.importorskip("dash", reason="the page needs Dash: pip install 'rwk[explore]'")
    pytest.importorskip("dash_cytoscape", reason="the page needs dash-cytoscape: pip install 'rwk[explore]'")
    pytest.importorskip("selenium", reason="the browser is driven by selenium: pip install 'rwk[dev]'")
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        return "no Chromium here; `make browser` installs it"
    return "" if shutil.which("chromedriver") else "no chromedriver here; `make browser` installs it"


@pytest.fixture(scope="module")
def address(explorer):
    pytest.importorskip("dash", reason="the page needs Dash: pip install 'rwk[explore]'")
    from werkzeug.serving import make_server

    from rwk.explore.server import make_app

    server = make_server("127.0.0.1", 0, make_app(explorer).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="module")
def chromium():
    reason = _browser_missing()
    if reason:
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1440,1320"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium, address):
    """The page as it is opened: no test depends on what another did, wherever they are run."""
    chromium.get("about:blank")  # otherwise the page would stay scrolled
    chromium.get(address)
    wait(lambda: chromium.find_elements("css selector", "#terms .term"))  # the page is there, and the first pair solved
    wait(lambda: chromium.find_elements("css selector", "#map .scatterlayer .point"))
    return chromium


def text_of(browser, name: str) -> str:
    return browser.find_element("id", name).text


def wait(condition, seconds: float = 15.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("the page did not change in time")


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = Path(os.environ.get("RWK_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_page_loads_from_this_machine_alone(browser, address, pictures):
    wait(lambda: "graph 0" in text_of(browser, "pair-title"))
    wait(lambda: browser.find_elements("css selector", "#terms .term"))
    wait(lambda: browser.find_elements("css selector", "#map .scatterlayer .point"))
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded
    assert all(name.startswith((address, "data:", "blob:")) for name in loaded)
    problems = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert problems == []
    browser.save_screenshot(str(pictures / "explorer-loaded.png"))
    assert (pictures / "explorer-loaded.png").stat().st_size > 40_000


CLICK = """
const plot = document.querySelector('#map .js-plotly-plot'), at = plot.getBoundingClientRect();
const full = plot._fullLayout, trace = plot.data.find(t => t.customdata && t.customdata.includes(arguments[0]));
const i = trace.customdata.indexOf(arguments[0]);
const x = full.xaxis._offset + full.xaxis.l2p(trace.x[i]), y = full.yaxis._offset + full.yaxis.l2p(trace.y[i]);
return [at.left + x, at.top + y];
"""


def click_graph(browser, key: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    x, y = browser.execute_script(CLICK, key)
    actions = ActionChains(browser)
    actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    actions.w3c_actions.pointer_action.click()
    actions.perform()


def shown(browser) -> list[str]:
    """The two graphs named in the title."""
    return [part.split("(")[0].strip() for part in text_of(browser, "pair-title").split(" and ")]


def test_two_clicks_choose_two_graphs(browser, pictures):
    wait(lambda: browser.find_elements("css selector", "#map .scatterlayer .point"))
    before = shown(browser)
    click_graph(browser, "17")
    wait(lambda: shown(browser) != before)
    first = shown(browser)
    time.sleep(0.4)  # two clicks within 300 ms would be one double click
    click_graph(browser, "30")
    wait(lambda: shown(browser) != first)
    changed = shown(browser)
    assert changed[0] == first[0]
    assert changed[1] != first[1]
    browser.save_screenshot(str(pictures / "explorer-clicked.png"))


def solving_time(browser) -> float:
    """The milliseconds that the page shows."""
    return float(text_of(browser, "timing").split(",")[-1].removesuffix(" ms"))


def test_sliders_solve_again_at_once(browser):
    from selenium.webdriver.common.keys import Keys

    value = text_of(browser, "terms")
    slider = browser.find_element("id", "beta-global")
    start = time.monotonic()
    slider.send_keys(Keys.ARROW_RIGHT)
    wait(lambda: text_of(browser, "terms") != value)
    assert text_of(browser, "beta-global-value") == "0.55"
    assert time.monotonic() - start < 5
    times = [solving_time(browser)]
    for _ in range(4):  # the best of some: other work on this machine is not the page's
        value = text_of(browser, "terms")
        slider.send_keys(Keys.ARROW_RIGHT)
        wait(lambda before=value: text_of(browser, "terms") != before)
        times.append(solving_time(browser))
    assert min(times) < 200


def test_neighbour_and_search_and_swap(browser):
    browser.find_element("id", "search").send_keys("7\n")
    wait(lambda: "graph 7" in shown(browser))
    wait(lambda: not browser.find_element("id", "search").get_property("value"))  # it is emptied
    near = wait(lambda: browser.find_elements("css selector", "#neighbours button"))[1]
    name = near.find_element("tag name", "span").text
    near.click()
    wait(lambda: shown(browser)[1] == name)
    pair = shown(browser)
    assert pair[0] != pair[1]
    browser.find_element("id", "swap").click()
    wait(lambda: shown(browser) == pair[::-1])


def test_search_for_nothing_is_told(browser):
    browser.find_element("id", "search").send_keys("4711\n")
    wait(lambda: "the numbers are 0 to 39" in text_of(browser, "search-message"))
    assert "warn" in browser.find_element("id", "search-message").get_attribute("class")


def choose_class(browser) -> None:
    browser.find_elements("css selector", "#shown-class label")[1].click()


def test_one_class_alone(browser):
    faded = "return document.querySelector('#map .js-plotly-plot').data.map(t => t.marker.opacity)"
    assert 0.08 not in browser.execute_script(faded)
    choose_class(browser)
    wait(lambda: 0.08 in browser.execute_script(faded))


def test_a_member_of_the_class_becomes_the_second_graph(browser, pictures):
    choose_class(browser)
    members = wait(lambda: browser.find_elements("css selector", "#class-graphs button"))
    assert members[0].text.startswith("medoid, ")
    name = members[1].text
    browser.execute_script("arguments[0].scrollIntoView()", members[0])
    browser.save_screenshot(str(pictures / "explorer-class.png"))
    members[1].click()
    wait(lambda: shown(browser)[1] == name)


def test_good_and_bad_uploads(browser, tmp_path, pictures):
    good, bad = tmp_path / "mine.graphml", tmp_path / "bomb.graphml"
    good.write_bytes(GRAPHML)
    bad.write_bytes(BOMB)
    field = browser.find_element("css selector", "#upload input[type=file]")
    field.send_keys(str(good))
    wait(lambda: shown(browser)[0] == "mine.graphml")
    assert "2 nodes, 1 edge" in text_of(browser, "upload-message")
    assert "without edge labels" in text_of(browser, "message").lower()
    browser.find_element("css selector", "#upload input[type=file]").send_keys(str(bad))
    wait(lambda: "DOCTYPE, which is not allowed" in text_of(browser, "upload-message"))
    assert shown(browser)[0] == "mine.graphml"
    browser.save_screenshot(str(pictures / "explorer-uploaded.png"))


def test_smiles_field(browser, pictures):
    pytest.importorskip("rdkit")
    browser.find_element("id", "smiles").send_keys("c1ccc2ccccc2c1N(=O)=O\n")
    wait(lambda: shown(browser)[0].startswith("c1ccc2"))
    browser.save_screenshot(str(pictures / "explorer-smiles.png"))


def test_link_reproduces_the_state(browser, address, pictures):
    """On a phone and in dark mode, as it was on a wide screen."""
    browser.get(f"{address}?a=3&b=5&beta_global=1.5&feature_metric=product")
    wait(lambda: browser.find_elements("css selector", "#terms .term"))
    wait(lambda: shown(browser) == ["graph 3", "graph 5"])
    wait(lambda: text_of(browser, "beta-global-value") == "1.50")
    assert browser.find_element("id", "product-sliders").is_displayed()
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    wait(lambda: browser.execute_script("return document.documentElement.scrollWidth") <= 390)  # nothing sticks out
    browser.save_screenshot(str(pictures / "explorer-phone.png"))
    browser.find_element("id", "reset").click()
    wait(lambda: text_of(browser, "beta-global-value") == "0.50")
    wait(lambda: shown(browser)[0] == "graph 0")


def test_keys_tell_what_a_node_pays(browser):
    browser.execute_script("document.getElementById('drawing').focus()")
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    wait(lambda: "pays" in text_of(browser, "hint"))
    assert text_of(browser, "hint").startswith("node 0")


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b'{"output": "no.such"}',
        b'{"output": "map.figure"}',
        b'{"output": "map.figure", "outputs": {"id": "map", "property": "figure"}, "inputs": [1, 2, 3]}',
        b'{"output": "map.figure", "outputs": {"id": "map", "property": "figure"}, "changedPropIds": [], "inputs": ['
        b'{"id": "chosen", "property": "data", "value": {"a": 1}}, {"id": "theme", "property": "data"}, '
        b'{"id": "shown-class", "property": "value"}]}',
    ],
)
def test_malformed_requests_get_400(address, body):
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(f"{address}_dash-update-component", data=body, headers={"Content-Type": "application/json"})
    with pytest.raises(HTTPError, match="400"):
        urlopen(request)


def test_other_host_names_are_rejected(address):
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    with urlopen(address) as answer:
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    with pytest.raises(HTTPError, match="403"):
        urlopen(Request(address, headers={"Host": "evil.example"}))


def test_taken_port_is_one_sentence(mutag):
    import socket

    from rwk.explore import serve

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="choose another with --port"):
            serve(mutag, port=taken.getsockname()[1], browser=False)
