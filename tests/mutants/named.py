"""Hand-made mutants: mistakes that a tired person could make, each with the test that must notice it."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One wrong change of a file under src/rwk, and the tests that must fail with it."""

    name: str
    file: str
    old: str  # occurs once in the file
    new: str
    tests: str  # arguments of pytest


PROMISES = "tests/test_promises.py"

NAMED = [
    Mutant(
        "the last futures are not waited for",
        "runtime/threads.py",
        "while len(running) >= 2 * n_threads or (running and chunk == count - 1):",
        "while len(running) >= 2 * n_threads:",
        f"{PROMISES} -k chunk",
    ),
    Mutant(
        "errors of threads are lost",
        "runtime/threads.py",
        "report(future.result())",
        "report(future.result() if future.exception() is None else 1)",
        f"{PROMISES} -k chunk",
    ),
    Mutant(
        "write_whole writes in place",
        "runtime/files.py",
        "        write(beside)\n        os.replace(beside, path)\n",
        "        write(path)\n",
        f"{PROMISES} -k whole",
    ),
    Mutant(
        "pruning with the best value in place of the k-th best",
        "retrieval/neighbours.py",
        "np.partition(values, k - 1)[k - 1]",
        "np.partition(values, k - 1)[0]",
        f"{PROMISES} -k pruned",
    ),
    Mutant(
        "pruning with the next value after the k-th best",
        "retrieval/neighbours.py",
        "np.partition(values, k - 1)[k - 1]",
        "np.partition(values, k)[k]",
        f"{PROMISES} -k pruned",
    ),
    Mutant(
        "a GW bound 10 % too high",
        "retrieval/bounds.py",
        "bound += 0.5 * weights.beta_global * (apart**2)",
        "bound += 0.55 * weights.beta_global * (apart**2)",
        f"{PROMISES} -k reached",
    ),
    Mutant(
        "graph digest without node_distances",
        "gram/manifest.py",
        '*EDGE_FIELDS, "node_distances"):',
        "*EDGE_FIELDS):",
        f"{PROMISES} -k digest",
    ),
    Mutant(
        "rows without SOLVER_VERSION",
        "gram/kept.py",
        "hashed([parameters.determinants(), form, SOLVER_VERSION])",
        "hashed([parameters.determinants(), form])",
        "tests/test_kept.py -k another_solver",
    ),
    Mutant(
        "tiles count the pairs that converged",
        "gram/executors.py",
        "n_bad = int((~results.converged).sum())",
        "n_bad = int(results.converged.sum())",
        f"{PROMISES} -k converge",
    ),
    Mutant(
        "the health of parts counts one part",
        "gram/health.py",
        "sum(part.n_not_converged for part in parts)",
        "parts[0].n_not_converged",
        f"{PROMISES} -k health",
    ),
    Mutant(
        "inner_repeats all alike",
        "learn/inner_folds.py",
        "random_state=1000 * seed + repeat",
        "random_state=1000 * seed",
        f"{PROMISES} -k repeats",
    ),
    Mutant(
        "Platt targets not softened",
        "learn/platt.py",
        "np.where(second, (n_second + 1) / (n_second + 2), 1 / (n_first + 2))",
        "np.where(second, 1.0 - 1e-9, 1e-9)",
        f"{PROMISES} -k platt",
    ),
    Mutant(
        "Platt targets of the other class",
        "learn/platt.py",
        "np.where(second, (n_second + 1) / (n_second + 2), 1 / (n_first + 2))",
        "np.where(second, (n_first + 1) / (n_first + 2), 1 / (n_second + 2))",
        f"{PROMISES} -k platt",
    ),
    Mutant(
        "proxy Hessian without the mixed terms",
        "learn/proxy.py",
        "np.where(positive[:, None] & positive, 1.0, np.abs(up[:, None] - up) / spread)",
        "np.where(positive[:, None] & positive, 1.0, 0.0)",
        f"{PROMISES} -k curvature",
    ),
    Mutant(
        "proxy Hessian of a positive kernel without the factor 2",
        "learn/proxy.py",
        "quarter * (2 * np.outer(v, v)",
        "quarter * (np.outer(v, v)",
        f"{PROMISES} -k curvature",
    ),
    Mutant(
        "no limit for a zip",
        "datasets/tu_files.py",
        "MAX_BYTES = 4 * 2**30",
        "MAX_BYTES = 4 * 2**40",
        f"{PROMISES} -k zip",
    ),
    Mutant(
        "labels of 32 bits",
        "datasets/tu_reader.py",
        "return values[:, 0].astype(np.int64), {}",
        "return values[:, 0].astype(np.int32).astype(np.int64), {}",
        f"{PROMISES} -k labels",
    ),
    Mutant(
        "labels narrowed by a wrong limit",
        "datasets/tu_reader.py",
        "values.max() < 2**31:",
        "values.max() <= 2**31:",
        f"{PROMISES} -k labels",
    ),
    Mutant(
        "float labels cut off",
        "graphs/graph.py",
        '"node_labels": np.dtype(np.int64)',
        '"node_labels": np.dtype(np.float64)',
        f"{PROMISES} -k labels",
    ),
    Mutant(
        "a missing extra is a traceback",
        "cli/app.py",
        "IndexError, ImportError) as error",
        "IndexError) as error",
        f"{PROMISES} -k sentence",
    ),
    Mutant(
        "a DOCTYPE without entities is accepted",
        "explore/upload.py",
        "    parser.StartDoctypeDeclHandler = reject\n",
        "",
        f"{PROMISES} -k doctype",
    ),
    Mutant(
        "a second press of Ctrl-C interrupts the clean-up",
        "cli/stopping.py",
        "        if not self.stopping:\n            self.stopping = True",
        "        if True:\n            self.stopping = True",
        "tests/test_stopping.py -k once",
    ),
    Mutant(
        "worker processes hear Ctrl-C",
        "cli/stopping.py",
        "        hear_ctrl_c(False)\n",
        "",
        "tests/test_stopping.py -k before",
    ),
]
