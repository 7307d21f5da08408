"""Survivors of `sample.py` that a person has looked at, and why no test can, or should, notice them."""

from __future__ import annotations

BATCH = "the size of a batch: results do not depend on it, only memory and time"
MARGIN = "the size of a safety margin: anything near it serves as well"
SAME = "the same program"
EXACT = "differs only where two numbers that are computed agree to the last bit"

JUDGED: dict[str, str] = {
    'convert/edge_lists.py: lines = [(number, line.split("#", [1 -> 2])[0].strip()) for number, line in '
    "enumerate(text.splitlines(), start=1)]": SAME + ": only what comes before the first # is used",
    "convert/grakel.py: return set(range(len(edges) if isinstance(edges, list) else edges.shape[[0 -> 1]]))": SAME
    + ": an adjacency matrix is square",
    "learn/likelihood.py: positive = vectors[:, values [> -> >=] 0]": SAME + ": an eigenvalue of 0 adds nothing",
    "learn/likelihood.py: equal = np.abs(apart) [<= -> <] rounding(values)": EXACT,
    "learn/likelihood.py: ratio = np.where(equal, (values [> -> >=] 0)[:, None].astype(np.float64), ratio)": EXACT,
    "learn/landmark_gp.py: kept = values [> -> >=] 1e-6 * values[-1]": EXACT,
    "learn/proxy.py: roots = np.roots([4 * quartic, 0.0, quadratic, -linear]) if quartic > 0 else "
    "np.array([[1.0 -> 2.0]])": SAME + ": no step is longer than 1",
    "learn/smo.py: c = values[t + 2] if values[t + 2] [> -> >=] c else c": SAME,
    "learn/svc_checks.py: near = get_close_matches(str(treatment), TREATMENTS, n=[1 -> 2])": SAME
    + ": only the first match is used",
    "experiment/protocol.py: seconds=[0.0 -> 1.0],": SAME + ": a blank that every record fills in",
    "experiment/predictions.py: score=score.inner_score or [0.0 -> 1.0],": SAME + ": this score is not looked at again",
    "experiment/regress_run.py: CURVE_SEEDS: Final = (0, 1, [2 -> 3])": "any three random splits serve",
    "experiment/timing.py: _run_once(graphs[np.arange(min([4 -> 5], len(graphs)))], name, parameters)": BATCH
    + " (what is run before the clock starts)",
    "experiment/json_lines.py: if len(whole) [< -> <=] len(content):": SAME + ": nothing is cut off a whole file",
    "datasets/tu_reader.py: if values.dtype == np.int64 and len(values) and values.min() > -(2[** -> *]31) and "
    "values.max() < 2**31:": BATCH,
    'gram/matrix.py: PAIRS_PER_BLOCK = {"cpu": 250_000, "exact": 250_000, "gpu": [8_000_000 -> 16000000]}': BATCH,
    "gram/executors.py: batch_size=[1 -> 2],": BATCH,
    "gram/budget.py: BYTES_PER_PAIR: Final = [160 -> 161]  # pair numbers and order, values and health, the padded "
    "tile and its encoding": MARGIN,
    "gram/tiles.py: return np.asarray([8.0 -> 9.0] * (n * n + 160.0 * n + 64.0))": MARGIN,
    "retrieval/landmarks.py: ROWS_AT_ONCE: Final = [2048 -> 2049]": BATCH,
    "retrieval/neighbours.py: worst = kth + SLACK * abs(kth) * ([100.0 -> 101.0] if self.settings.precision == "
    '"float32" else 1.0)': MARGIN,
}
