"""Files of records: nothing is lost in either format, and every line belongs to its own header."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwk.experiment import Score
from rwk.experiment.convert_records import convert_records
from rwk.experiment.json_lines import read_entries
from rwk.experiment.records import append_record, protocol_difference, read_records, resumable
from rwk.experiment.trial_records import TRIALS, Trial, append_trial, read_trials
from rwk.gram.kept import described
from rwk.parameters import Parameters
from rwk.transport.problem import SOLVER_VERSION
from score_records import repeat_of, score_of

CPU = {"rwk": "0.1.0", "solver": "1", "cpu": "one"}


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def headers_of(path: Path) -> list[dict[str, Any]]:
    return [line for line in lines_of(path) if "rwk" in line]


def write_old(path: Path, scores: list[Score]) -> None:
    """Lines of format 1: everything in every line."""
    with path.open("a") as file:
        file.writelines(json.dumps(asdict(score)) + "\n" for score in scores)


shares = st.floats(0, 1, allow_nan=False)
made = st.builds(
    Score,
    dataset=st.sampled_from(["MUTAG", "größer"]),
    method=st.sampled_from(["RWK", "WL"]),
    seed=st.integers(0, 3),
    fold=st.integers(0, 9),
    score=shares,
    n_correct=st.integers(0, 20),
    n_train=st.integers(1, 200),
    n_test=st.integers(1, 20),
    majority=shares,
    chosen=st.dictionaries(st.sampled_from(["setting", "C", "eta"]), st.sampled_from(["few", 10.0, 3, None])),
    inner_score=st.none() | shares,
    seconds=st.floats(0, 1e6),
    protocol=st.fixed_dictionaries(
        {"n_splits": st.just(10), "grid": st.just({"C": [1.0]})}, optional={"folds": st.sampled_from(["a", "b"])}
    ),
    versions=st.dictionaries(st.sampled_from(["rwk", "cpu", "commit"]), st.sampled_from(["", "1", "2"])),
).filter(lambda score: score.n_correct <= score.n_test)


@given(st.lists(made, min_size=1, max_size=12))
def test_what_is_written_is_read(scores: list[Score]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        for score in scores:
            append_record(path, score)
        last = {score.key: score for score in scores}
        assert read_records(path) == [last[key] for key in sorted(last)]
        assert [line["h"] for line in headers_of(path)] == list(range(len(headers_of(path))))


def test_counts_stand_for_exact_shares(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    exact = replace(score_of("MUTAG", "RWK", 0.8), inner_score=71 / 90)
    append_record(path, exact)
    append_record(path, replace(exact, fold=1, score=0.85, inner_score=0.123))
    _, first, second = lines_of(path)
    assert "score" not in first
    assert first["inner_right"] == 71
    assert (second["score"], second["inner"]) == (0.85, 0.123)


def test_one_header_serves_all_seeds_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    fingerprints = {0: "a", 1: "b"}
    for seed, folds in fingerprints.items():
        for score in repeat_of("MUTAG", "RWK", [0.8, 0.9], seed=seed, folds=folds):
            append_record(path, score, folds=fingerprints)
    assert len(headers_of(path)) == 1
    assert [score.protocol["folds"] for score in read_records(path)] == ["a", "a", "b", "b"]
    more = {**fingerprints, 2: "c"}
    for score in repeat_of("MUTAG", "RWK", [0.8, 0.9], seed=2, folds="c"):
        append_record(path, score, folds=more)
    assert [header["folds"] for header in headers_of(path)] == [{"0": "a", "1": "b"}, {"0": "a", "1": "b", "2": "c"}]


@pytest.mark.parametrize(
    "change",
    [
        {"versions": {**CPU, "cpu": "another"}},
        {"versions": {**CPU, "solver": "2"}},
        {"dataset": "PTC_MR"},
        {"method": "WL"},
        {"protocol": {"n_splits": 5, "folds": "f"}},
    ],
)
def test_what_differs_gets_a_header_of_its_own(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "r.jsonl"
    first = replace(score_of("MUTAG", "RWK", 0.8, protocol={"n_splits": 2, "folds": "f"}), versions=CPU)
    second = replace(first, fold=1, **change)
    for score in (first, second, replace(first, fold=2)):
        append_record(path, score)
    assert len(headers_of(path)) == 2
    assert [line["h"] for line in lines_of(path) if "rwk" not in line] == [0, 1, 0]
    assert sorted(read_records(path), key=lambda score: score.fold) == [first, second, replace(first, fold=2)]


def test_both_formats_share_a_file(tmp_path: Path) -> None:
    path, old = tmp_path / "r.jsonl", repeat_of("MUTAG", "RWK", [0.8, 0.9, 0.7])
    write_old(path, old[:2])
    append_record(path, old[2])
    assert read_records(path) == old
    assert len(headers_of(path)) == 1


def test_files_can_be_joined(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b")]
    groups = [repeat_of("MUTAG", method, [0.8, 0.9]) for method in ("RWK", "WL")]
    for path, group in zip(paths, groups, strict=True):
        for score in group:
            append_record(path, score)
    both = tmp_path / "both"
    both.write_bytes(b"".join(path.read_bytes() for path in paths))
    assert read_records(both) == [*groups[0], *groups[1]]
    # number 0 means the second file's header by now
    later = replace(groups[0][0], seed=5)
    append_record(both, later)
    assert later in read_records(both)


def _append_many(path: Path, method: str) -> None:
    for fold in range(40):
        append_record(path, score_of("MUTAG", method, 0.5, fold=fold))


def test_processes_can_share_a_file(tmp_path: Path) -> None:
    path, methods = tmp_path / "r.jsonl", [f"method {i}" for i in range(4)]
    processes = [get_context("spawn").Process(target=_append_many, args=(path, name)) for name in methods]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert read_records(path) == [score_of("MUTAG", name, 0.5, fold=fold) for name in methods for fold in range(40)]
    assert len(headers_of(path)) == 4


def test_a_torn_line_under_a_whole_header(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append_record(path, score_of("MUTAG", "RWK", 0.5))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert read_records(path) == []
    append_record(path, score_of("MUTAG", "RWK", 0.5))
    assert path.read_bytes() == whole


def test_a_line_without_its_header_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append_record(path, score_of("MUTAG", "RWK", 0.5))
    header, line = path.read_text().splitlines()
    path.write_text(f"{header}\n{line.replace(':0,', ':7,', 1)}\n")
    with pytest.raises(ValueError, match="line 2: not a record of an experiment; remove the line"):
        read_records(path)
    path.write_text("[1]\n")
    with pytest.raises(ValueError, match="line 1: not a record"):
        read_records(path)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"rwk":"records","format":3,"h":0}\n')
    with pytest.raises(ValueError, match="has format 3, this rwk reads up to 2; update rwk"):
        list(read_entries(path, "record"))


def test_parameters_of_settings_are_kept_but_not_compared() -> None:
    old = {"settings": {"one": "hops=1 @abc"}}
    new = {**old, "parameters": {"one": {"hops": 1, "backend": "gpu"}}}
    moved = {**old, "parameters": {"one": {"hops": 1, "backend": "cpu"}}}
    assert protocol_difference(old, new) == protocol_difference(new, old) == protocol_difference(new, moved) == ""
    other = {**new, "settings": {"one": "hops=1 @abd"}}
    assert protocol_difference(new, other) == "settings: one (recorded: hops=1 @abc, now: hops=1 @abd)"
    # a network's parameters are what it is
    assert "layers" in protocol_difference({"parameters": {"layers": 4}}, {"parameters": {"layers": 5}})


def test_a_run_goes_on_under_other_versions_but_not_under_another_protocol() -> None:
    scores = [replace(score, versions=CPU) for score in repeat_of("MUTAG", "RWK", [0.8, 0.9], folds="f")]
    assert resumable(scores, "r.jsonl", {0: {"n_splits": 2, "folds": "f"}}) == scores
    assert resumable(scores, "r.jsonl", {1: {}}) == []
    with pytest.raises(ValueError, match=r"r\.jsonl holds records of RWK on MUTAG made with another folds"):
        resumable(scores, "r.jsonl", {0: {"n_splits": 2, "folds": "g"}})


def test_records_of_an_earlier_solver_are_not_continued() -> None:
    made = {"n_splits": 2, "settings": {"one": "hops=1 @abc"}}
    scores = [
        replace(score, protocol=made, versions={"solver": "1"}) for score in repeat_of("MUTAG", "RWK", [0.8, 0.9])
    ]
    with pytest.raises(ValueError, match=r"r\.jsonl holds records .* version 1 of the solver, and this is version \d"):
        resumable(scores, "r.jsonl", {0: {"n_splits": 2, "settings": {"one": "hops=1 @abd"}}})


# conversion


def described_scores(method: str = "RWK", **settings: str) -> list[Score]:
    found = repeat_of("MUTAG", method, [0.8, 0.9], settings=settings or {"one": described(Parameters(hops=1))})
    return [replace(score, versions={"rwk": "0.1.0"}) for score in found]


def test_conversion_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "MUTAG-WL.jsonl"
    old = [*repeat_of("MUTAG", "WL", [0.8, 0.9]), *repeat_of("MUTAG", "WL", [0.7, 1.0], seed=1, folds="g")]
    old += [replace(score, seed=2, versions=CPU) for score in old[:2]]
    write_old(path, old[::-1])
    write_old(path, old[:1])
    assert convert_records(tmp_path) == [path]
    assert read_records(path) == old
    assert [header["folds"] for header in headers_of(path)] == [{"0": "f", "1": "g"}, {"2": "f"}]
    assert [line["h"] for line in lines_of(path) if "rwk" not in line] == [0, 0, 0, 0, 1, 1]
    written = path.read_bytes()
    assert convert_records(tmp_path) == []
    assert path.read_bytes() == written


def test_conversion_writes_settings_in_full(tmp_path: Path) -> None:
    path = tmp_path / "MUTAG-RWK.jsonl"
    meant = Parameters(hops=1, feature_metric="l2", debias=True, entropy=0.03)
    write_old(path, described_scores(one=described(meant), two=described(Parameters(), "bonds")))
    convert_records(tmp_path)
    for score in read_records(path):
        assert score.versions == {"rwk": "0.1.0", "solver": str(SOLVER_VERSION)}
        found = score.protocol["parameters"]
        assert Parameters(**found["one"]) == meant
        assert Parameters(**found["two"]) == Parameters()
        assert set(meant.asdict()) - set(found["one"]) == {"eta", "backend", "n_jobs", "variant"}


@pytest.mark.parametrize("words", ["hops=1 @0123456789", "no_such_parameter=1 @0123456789"])
def test_what_fingerprints_do_not_prove_is_not_written(tmp_path: Path, words: str) -> None:
    path, old = tmp_path / "MUTAG-RWK.jsonl", described_scores(one=words)
    write_old(path, old)
    convert_records(tmp_path)
    assert read_records(path) == old


def test_a_run_goes_on_from_converted_records(tmp_path: Path) -> None:
    path, old = tmp_path / "MUTAG-RWK.jsonl", described_scores()
    write_old(path, old)
    convert_records(tmp_path)
    assert len(resumable(read_records(path), path, {0: old[0].protocol})) == 2


def test_trials_are_converted(tmp_path: Path) -> None:
    path, setting = tmp_path / TRIALS, described(Parameters(hops=1))
    old = [
        Trial("B", "base", setting, "f g", 60, 3, (0.5, 0.75)),
        Trial("A", "all", f"{setting} + {described(Parameters())}", "f g", 60, 3, (0.5, 0.75)),
        Trial("B", "starts", f"{setting} 5 starts", "f g", 60, 3, (0.5, 0.25)),
        Trial("C", "base", "hops=1 @0123456789", "f g", 60, 3, (0.5, 0.25)),
    ]
    unversioned = [{key: value for key, value in asdict(trial).items() if key != "versions"} for trial in old]
    path.write_text("".join(json.dumps(line) + "\n" for line in unversioned))
    assert list(read_trials(path).values()) == old
    assert convert_records(tmp_path) == [path]
    assert list(read_trials(path).values()) == old  # in the same order, which tables keep
    assert [header["dataset"] for header in headers_of(path)] == ["B", "A", "C"]
    assert [bool(header["defaults"]) for header in headers_of(path)] == [True, True, False]
    later = replace(old[0], change="more", versions=CPU)
    append_trial(path, later)
    assert read_trials(path)["B", "more"] == later
    assert headers_of(path)[-1]["versions"] == CPU
    assert headers_of(path)[-1]["defaults"] == Parameters().asdict()


RESULTS = Path(__file__).parent.parent / "results"


@pytest.mark.skipif(not RESULTS.exists(), reason="only a checkout has results")
def test_the_stored_results_are_short_and_complete() -> None:
    """Under 4 MB; every setting of RWK and its variants is written in full."""
    assert sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()) < 4e6
    for path in RESULTS.glob("*-*.jsonl"):
        headers = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('{"rwk":')]
        assert headers, f"{path} has lines of format 1: python -m rwk.experiment.convert_records results"
        for protocol in (json.loads(header)["protocol"] for header in headers):
            assert protocol.get("parameters", {}).keys() >= protocol.get("settings", {}).keys()
