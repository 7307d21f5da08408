"""The method again, slow and plain, with numpy only: read it to learn the method; every backend is compared with it.

    1  one graph:   matrices, colours, signals, embeddings, structure          -> Measure
    2  two graphs:  costs of pairing their nodes                               -> Problem
    3  the objective H of a coupling, term by term, and its gradient
    4  the solver:  Sinkhorn, rounding, conditional gradient with line search
    5  from graphs to numbers: scales, align, a matrix, debias

A graph is anything with the fields of `rwk.Graph`, and settings `p` are anything with the fields of `rwk.Parameters`.
Symbols: source graph G with n nodes i, j and weights mu; target graph H with m nodes k, l and weights nu; gamma (n, m)
is the coupling. R1, R2, ... are the readings of METHOD.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

# ---------------------------------------------------------------- 1: one graph


class Measure(NamedTuple):
    """Everything that the solver knows of one graph."""

    weights: Any  # (n,) sum 1
    degrees: Any  # (n,)
    columns: dict[Any, Any]  # feature vectors by column: name -> (n,); a column that a graph lacks is 0
    colours: list[list[Any]]  # one list of n colours per Weisfeiler-Lehman round
    returns: Any  # (n, 50) return probabilities, or (n, 0) if they are left out
    embedding: Any  # E (n, k)
    signs: Any  # (n, k) if embeddings are compared by the Hamming distance of signs, else None
    structure: Any  # C_P (n, n)
    laplacian: Any  # L (n, n)


def adjacency(graph: Any) -> Any:
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    for e, (i, j) in enumerate(graph.edges):
        A[i, j] = A[j, i] = 1.0 if graph.edge_weights is None else graph.edge_weights[e]
    return A


def laplacian(A: Any, kind: str = "normalized") -> Any:
    """I - D^-1/2 A D^-1/2, or D - A; a node of degree 0 has a zero row and column (R1)."""
    d = A.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(d) - A
    L = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            if d[i] > 0 and d[j] > 0:
                L[i, j] = (i == j) - A[i, j] / np.sqrt(d[i] * d[j])
    return L


def neighbours(graph: Any) -> list[list[tuple[int, Any]]]:
    """For each node its neighbours, each with the label of the edge between them."""
    near: list[list[tuple[int, Any]]] = [[] for _ in range(graph.n_nodes)]
    for e, (i, j) in enumerate(graph.edges):
        label = None if graph.edge_labels is None else int(graph.edge_labels[e])
        near[i].append((j, label))
        near[j].append((i, label))
    return near


def wl_colours(graph: Any, rounds: int, *, edge_labels: bool = False) -> list[list[Any]]:
    """Weisfeiler-Lehman colours of rounds 0..rounds, as text: own colour and multiset of the neighbours' colours."""
    near = neighbours(graph)
    if graph.node_labels is not None:
        colour = [f"label {label}" for label in graph.node_labels]
    else:
        colour = [f"degree {len(around)}" for around in near]
    colours = [colour]
    for _ in range(rounds):
        seen = [sorted((colour[j], str(label) if edge_labels else "") for j, label in around) for around in near]
        colour = [f"({own} | {others})" for own, others in zip(colour, seen, strict=True)]
        colours.append(colour)
    return colours


def node_rarity(fitted: list[Any], graph: Any) -> list[float]:
    """Mean over rounds 0..3 of log((1 + N) / (1 + n)), n of the N fitted graphs having the colour of a node."""
    seen = [[set(row) for row in wl_colours(other, 3)] for other in fitted]
    found = [0.0] * graph.n_nodes
    for r, row in enumerate(wl_colours(graph, 3)):
        for i, colour in enumerate(row):
            having = sum(colour in rounds[r] for rounds in seen)
            found[i] += np.log((1 + len(fitted)) / (1 + having)) / 4
    return found


def signals(graph: Any, p: Any, colours: list[list[Any]], scale: dict[str, Any]) -> dict[Any, Any]:
    """X by columns: standardised attributes, and one-hot colours of every round."""
    X: dict[Any, Any] = {}
    if p.feature_metric == "hamming" or (p.feature_metric == "product" and p.attribute_weight == 0):
        return X
    if graph.node_attributes is not None:
        width = graph.node_attributes.shape[1]
        mean, std = scale.get("attribute_mean", np.zeros(width)), scale.get("attribute_std", np.ones(width))
        block = (graph.node_attributes - np.asarray(mean)) / np.asarray(std)
        for r, smooth in enumerate(smoothed(block, adjacency(graph), p.attribute_rounds)):
            X.update({("attribute", r, c): smooth[:, c] for c in range(width)})
    if p.feature_metric != "product" and (graph.node_labels is not None or graph.node_attributes is None):
        for r, colour in enumerate(colours):
            X.update({("colour", r, c): np.array([float(c == own) for own in colour]) for c in set(colour)})
    return X


def smoothed(block: Any, A: Any, rounds: int) -> list[Any]:
    """The block itself, then one block per round, which moves each node half-way to the mean of its neighbours."""
    blocks, d = [block], A.sum(axis=1)
    for _ in range(rounds):
        x = blocks[-1].copy()
        for i in range(len(A)):
            if d[i] > 0:
                x[i] = 0.5 * (blocks[-1][i] + A[i] @ blocks[-1] / d[i])
        blocks.append(x)
    return blocks


def local_variation(x: Any, L: Any, hops: int) -> Any:
    """|x - L^hops x / lambda_max|; without edges lambda_max is 0, and this is |x| (R2)."""
    largest = np.linalg.eigvalsh(L)[-1]
    if largest < 1e-9:
        return np.abs(x)
    return np.abs(x - np.linalg.matrix_power(L, hops) @ x / largest)


def feature_columns(X: dict[Any, Any], L: Any, hops: int) -> dict[Any, Any]:
    """a = x (+) Delta(x); with 0 hops there is no Delta part."""
    if hops == 0:
        return X
    return X | {("variation", *name): local_variation(x, L, hops) for name, x in X.items()}


def return_probabilities(A: Any, steps: int = 50) -> Any:
    """(P^k)_ii for k = 1..steps, P = D^-1/2 (A + I) D^-1/2 and D the row sums of A + I (R18): shape (n, steps)."""
    lazy = A + np.eye(len(A))
    root = np.sqrt(lazy.sum(axis=1))
    P = lazy / np.outer(root, root)
    return np.stack([np.diag(np.linalg.matrix_power(P, k)) for k in range(1, steps + 1)], axis=1)


def heat(L: Any, t: float) -> Any:
    """exp(-t L) by the Taylor series of a small multiple, squared repeatedly."""
    halvings = int(np.ceil(np.log2(max(t * np.abs(L).sum(axis=1).max(initial=0.0), 1.0)))) + 3
    small = -t * L / 2**halvings
    power = total = np.eye(len(L))
    for k in range(1, 20):
        power = power @ small / k
        total = total + power
    for _ in range(halvings):
        total = total @ total
    return total


def time_ladder(length: int) -> Any:
    """Times from 0.1 to 50, log-spaced."""
    return np.exp(np.linspace(np.log(0.1), np.log(50.0), length))


def heat_signature(L: Any, dim: int) -> Any:
    """e_i = (exp(-t L))_ii at log-spaced times."""
    return np.stack([np.diag(heat(L, t)) for t in time_ladder(dim)], axis=1)


def canonical_start(L: Any, dim: int) -> tuple[Any, Any]:
    """Start of F and R (R4): standardised heat signatures, times taken in turn; flat columns are 0.

    Columns have different lengths, so that no two are equal if the signatures of different times are.
    """
    half = dim // 2
    signature = heat_signature(L, 2 * half)
    start = np.zeros_like(signature)
    for c in range(2 * half):
        centred = signature[:, c] - signature[:, c].mean()
        spread = np.sqrt((centred**2).mean())
        if spread > 1e-5:
            start[:, c] = centred / spread / np.sqrt(half) * (1 + 0.5 * np.cos(c**2 + 1))
    return start[:, 0::2], start[:, 1::2]


def alike(L: Any) -> Any:
    """The matrix (n, n) that averages over classes of nodes that cannot be told apart; its rows sum to 1.

    Nodes of a class have the same heat signature, and the same entries of L to nodes of each class.
    """
    seen: list[Any] = [tuple(np.round(row, 8) + 0.0) for row in heat_signature(L, 6)]
    entries = np.round(L, 8) + 0.0
    for _ in range(len(L)):
        around = [sorted((str(seen[j]), entries[i, j]) for j in np.flatnonzero(L[i])) for i in range(len(L))]
        names = {key: c for c, key in enumerate(sorted({str(pair) for pair in zip(seen, around, strict=True)}))}
        seen = [names[str(pair)] for pair in zip(seen, around, strict=True)]
    same = np.array([[float(a == b) for b in seen] for a in seen])
    return same / same.sum(axis=1, keepdims=True)


def attention_loss(F: Any, R: Any, logits: Any, A: Any, heats: list[Any], n_walks: float) -> float:
    """sum |-Z log s(F R^T) - [A = 0] log(1 - s(F R^T))| + |logits|^2 / 2, Z = walks * sum_t softmax_t M_t."""
    q = np.exp(logits) / np.exp(logits).sum()
    Z = n_walks * sum(q_t * M for q_t, M in zip(q, heats, strict=True))
    scores = F @ R.T
    log_sigmoid, log_rest = -np.logaddexp(0.0, -scores), -np.logaddexp(0.0, scores)
    return float(np.abs(-Z * log_sigmoid - (A == 0) * log_rest).sum() + 0.5 * (logits**2).sum())


def attention_gradient(F: Any, R: Any, logits: Any, A: Any, heats: list[Any], n_walks: float) -> tuple[Any, Any, Any]:
    """Derivatives of the loss by F, R and the logits."""
    q = np.exp(logits) / np.exp(logits).sum()
    Z = n_walks * sum(q_t * M for q_t, M in zip(q, heats, strict=True))
    scores = F @ R.T
    sigmoid = 1.0 / (1.0 + np.exp(-scores))
    by_scores = (A == 0) * sigmoid - Z * (1.0 - sigmoid)
    by_q = np.array([n_walks * (M * np.logaddexp(0.0, -scores)).sum() for M in heats])
    return by_scores @ R, by_scores.T @ F, q * (by_q - q @ by_q) + logits


def finite_differences(function: Any, x: Any, step: float = 1e-6) -> Any:
    """The gradient of a function of one array by finite differences, entry by entry."""
    slope = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        e = np.zeros_like(x)
        e[place] = step
        slope[place] = (function(x + e) - function(x - e)) / (2 * step)
    return slope


def attention_embedding(A: Any, *, dim: int, walk_length: int, n_walks: float, epochs: int = 200) -> Any:
    """[F | R] after Adam from the canonical start, at the learning rate with the lowest final loss.

    Nodes that cannot be told apart have equal rows before a step and, up to rounding errors, after it. The loss would
    magnify these errors, so the rows are averaged after every step.
    """
    L = laplacian(A)
    mean = alike(L)
    heats = [heat(L, t) for t in range(1, walk_length + 1)]
    best, best_loss = None, np.inf
    for rate in (1e-4, 1e-3, 1e-2, 1e-1):
        x = [*canonical_start(L, dim), np.zeros(walk_length)]
        first, second = [np.zeros_like(v) for v in x], [np.zeros_like(v) for v in x]
        for t in range(1, epochs + 1):
            for v, m, s, g in zip(x, first, second, attention_gradient(*x, A, heats, n_walks), strict=True):
                m[...] = 0.9 * m + 0.1 * g
                s[...] = 0.999 * s + 0.001 * g**2
                v -= rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(s) + 1e-8)
            x[0], x[1] = mean @ x[0], mean @ x[1]
        loss = attention_loss(*x, A, heats, n_walks)
        if loss < best_loss:
            best, best_loss = np.concatenate(x[:2], axis=1), loss
    return best


def signs(E: Any) -> Any:
    """Three-valued signs of the centred coordinates (R5)."""
    centred = E - E.mean(axis=0)
    return np.where(np.abs(centred) < 1e-9, 0, np.sign(centred))


def row_distances(E: Any, F: Any, hamming: bool) -> Any:
    """Distance of each row of E to each row of F: share of coordinates that differ, or Euclidean."""
    out = np.zeros((len(E), len(F)))
    for i in range(len(E)):
        for k in range(len(F)):
            out[i, k] = np.mean(E[i] != F[k]) if hamming else np.sqrt(((E[i] - F[k]) ** 2).sum())
    return out


def path_lengths(graph: Any, lengths: Any = None) -> Any:
    """Shortest paths by Floyd and Warshall; unreachable pairs get the largest finite length plus 1 (R6)."""
    n = graph.n_nodes
    D = np.where(np.eye(n) > 0, 0.0, np.inf)
    for e, (i, j) in enumerate(graph.edges):
        D[i, j] = D[j, i] = 1.0 if lengths is None else lengths[e]
    for middle in range(n):
        D = np.minimum(D, D[:, middle, None] + D[None, middle, :])
    return np.where(np.isfinite(D), D, D[np.isfinite(D)].max() + 1.0)


def structure_cost(kind: str, graph: Any, L: Any, E: Any, S: Any) -> Any:
    """C_P by its name; S are the signs of the embedding E, or None."""
    if kind == "embedding":
        return row_distances(E, E, False) if S is None else row_distances(S, S, True)
    if kind == "shortest-path":
        return path_lengths(graph)
    if kind == "edge-distance":
        return path_lengths(graph, None if graph.edge_attributes is None else graph.edge_attributes[:, 0])
    if kind == "adjacency":
        return adjacency(graph)
    if kind == "laplacian":
        return L
    return row_distances(heat(L, 1.0), heat(L, 1.0), False)  # "heat-kernel"


def represent(graph: Any, p: Any, scale: dict[str, Any]) -> Measure:
    """The measure of one graph; nodes of weight 0 are removed at the end (R11)."""
    A, n = adjacency(graph), graph.n_nodes
    L = laplacian(A)
    colours = wl_colours(graph, p.wl_rounds, edge_labels=p.wl_edge_labels)
    columns = feature_columns(signals(graph, p, colours, scale), L, p.hops)
    if p.embedding == "attention":
        dim = p.embedding_dim
        E = attention_embedding(A, dim=dim, walk_length=p.walk_length, n_walks=p.n_walks)
    else:
        E = heat_signature(L, p.embedding_dim)
    hamming = {"auto": p.embedding == "attention", "hamming": True, "euclidean": False}[p.structure_metric]
    S = signs(E) if hamming else None
    C = structure_cost(p.structure, graph, L, E, S)
    walks = p.feature_metric == "product" and p.return_weight > 0
    R = return_probabilities(A) if walks else np.zeros((n, 0))
    mu = np.ones(n) if graph.node_weights is None else graph.node_weights
    kept = mu > 0
    return Measure(
        weights=mu[kept] / mu.sum(),
        degrees=A.sum(axis=1)[kept],
        columns={name: x[kept] for name, x in columns.items()},
        colours=[[c for c, k in zip(colour, kept, strict=True) if k] for colour in colours],
        returns=R[kept],
        embedding=E[kept],
        signs=None if S is None else S[kept],
        structure=C[np.ix_(kept, kept)],
        laplacian=laplacian(A, p.laplacian)[np.ix_(kept, kept)],
    )


# ---------------------------------------------------------------- 2: two graphs


class Units(NamedTuple):
    """The cost of one unit of each distance; it includes the scales and the weight between the metrics."""

    l2: float = 1.0
    hamming: float = 1.0
    neighbourhood: float = 1.0
    structure: float = 1.0
    product: float = 0.0  # what the product cost costs at most; 0 where it is not the metric
    returns: float = 1.0  # p_r / m_r
    attributes: float = 1.0  # p_a / m_a


class Problem(NamedTuple):
    """Everything that the solver sees of a pair."""

    mu: Any
    nu: Any
    feature: Any  # C_V (n, m)
    neighbour: Any  # C_N (n, m)
    laplacians: tuple[Any, Any]
    embeddings: tuple[Any, Any]
    misfit: Any  # (n, m, n, m): |C_P,mu(i, j) - C_P,nu(k, l)|^2 / 2 at [i, k, j, l]
    prior: Any  # gamma' (n, m)


def l2_cost(G: Measure, H: Measure) -> Any:
    squares = np.zeros((len(G.weights), len(H.weights)))
    for name in G.columns.keys() | H.columns.keys():
        x, y = G.columns.get(name, np.zeros(len(G.weights))), H.columns.get(name, np.zeros(len(H.weights)))
        squares += (x[:, None] - y[None, :]) ** 2
    return np.sqrt(squares)


def hamming_cost(G: Measure, H: Measure) -> Any:
    """Share of Weisfeiler-Lehman rounds whose colours differ (R3)."""
    differ = [[[a != b for b in y] for a in x] for x, y in zip(G.colours, H.colours, strict=True)]
    return np.mean(np.array(differ, float), axis=0)


def product_cost(G: Measure, H: Measure, returns: float = 1.0, attributes: float = 1.0) -> Any:
    """1 - w exp(-returns |r_x - r_y|) exp(-attributes |a_x - a_y|), w the share of rounds that agree (R18)."""
    near = np.exp(-returns * row_distances(G.returns, H.returns, False)) * np.exp(-attributes * l2_cost(G, H))
    return 1.0 - (1.0 - hamming_cost(G, H)) * near


def neighbour_cost(G: Measure, H: Measure) -> Any:
    if G.signs is None:
        return row_distances(G.embedding, H.embedding, False)
    return row_distances(G.signs, H.signs, True)


def degree_prior(d: Any, e: Any) -> Any:
    """1 - |d - e| / max(d, e), with 0/0 taken as equal degrees, floored, as a joint distribution (R8)."""
    prior = np.ones((len(d), len(e)))
    for i in range(len(d)):
        for k in range(len(e)):
            if max(d[i], e[k]) > 0:
                prior[i, k] = max(1.0 - abs(d[i] - e[k]) / max(d[i], e[k]), 1e-6)
    return prior / prior.sum()


def pair_up(G: Measure, H: Measure, units: Units) -> Problem:
    C, D = units.structure * G.structure, units.structure * H.structure
    feature = np.zeros((len(G.weights), len(H.weights)))
    if units.product:
        feature = units.product * product_cost(G, H, units.returns, units.attributes)
    if units.l2:
        feature = feature + units.l2 * l2_cost(G, H)
    if units.hamming:
        feature = feature + units.hamming * hamming_cost(G, H)
    return Problem(
        mu=G.weights,
        nu=H.weights,
        feature=feature,
        neighbour=units.neighbourhood * neighbour_cost(G, H),
        laplacians=(G.laplacian, H.laplacian),
        embeddings=(G.embedding, H.embedding),
        misfit=0.5 * (C[:, None, :, None] - D[None, :, None, :]) ** 2,
        prior=degree_prior(G.degrees, H.degrees),
    )


# ---------------------------------------------------------------- 3: the objective

# `w` are weights of the terms as `rwk.transport.problem.CostWeights` names them; a negative `degree_weight` is the
# printed sign of the KL term ("repel", R9).


def barycentres(problem: Problem, gamma: Any) -> tuple[Any, Any]:
    """The barycentre of each source node in the target's embedding, and vice versa, divided by n (R11)."""
    E_mu, E_nu = problem.embeddings
    to_target = gamma @ E_nu / (len(problem.mu) * problem.mu)[:, None]
    to_source = gamma.T @ E_mu / (len(problem.nu) * problem.nu)[:, None]
    return to_target, to_source


def log_ratio(problem: Problem, w: Any, gamma: Any) -> Any:
    """log(gamma / prior), the prior with the mass of gamma."""
    return np.log(np.maximum(gamma, 1e-300)) - np.log(w.mass * problem.prior)


def terms(problem: Problem, w: Any, gamma: Any) -> dict[str, float]:
    """H, term by term."""
    (L_mu, L_nu), (B_mu, B_nu) = problem.laplacians, barycentres(problem, gamma)
    return {
        "feature": float((gamma * problem.feature).sum()),
        "neighbourhood": w.beta_local * float((gamma * problem.neighbour).sum()),
        "laplacian_source": w.beta_local * w.laplacian_source * float(np.trace(B_mu.T @ L_mu @ B_mu)),
        "laplacian_target": w.beta_local * w.laplacian_target * float(np.trace(B_nu.T @ L_nu @ B_nu)),
        "ridge": w.beta_local * w.ridge / 2 * float((gamma**2).sum()),
        "gromov_wasserstein": w.beta_global * float(np.einsum("ikjl,ik,jl->", problem.misfit, gamma, gamma)),
        "degree_prior": w.beta_global * w.degree_weight * float((gamma * log_ratio(problem, w, gamma)).sum()),
    }


def objective(problem: Problem, w: Any, gamma: Any) -> float:
    return sum(terms(problem, w, gamma).values())


def curvature(problem: Problem, w: Any, delta: Any) -> float:
    """The coefficient of alpha^2 in H(gamma + alpha delta), without the KL term."""
    quadratic = ("laplacian_source", "laplacian_target", "ridge", "gromov_wasserstein")
    named = terms(problem, w, delta)
    return sum(named[name] for name in quadratic)


def gradient(problem: Problem, w: Any, gamma: Any) -> Any:
    (L_mu, L_nu), (E_mu, E_nu) = problem.laplacians, problem.embeddings
    B_mu, B_nu = barycentres(problem, gamma)
    n_mu, m_nu = (len(problem.mu) * problem.mu)[:, None], (len(problem.nu) * problem.nu)[:, None]
    source = 2 * (L_mu @ B_mu) @ E_nu.T / n_mu
    target = (2 * (L_nu @ B_nu) @ E_mu.T / m_nu).T
    return (
        problem.feature
        + w.beta_local * (problem.neighbour + w.laplacian_source * source + w.laplacian_target * target)
        + w.beta_local * w.ridge * gamma
        + w.beta_global * 2 * np.einsum("ikjl,jl->ik", problem.misfit, gamma)
        + w.beta_global * w.degree_weight * (1 + log_ratio(problem, w, gamma))
    )


# ---------------------------------------------------------------- 4: the solver


def log_sum(x: Any, axis: int) -> Any:
    """log sum exp along an axis."""
    peak = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - peak).sum(axis=axis)) + np.squeeze(peak, axis)


def sinkhorn(g: Any, mu: Any, nu: Any, entropy: float, rounds: int) -> Any:
    """diag(u) K diag(v) with K = exp(-(g - min g) / entropy), from u = 1, each round first v, then u; on logarithms."""
    log_K = -(g - g.min()) / entropy
    log_u, log_v = np.zeros(len(mu)), np.zeros(len(nu))
    for _ in range(rounds):
        log_v = np.log(nu) - log_sum(log_K + log_u[:, None], 0)
        log_u = np.log(mu) - log_sum(log_K + log_v[None, :], 1)
    return np.exp(log_u[:, None] + log_K + log_v[None, :])


def rounded(plan: Any, mu: Any, nu: Any) -> Any:
    """Make the marginals exact (R13): shrink rows, shrink columns, distribute the missing mass."""
    plan = plan * np.minimum(1.0, mu / plan.sum(axis=1))[:, None]
    columns = plan.sum(axis=0)
    plan = plan * np.where(columns > nu, nu / np.where(columns > 0, columns, 1.0), 1.0)[None, :]
    e_r, e_c = np.maximum(mu - plan.sum(axis=1), 0.0), np.maximum(nu - plan.sum(axis=0), 0.0)
    return plan if e_r.sum() == 0 else plan + np.outer(e_r, e_c) / e_r.sum()


def staying(logs: Any, weights: Any, mass: float) -> float:
    """The z with sum_i w_i / (1 + exp(z - l_i)) = mass, by bisection; -inf if the weights are no more than the mass."""
    rest = weights.sum() - mass
    if rest <= 1e-13 * weights.sum():
        return -np.inf
    low, high = (edge - np.log(mass / rest) for edge in (logs.min() - 1e-9, logs.max() + 1e-9))
    for _ in range(200):
        z = (low + high) / 2
        stayed = (weights / (1 + np.exp(np.clip(logs - z, -700, 700)))).sum()
        low, high = (z, high) if stayed < rest else (low, z)
    return z


def partial_sinkhorn(g: Any, mu: Any, nu: Any, mass: float, entropy: float, rounds: int) -> Any:
    """U K V with row sums mu - x U, column sums nu - y V and this mass; each round first (V, y), then (U, x)."""
    log_K, log_u, log_v = -g / entropy, np.zeros(len(mu)), np.zeros(len(nu))
    for _ in range(rounds):
        received = log_sum(log_K + log_u[:, None], 0)
        log_v = np.log(nu) - np.logaddexp(staying(received, nu, mass), received)
        sent = log_sum(log_K + log_v[None, :], 1)
        log_u = np.log(mu) - np.logaddexp(staying(sent, mu, mass), sent)
    return np.exp(log_u[:, None] + log_K + log_v[None, :])


def rounded_to_mass(plan: Any, mu: Any, nu: Any, mass: float) -> Any:
    """R13 for a given mass: shrink rows, shrink columns, then shrink all or distribute the missing mass."""
    plan = plan * np.minimum(1.0, mu / plan.sum(axis=1))[:, None]
    plan = plan * np.minimum(1.0, nu / np.maximum(plan.sum(axis=0), 1e-300))[None, :]
    if plan.sum() >= mass:
        return plan * mass / plan.sum()
    e_r, e_c = np.maximum(mu - plan.sum(axis=1), 0.0), np.maximum(nu - plan.sum(axis=0), 0.0)
    room = e_r.sum() * e_c.sum()
    return plan if room == 0 else plan + (mass - plan.sum()) * np.outer(e_r, e_c) / room


def plan_of(g: Any, problem: Problem, mass: float, entropy: float, rounds: int) -> Any:
    """The feasible plan that Sinkhorn rounds find for the costs g."""
    mu, nu = problem.mu, problem.nu
    if mass == 1.0:
        return rounded(sinkhorn(g, mu, nu, entropy, rounds), mu, nu)
    return rounded_to_mass(partial_sinkhorn(g, mu, nu, mass, entropy, rounds), mu, nu, mass)


class Solution(NamedTuple):
    value: float
    terms: dict[str, float]
    coupling: Any
    n_iter: int
    gap: float
    history: list[tuple[float, float]]  # (H, gap) before each step


def solve(problem: Problem, w: Any, options: Any, start: Any = None) -> Solution:
    """Sinkhorn conditional gradient, Algorithm 1; from mu nu^T, or from a mixture with a sharp plan of given costs."""
    gamma = w.mass * np.outer(problem.mu, problem.nu)
    if start is not None:
        gamma = 0.1 * gamma + 0.9 * plan_of(start, problem, w.mass, 0.02, options.sinkhorn_iter)
    kl = w.beta_global * w.degree_weight
    gap, n_iter, history = np.inf, 0, []
    for _ in range(options.max_iter):
        g = gradient(problem, w, gamma)
        direction = plan_of(g, problem, w.mass, options.entropy, options.sinkhorn_iter)
        delta = direction - gamma
        gap = -float((delta * g).sum())
        history.append((objective(problem, w, gamma), gap))
        if gap <= options.tol:
            break
        step = line_search(problem, w, gamma, delta, -gap, 1.0 if kl == 0 else 0.99)
        if step == 0.0:
            break
        gamma = np.maximum(gamma + step * delta, 0.0)
        n_iter += 1
    named = terms(problem, w, gamma)
    return Solution(sum(named.values()), named, gamma, n_iter, gap, history)


def line_search(problem: Problem, w: Any, gamma: Any, delta: Any, slope: float, largest: float) -> float:
    """The minimum of the quadratic part, then Armijo's rule, halving at most 30 times; 0 if no step descends."""
    a = curvature(problem, w, delta)
    alpha = min(-slope / (2 * a), largest) if a > 0 else largest
    before = objective(problem, w, gamma)
    for _ in range(31):
        if objective(problem, w, gamma + alpha * delta) - before <= 1e-4 * alpha * slope:
            return float(alpha)
        alpha /= 2
    return 0.0


# ---------------------------------------------------------------- 5: from graphs to numbers


def typical(means: list[float], noise: float = 1e-9) -> float:
    """A robust mean: the median, or the mean if the median is 0, or 1 if all values are 0 (or rounding errors)."""
    for candidate in (np.median(means), np.mean(means)) if means else ():
        if candidate > noise:
            return float(candidate)
    return 1.0


UNSCALED: dict[str, Any] = {
    "feature": 1.0, "neighbourhood": 1.0, "structure": 1.0, "labels": 1.0, "attributes": 1.0, "hamming": 1.0,
    "return_distance": 1.0, "attribute_distance": 1.0,
}  # fmt: skip


def block(measure: Measure, kind: str) -> Measure:
    """Only the feature columns made of colours, or of attributes."""
    mine = {name: x for name, x in measure.columns.items() if kind in name}
    return measure._replace(columns=mine)


def balanced(measure: Measure, p: Any, scale: dict[str, Any]) -> Measure:
    """If there are both labels and attributes, divide each by its own size and apply the weight between them."""
    kinds = {kind for name in measure.columns for kind in ("colour", "attribute") if kind in name}
    if len(kinds) < 2:
        return measure
    unit = {
        "colour": np.sqrt(2 * p.label_weight) / scale["labels"],
        "attribute": np.sqrt(2 * (1 - p.label_weight)) / scale["attributes"],
    }
    columns = {}
    for name, x in measure.columns.items():
        columns[name] = x * unit["colour" if "colour" in name else "attribute"]
    return measure._replace(columns=columns)


def learned_scale(graphs: list[Any], p: Any) -> dict[str, Any]:
    """R7: the typical size of every cost over the pairs of the fitted graphs (all pairs, if there are few)."""
    scale = dict(UNSCALED)
    if graphs[0].node_attributes is not None:
        values = np.concatenate([graph.node_attributes for graph in graphs])
        mean, std = values.mean(axis=0), values.std(axis=0)
        constant = std <= 1e-12 * np.abs(mean)
        scale |= {"attribute_mean": mean, "attribute_std": np.where(constant, 1.0, std)}
    measures = [represent(graph, p, scale) for graph in graphs]
    pairs = list(combinations(measures, 2)) or [(measures[0], measures[0])]
    kinds = {kind for name in measures[0].columns for kind in ("colour", "attribute") if kind in name}
    if len(kinds) == 2:
        for kind, name in (("colour", "labels"), ("attribute", "attributes")):
            scale[name] = typical([l2_cost(block(G, kind), block(H, kind)).mean() for G, H in pairs])
    even = [(balanced(G, p, scale), balanced(H, p, scale)) for G, H in pairs]
    if p.feature_metric == "product":
        scale["return_distance"] = median_distance([row_distances(G.returns, H.returns, False) for G, H in pairs])
        scale["attribute_distance"] = median_distance([l2_cost(G, H) for G, H in pairs])
        units = units_of(p, scale)
        costs = [product_cost(G, H, units.returns, units.attributes).mean() for G, H in pairs]
        scale["feature"] = typical(costs)
    else:
        scale["feature"] = typical([l2_cost(G, H).mean() for G, H in even])
        scale["hamming"] = typical([hamming_cost(G, H).mean() for G, H in pairs])
    scale["neighbourhood"] = typical([neighbour_cost(G, H).mean() for G, H in pairs])
    off_diagonal = []
    for C in (np.abs(G.structure) for G in measures if len(G.weights) > 1):
        n = len(C)
        off_diagonal.append((C.sum() - np.trace(C)) / (n * (n - 1)))
    given = p.structure in ("shortest-path", "adjacency", "edge-distance")  # numbers of any size
    scale["structure"] = typical(off_diagonal, 0.0 if given else 1e-9)
    return scale


def median_distance(distances: list[Any]) -> float:
    """The median over all pairs of nodes of all pairs of graphs (R18)."""
    return typical(list(np.concatenate([block.ravel() for block in distances])))


def units_of(p: Any, scale: dict[str, Any]) -> Units:
    if p.feature_metric == "product":
        return Units(
            l2=0.0,
            hamming=0.0,
            product=1 / scale["feature"],
            returns=p.return_weight / scale["return_distance"],
            attributes=p.attribute_weight / scale["attribute_distance"],
            neighbourhood=1 / scale["neighbourhood"],
            structure=1 / scale["structure"],
        )
    share = {"l2": 0.0, "hamming": 1.0, "both": p.hamming_weight}[p.feature_metric]
    return Units(
        l2=(1 - share) / scale["feature"],
        hamming=share / scale["hamming"],
        neighbourhood=1 / scale["neighbourhood"],
        structure=1 / scale["structure"],
    )


def scale_of(graphs: list[Any], p: Any) -> dict[str, Any]:
    """The scale: learned, none, or given."""
    if p.scale == "fit":
        return learned_scale(graphs, p)
    return dict(UNSCALED) if p.scale == "none" else UNSCALED | dict(p.scale)


def problem_of(G: Any, H: Any, p: Any, scale: dict[str, Any]) -> Problem:
    source, target = (balanced(represent(graph, p, scale), p, scale) for graph in (G, H))
    return pair_up(source, target, units_of(p, scale))


def align(G: Any, H: Any, p: Any) -> Solution:
    """RW(G, H) in the order given; the pair itself sets the scale. `p.debias` subtracts the halves (R17)."""
    scale, w, options = scale_of([G, H], p), p.cost_weights(), p.scg_options()
    solution = solve(problem_of(G, H, p, scale), w, options)
    if not p.debias:
        return solution
    bias = -0.5 * sum(solve(problem_of(own, own, p, scale), w, options).value for own in (G, H))
    return solution._replace(value=solution.value + bias, terms=solution.terms | {"debias": bias})


def gram(graphs: list[Any], p: Any) -> Any:
    """RW of all pairs (R15): the smaller graph is the source, and of equal sizes the mean of both ways is taken.

    So it is of every pair if the two Laplacian weights differ: the two ways are different problems then.
    """
    scale, w, options = scale_of(graphs, p), p.cost_weights(), p.scg_options()

    def value(G: Any, H: Any) -> float:
        return solve(problem_of(G, H, p, scale), w, options).value

    def size(G: Any) -> int:
        return G.n_nodes if G.node_weights is None else int((G.node_weights > 0).sum())

    D = np.zeros((len(graphs), len(graphs)))
    for i, G in enumerate(graphs):
        for j, H in enumerate(graphs):
            if size(G) == size(H) or w.laplacian_source != w.laplacian_target:
                D[i, j] = 0.5 * (value(G, H) + value(H, G))
            else:
                D[i, j] = value(G, H) if size(G) < size(H) else value(H, G)
    if p.debias:
        D = D - 0.5 * (np.diag(D)[:, None] + np.diag(D)[None, :])
    return D


# ---------------------------------------------------------------- packed arrays, read back


def unpack(packed: Any, i: int) -> Measure:
    """Graph i of packed measures as a `Measure`; the scales are included, and n mu is taken out of L again."""
    start, stop = packed.offsets[i], packed.offsets[i + 1]
    n, nodes = int(stop - start), slice(start, stop)
    columns = {("dense", c): packed.features[nodes, c] for c in range(packed.features.shape[1])}
    for c in range(packed.column_offsets[i], packed.column_offsets[i + 1]):
        x = np.zeros(n)
        for e in range(packed.entry_offsets[c], packed.entry_offsets[c + 1]):
            x[packed.entry_rows[e]] += packed.entry_values[e]
        columns["sparse", int(packed.column_keys[c])] = x
    L, n_mu = np.zeros((n, n)), n * packed.weights[nodes]
    for r in range(n):
        for e in range(packed.laplacian_offsets[start + r], packed.laplacian_offsets[start + r + 1]):
            L[r, packed.laplacian_columns[e]] += packed.laplacian_values[e]
    E = packed.embedding[nodes]
    if not E.shape[1]:
        E = packed.factors[packed.factor_offsets[i] : packed.factor_offsets[i + 1]].reshape(n, -1)
    C = packed.structure[packed.structure_offsets[i] : packed.structure_offsets[i + 1]].reshape(n, n)
    return Measure(
        weights=packed.weights[nodes],
        degrees=packed.degrees[nodes],
        columns=columns,
        colours=[row.tolist() for row in packed.colours[:, nodes]],
        returns=packed.returns[nodes],
        embedding=E.astype(float),
        signs=packed.signs[nodes] if packed.signs.shape[1] else None,
        structure=C.astype(float),
        laplacian=L * n_mu[:, None] * n_mu[None, :],
    )


def unpacked_problem(packed: Any, a: int, b: int) -> Problem:
    """The pair (a, b) of packed measures as a `Problem`."""
    hamming = packed.hamming_cost if len(packed.colours) else 0.0
    units = Units(l2=1.0, hamming=hamming, neighbourhood=packed.neighbour_cost)
    if packed.product_cost:
        units = Units(l2=0.0, hamming=0.0, neighbourhood=packed.neighbour_cost, product=packed.product_cost)
    return pair_up(unpack(packed, a), unpack(packed, b), units)
