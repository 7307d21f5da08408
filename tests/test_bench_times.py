"""`rwk bench`: fair rounds, the noise of the computer, and no record of a busy one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from rwk import Parameters, as_graphs
from rwk.bench import cpu_times
from rwk.bench.step_times import step_shares
from rwk.cli.app import app
from rwk.represent import represent
from rwk.runtime import machine


def test_slow_contenders_get_fewer_pairs_and_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, cost = [0.0], {"quick": 2.0**-10, "slow": 2.0**-7, "endless": 1.0}
    monkeypatch.setattr(cpu_times.time, "thread_time", lambda: clock[0])

    def solver(name: str) -> cpu_times.Solver:
        def solve(count: int) -> None:
            clock[0] += count * cost[name]

        return solve

    counts, seconds = cpu_times._rounds({name: solver(name) for name in cost}, 400, 5)
    assert counts == {"quick": 400, "slow": 128, "endless": cpu_times.SOME}
    assert {name: len(each) for name, each in seconds.items()} == {"quick": 5, "slow": 5, "endless": 1}
    for name, each in seconds.items():
        assert each == pytest.approx([cost[name]] * len(each))
        assert cpu_times._spread(each) == pytest.approx(0.0, abs=1e-9)
    assert cpu_times._ratios({"rwk float64": [1.0, 2.0, 4.0], "other": [10.0, 10.0]}, "rwk float64") == {"other": 7.5}


def test_no_record_of_a_busy_computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "record.json"
    monkeypatch.setattr(machine, "busy_share", lambda: 0.5)
    monkeypatch.setattr(cpu_times, "compare", lambda name, n_graphs: pytest.fail("timed all the same"))
    done = CliRunner().invoke(app, ["bench", "--output", str(output)])
    assert isinstance(done.exception, ValueError)
    assert "other programs use 50%" in str(done.exception)
    assert "--busy" in str(done.exception)
    assert not output.exists()


def test_busy_share_counts_what_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([(100, 200), (130, 300)])
    monkeypatch.setattr(machine, "_processor_times", lambda: next(readings))
    assert machine.busy_share(0.0) == pytest.approx(0.7)
    monkeypatch.setattr(machine, "_processor_times", lambda: None)
    assert 0.0 <= machine.busy_share(0.0) <= 1.0


def test_steps_need_a_group_of_small_pairs() -> None:
    graphs = as_graphs([nx.path_graph(3), nx.path_graph(4)])
    settings = Parameters().checked()
    measures, _ = represent(graphs, settings)
    with pytest.raises(ValueError, match="here are 1; use more graphs"):
        step_shares(measures, np.array([[0, 1]]), settings.cost_weights(), settings.scg_options())


@pytest.mark.skipif(not os.environ.get("RWK_SLOW"), reason="takes 40 s; make coverage sets RWK_SLOW=1")
def test_the_table_of_a_few_graphs(tmp_path: Path) -> None:
    """Every contender solves the same pairs, and the record has its time, the steps, and the noise."""
    pytest.importorskip("ot", reason="POT is in the extra 'baselines'")
    pytest.importorskip("grakel", reason="GraKeL carries MUTAG")
    output = tmp_path / "record.json"
    arguments = ["bench", "--datasets", "MUTAG", "--graphs", "8", "--busy", "--output", str(output)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(output.read_text())["datasets"]
    assert len(row["microseconds"]) == 8
    assert all(value > 0 for value in row["microseconds"].values())
    assert set(row["faster than"]["float64"]) < set(row["microseconds"])
    assert len(row["steps"]) == 7
