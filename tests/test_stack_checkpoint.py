"""Stacks of networks that were stopped: they go on where they were, and end as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rwk.gram.kept import Kept
from rwk.runtime.backends import device_present

torch = pytest.importorskip("torch", reason="torch is not installed (extra: baselines)")

from rwk.baselines.networks import stack_checkpoint  # noqa: E402
from rwk.baselines.networks.stack_checkpoint import Checkpoint, StackFiles  # noqa: E402
from rwk.baselines.networks.stack_plan import Member  # noqa: E402
from rwk.baselines.networks.stacked_batches import SharedGraphs  # noqa: E402
from rwk.baselines.networks.stacked_training import Fitted, _Stack, train_together  # noqa: E402
from test_stacked_networks import CODES, GRAPHS, NEURAL, members_of, tensors_of, weights_of  # noqa: E402

EPOCHS = 9


class Stopped(Exception):
    """Somebody pressed Ctrl-C."""


@pytest.fixture(autouse=True)
def _kept_after_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_checkpoint, "SECONDS_BETWEEN", 0.0)


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of networks in the stack in each epoch of training that was begun."""
    found: list[int] = []
    true_learn = _Stack.learn
    monkeypatch.setattr(_Stack, "learn", lambda own, plan: found.append(len(own.rows)) or true_learn(own, plan))
    return found


def files_in(folder: Path) -> StackFiles:
    return StackFiles(Kept.at(folder, GRAPHS, "networks @0123456789"), "TOY-net")


def members(name: str, epochs: int = EPOCHS, *, validated: bool = True, patience: int = EPOCHS) -> list[Member]:
    """Three networks with dropout; the first and the last have little patience if any has."""
    found = []
    for number, (_, member) in enumerate(members_of(name, dropout=0.5, epochs=epochs)):
        own = member.options._replace(patience=patience if number != 1 else EPOCHS)
        member = member._replace(options=own)
        found.append(member if validated else member._replace(validate=np.empty(0, np.int64)))
    return found


def trained(
    members: list[Member], files: StackFiles | None = None, codes: Any = CODES, device: str = "cpu"
) -> list[Fitted]:
    if device != "cpu":  # where inputs have single precision
        members = [one._replace(network=one.network.float()) for one in members]
    return train_together(members, SharedGraphs.of(tensors_of(name_of(members), device), codes), files)


def name_of(members: list[Member]) -> str:
    kinds = {"PatchySanNetwork": "PATCHY-SAN", "DGCNNNetwork": "DGCNN", "CapsGNNNetwork": "CapsGNN"}
    return kinds.get(type(members[0].network).__name__, "GIN")


def stop_in(epoch: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Training is stopped at the beginning of this epoch; what is returned ends that."""
    true_halve = _Stack.halve_rates

    def halve_or_stop(own: _Stack, now: int) -> None:
        if now == epoch:
            raise Stopped
        true_halve(own, now)

    monkeypatch.setattr(_Stack, "halve_rates", halve_or_stop)
    return lambda: monkeypatch.setattr(_Stack, "halve_rates", true_halve)


def assert_equal(found: list[Fitted], wanted: list[Fitted]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.trained[1:4], other.trained[1:4])
        assert one.trained.history == other.trained.history
        np.testing.assert_array_equal(one.predicted, other.predicted)
        for name, value in weights_of(other.trained.network).items():
            torch.testing.assert_close(weights_of(one.trained.network)[name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NEURAL)
@pytest.mark.parametrize(("validated", "patience"), [(True, EPOCHS), (True, 1), (False, EPOCHS)])
@pytest.mark.parametrize("epoch", [2, 5])
def test_a_stopped_stack_ends_as_if_it_had_not_been_stopped(
    name: str, validated: bool, patience: int, epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when some networks have left the stack before, when learning rates were halved, and with dropout."""
    given = {"validated": validated, "patience": patience}
    wanted = trained(members(name, **given))
    go_on = stop_in(epoch, monkeypatch)
    with pytest.raises(Stopped):
        trained(members(name, **given), files_in(tmp_path))
    go_on()
    assert_equal(trained(members(name, **given), files_in(tmp_path)), wanted)


@pytest.mark.gpu
@pytest.mark.skipif(not device_present(), reason="there is no GPU here")
@pytest.mark.parametrize("name", NEURAL)
def test_a_stopped_stack_goes_on_on_a_gpu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are replayed there as CUDA graphs, which are captured anew when a run goes on."""
    wanted = trained(members(name), device="cuda")
    go_on = stop_in(6, monkeypatch)
    with pytest.raises(Stopped):
        trained(members(name), files_in(tmp_path), device="cuda")
    go_on()
    assert_equal(trained(members(name), files_in(tmp_path), device="cuda"), wanted)


def test_only_what_is_missing_is_trained(tmp_path: Path, learned: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = stop_in(6, monkeypatch)
    with pytest.raises(Stopped):
        trained(members("GIN"), files_in(tmp_path))
    go_on()
    assert learned == [3] * 5
    learned.clear()
    wanted = trained(members("GIN"), files_in(tmp_path))
    assert learned == [3] * (EPOCHS - 5)
    learned.clear()
    assert_equal(trained(members("GIN"), files_in(tmp_path)), wanted)
    assert learned == [], "a stack that has ended is not trained again"


def test_networks_that_left_the_stack_do_not_come_back(
    tmp_path: Path, learned: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(members("GIN", patience=1))
    whole = list(learned)
    assert whole[0] == 3
    assert whole[-1] < 3, "two of the three have no patience"
    learned.clear()
    go_on = stop_in(len(whole), monkeypatch)
    with pytest.raises(Stopped):
        trained(members("GIN", patience=1), files_in(tmp_path))
    go_on()
    trained(members("GIN", patience=1), files_in(tmp_path))
    assert learned == whole


def test_another_stack_is_not_taken_for_it(tmp_path: Path, learned: list[int]) -> None:
    trained(members("GIN"), files_in(tmp_path))
    whole = len(learned)
    other_seed = [one._replace(options=one.options._replace(seed=7)) for one in members("GIN")]
    for others, codes in ((members("GIN")[:2], CODES), (other_seed, CODES), (members("GIN"), 1 - CODES)):
        learned.clear()
        trained(others, files_in(tmp_path), codes)
        assert len(learned) == whole
    assert len(list(tmp_path.glob("TOY-net.stack-*.npz"))) == 4


def test_a_damaged_file_is_made_again(tmp_path: Path, learned: list[int]) -> None:
    wanted = trained(members("GIN"), files_in(tmp_path))
    (place,) = tmp_path.glob("TOY-net.stack-*.npz")
    place.write_bytes(place.read_bytes()[:1000])
    learned.clear()
    assert_equal(trained(members("GIN"), files_in(tmp_path)), wanted)
    assert len(learned) == EPOCHS


def test_files_are_written_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_checkpoint, "SECONDS_BETWEEN", 60.0)
    now = 100.0
    checkpoint = Checkpoint(files_in(tmp_path), "TOY-net.stack-0", clock=lambda: now)
    assert not checkpoint.due()
    now = 160.0
    assert checkpoint.due()
