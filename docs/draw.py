"""Draw the pictures of the documentation: `make images` (that of the explorer needs Chromium: `make browser`).

`python docs/draw.py gallery` runs the examples and keeps their pictures, `python docs/draw.py active-learning` draws
that of the page on active learning, `python docs/draw.py matching` those of the page on matchings,
`python docs/draw.py parameters` those of the page on parameters, `python docs/draw.py standing` that of the page
"How good is it?".
"""

from __future__ import annotations

import json
import logging
import os
import runpy
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import rwk
from rwk.datasets.synthetic import planted_motif
from rwk.learn.explain import explain
from rwk.report import new_figure, plot_alignment, plot_explanation, plot_kernel, plot_map, plot_matching

HERE = (Path(__file__).parent / "images").resolve()
EXAMPLES = HERE.parent.parent / "examples"


def main() -> None:
    HERE.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or ["pages", "gallery", "parameters", "standing"]
    if "pages" in wanted:
        draw_pages()
    if "matching" in wanted:
        draw_matching()
        draw_matched_molecules()
    if "active-learning" in wanted:
        draw_active_learning()
    if "gallery" in wanted:
        draw_gallery()
    if "parameters" in wanted:
        runpy.run_path(str(HERE.parent / "draw_parameters.py"), run_name="__main__")
    if "standing" in wanted:
        runpy.run_path(str(HERE.parent / "draw_standing.py"), run_name="__main__")


def draw_pages() -> None:
    graphs = rwk.load_dataset("MUTAG")
    kernel = rwk.RWKernel(eta=2.0)
    K = kernel.fit_transform(graphs)
    save(plot_kernel(K, graphs.targets), "kernel")
    save(plot_map(-np.log(K), graphs.targets), "map")
    solution = rwk.align(graphs[17], graphs[43], entropy=0.03)
    save(plot_alignment(graphs[17], graphs[43], solution, title="MUTAG: graph 17 and graph 43"), "alignment")
    draw_matching()
    draw_matched_molecules()
    draw_active_learning()
    draw_explanation()
    draw_explorer(graphs)


def draw_gallery() -> None:
    """Run every example in a temporary folder, and keep its picture with few colours, which makes small files."""
    from PIL import Image

    (HERE / "gallery").mkdir(exist_ok=True)
    for example in sorted(EXAMPLES.glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            runpy.run_path(str(example.resolve()), run_name="__main__")
            picture = Image.open(f"{example.stem}.png").convert("RGB").quantize(128)
            os.chdir(HERE)
        picture.save(HERE / "gallery" / f"{example.stem}.png", optimize=True)
        print(HERE / "gallery" / f"{example.stem}.png")


def draw_matched_molecules() -> None:
    """Salicylic acid and aspirin, atom by atom."""
    acid, aspirin = (rwk.molecules([smiles])[0] for smiles in ("OC(=O)c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O"))
    title = "salicylic acid and aspirin"
    save(plot_matching(acid, aspirin, rwk.match(acid, aspirin), title=title), "match")


def draw_matching() -> None:
    """Recovered pairs against time, a line through the efforts of `rwk.match` and a mark for every other method."""
    lines = (HERE.parents[1] / "results" / "matching" / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    header, *record = map(json.loads, lines)
    places = [header["fields"].index(name) for name in ("seconds", "recovered")]
    sizes = sorted({line["cell"][1] for line in record})
    panels = new_figure(11.0, 3.2).subplots(ncols=len(sizes), sharex=True, sharey=True)
    names = list(dict.fromkeys(name for line in record for name in line["methods"]))
    efforts = [name for name in names if name.startswith("rwk")]
    for size, ax in zip(sizes, panels, strict=True):
        mine = [line["methods"] for line in record if line["cell"][1] == size]
        known = [name for name in names if all(name in methods for methods in mine)]
        means = {name: np.mean([[row[name][p] for p in places] for row in mine], axis=0) for name in known}
        line = np.array([means[name] for name in efforts if name in means])
        ax.plot(1e3 * line[:, 0], line[:, 1], linewidth=2.2, marker="o", label="rwk.match")
        for name in efforts:
            if name in means:
                effort, lift = name.partition(", ")[2] or "normal", 7 if name != "rwk.match" else -14
                point = 1e3 * means[name][0], means[name][1]
                ax.annotate(effort, point, (0, lift), textcoords="offset points", fontsize=7, ha="center")
        for mark, name in zip("sDv*^P", [name for name in names if name not in efforts], strict=True):
            place = [1e3 * means[name][0], means[name][1]] if name in means else [np.nan, np.nan]
            ax.plot(*place, linestyle="none", marker=mark, label=name)
        ax.set_xscale("log")
        ax.set_title(f"{size} nodes", fontsize=9, loc="left")
        ax.set_xlabel("ms per pair", fontsize=8)
    panels[0].set_ylabel("true pairs recovered", fontsize=8)
    panels[0].set_ylim(0, 1.08)
    panels[-1].legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
    save(panels[0], "matching")


def draw_active_learning() -> None:
    """How many of the best molecules are found after so many measurements, one line per way to choose."""
    record = json.loads((HERE.parents[1] / "results" / "active-learning.json").read_text(encoding="utf-8"))
    names = {"random": "at random", "improvement": "expected improvement", "thompson": "Thompson sampling"}
    ax = new_figure(6.4, 3.4).subplots()
    for row in record["rows"]:
        measured = [0, *(row["batch"] * (i + 1) for i in range(len(row["curve"])))]
        label = f"{names[row['acquisition']]} ({row['measurements']:.0f} for all)"
        ax.plot(measured, [0, *row["curve"]], label=label, linewidth=1.2 if row["acquisition"] == "random" else 2.2)
    ax.set_xlabel(f"measured molecules of {record['rows'][0]['n_molecules']} ({record['rows'][0]['dataset']})")
    ax.set_ylabel(f"of the {record['best']} best, found")
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    save(ax, "active-learning")


def draw_explanation() -> None:
    graphs, _ = planted_motif(40)
    kernel = rwk.RWKernel()
    classifier = rwk.IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs), graphs.targets)
    held_out, motif = planted_motif(2, random_state=7)
    why = explain(kernel, classifier, graphs, held_out[1])
    save(plot_explanation(why, n_alignments=1, marked=motif[1])[0], "explanation")


def draw_explorer(graphs: rwk.GraphSet) -> None:
    if not shutil.which("chromedriver"):
        print("explorer.png is unchanged: chromedriver is missing; install it with `make browser`")
        return
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from werkzeug.serving import make_server

    from rwk.explore.server import make_app
    from rwk.explore.state import Explorer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    explorer = Explorer(graphs)
    explorer.warm_up()
    server = make_server("127.0.0.1", 0, make_app(explorer).server, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--window-size=1440,1300",
    ):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.get(f"http://127.0.0.1:{server.server_port}/")
    time.sleep(3)
    browser.find_element("id", "search").send_keys("17\n")
    time.sleep(2)
    browser.save_screenshot(str(HERE / "explorer.png"))
    browser.quit()
    server.shutdown()
    Image.open(HERE / "explorer.png").convert("RGB").quantize(128).save(HERE / "explorer.png", optimize=True)


def save(ax: object, name: str) -> None:
    ax.figure.savefig(HERE / f"{name}.png", dpi=110, facecolor="white")
    print(HERE / f"{name}.png")


if __name__ == "__main__":
    main()
