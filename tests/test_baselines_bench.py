"""The benchmark of the baselines runs, and the methods that it compares agree."""

from __future__ import annotations

import pytest

pytest.importorskip("grakel", reason="GraKeL is not installed (extra: baselines)")
pytest.importorskip("ot", reason="POT is not installed (extra: baselines)")

from rwk.bench.baseline_times import alone, compare


def test_the_comparison_runs_and_agrees() -> None:
    found = compare("MUTAG", n_graphs=8, repeats=1)
    assert set(found["methods"]) == {"wl", "wl-oa", "ghk", "wl-pm", "wwl", "fgw"}
    for name, row in found["methods"].items():
        assert row["rwk_s"] > 0
        assert row["times_faster"] == pytest.approx(row["library_s"] / row["rwk_s"])
        if name not in ("wl-pm", "fgw"):
            assert row["largest_difference"] < 1e-9


def test_methods_no_library_has_are_timed() -> None:
    found = alone("MUTAG", methods=("p-wl", "hgk-sp"))
    assert set(found["methods"]) == {"p-wl", "hgk-sp"}
