"""Single graphs with hostile fields, and hostile things in all the forms that `as_graphs` reads."""

from __future__ import annotations

from typing import Any

import networkx as nx

import rwk
from fuzz.promise import finite, holds
from fuzz.values import Chance, built
from rwk.graphs.checks import check_graphs

FIELDS = ("node_labels", "node_attributes", "node_weights", "edge_weights", "edge_labels", "edge_attributes")


def make_record(chance: Chance) -> Any:
    """The fields of some `Graph`s."""
    return {"graphs": [_fields(chance) for _ in range(chance.of(1, 1, 1, 2, 3))]}


def run_record(recipe: Any) -> None:
    """Make them, pack them, check them."""
    graphs = [rwk.Graph(**{name: built(value) for name, value in fields.items()}) for fields in recipe["graphs"]]
    valid_set(rwk.as_graphs(graphs))


def _fields(chance: Chance) -> dict[str, Any]:
    n = chance.of(0, 1, 1, 2, 3, 4, 6)
    edges = [[i, j] for i in range(n) for j in range(i + 1, n) if chance.happens(0.5)]
    if chance.happens(0.15):
        edges.append([chance.integer(), chance.integer()])
    fields: dict[str, Any] = {"n_nodes": n if chance.happens(0.9) else chance.scalar(), "edges": edges}
    if chance.happens(0.1):
        fields["edges"] = chance.array(len(edges), 2)
    for name in FIELDS:
        if chance.happens(0.25):
            rows = n if name.startswith("node") else len(edges)
            columns = [chance.randrange(3)] if name.endswith("attributes") else []
            fields[name] = chance.array(rows, *columns)
            if name.endswith("labels"):
                fields[name] = [chance.integer() if chance.happens(0.2) else i % 3 for i in range(rows)]
            if chance.happens(0.05):
                fields[name] = chance.scalar()
    if chance.happens(0.1):
        fields["node_distances"] = chance.array(n, n)
    return fields


def valid_set(graphs: Any) -> None:
    """A set that passes its own check, whose numbers are finite, and which can be taken apart and put together."""
    check_graphs(graphs)
    for name in (*FIELDS, "node_distances"):
        if getattr(graphs, name) is not None:
            finite(getattr(graphs, name), name)
    again = rwk.GraphSet.from_graphs(list(graphs))
    holds((again.edges == graphs.edges).all() and (again.sizes == graphs.sizes).all(), "a set changes when repacked")


def make_anything(chance: Chance) -> Any:
    """Something to convert, in one of the known forms or in none."""
    way = chance.of(_matrix, _tuple, _network, _node_link, _grakel, _texts, _things, _files)
    return {"form": way.__name__, "data": way(chance), "names": _names(chance), "targets": _targets(chance)}


def run_anything(recipe: Any) -> None:
    """Convert it."""
    names = {name: built(value) for name, value in recipe.get("names", {}).items()}
    if recipe.get("targets") is not None:
        names["targets"] = built(recipe["targets"])
    valid_set(rwk.as_graphs(_things_of(recipe), **names))


def _things_of(recipe: Any) -> Any:
    data = recipe["data"]
    if recipe["form"] == "_network":
        return [_built_network(one) for one in data]
    if recipe["form"] == "_tuple":
        return [tuple(built(part) for part in one) for one in data]
    if recipe["form"] == "_grakel":
        return [{tuple(key) if isinstance(key, list) else key: built(value) for key, value in one} for one in data]
    return built(data)


def _matrix(chance: Chance) -> Any:
    return [chance.array(*([chance.of(0, 1, 2, 3, 5)] * 2)) for _ in range(chance.of(1, 1, 2))]


def _tuple(chance: Chance) -> Any:
    n = chance.of(1, 2, 3)
    labels = [chance.scalar() for _ in range(n)] if chance.happens(0.5) else chance.array(n)
    return [[chance.array(n, n), labels, *([chance.array(n, 2)] if chance.happens(0.3) else [])]]


def _network(chance: Chance) -> Any:
    return [
        {
            "class": chance.of("Graph", "Graph", "DiGraph", "MultiGraph", "MultiDiGraph"),
            "nodes": [
                [_key(chance, i), {_name(chance): _value(chance) for _ in range(chance.of(0, 1, 2))}]
                for i in range(chance.of(0, 1, 2, 4))
            ],
            "edges": [
                [_key(chance, chance.randrange(4)), _key(chance, chance.randrange(4)), _value(chance), _name(chance)]
                for _ in range(chance.of(0, 1, 3))
            ],
        }
        for _ in range(chance.of(1, 1, 2))
    ]


def _built_network(one: Any) -> Any:
    network = getattr(nx, one["class"])()
    for key, data in one["nodes"]:
        network.add_node(key, **{name: built(value) for name, value in data.items()})
    for first, second, value, name in one["edges"]:
        network.add_edge(first, second, **{name: built(value)})
    return network


def _key(chance: Chance, i: int) -> Any:
    return i if chance.happens(0.8) else chance.of(chance.integer(), chance.text(), chance.number())


def _name(chance: Chance) -> str:
    return str(chance.of("label", "x", "weight", "attr", "element", "charge", "bond_type", "distance", "odd"))


def _value(chance: Chance) -> Any:
    return chance.of(chance.scalar, chance.number, chance.integer, lambda: chance.array(2), lambda: [1, "a"])()


def _node_link(chance: Chance) -> Any:
    nodes = [{"id": _key(chance, i), _name(chance): _value(chance)} for i in range(chance.of(0, 1, 3))]
    links = [{"source": chance.randrange(3), "target": _key(chance, 1), _name(chance): _value(chance)}]
    found: dict[str, Any] = {"nodes": nodes, chance.of("links", "edges"): links if chance.happens(0.7) else []}
    if chance.happens(0.1):
        found[chance.of("nodes", "links", "directed", "graph")] = chance.scalar()
    return found


def _grakel(chance: Chance) -> Any:
    """Pairs of key and value: JSON has no keys that are numbers or pairs."""
    if chance.happens(0.5):
        return [[[[chance.randrange(3), _key(chance, 1)], _value(chance)] for _ in range(chance.of(0, 1, 3))]]
    return [[[_key(chance, i), chance.of([0, 1], {"0": 1.0}, [chance.integer()])] for i in range(chance.of(0, 2))]]


def _texts(chance: Chance) -> Any:
    smiles = ("C", "CCO", "c1ccccc1", "C" * 50, "[Na+].[Cl-]", "C1CC", "[C@@H](N)(O)C", "[999C]", "[U+9]", "*", "C%99C")
    return [chance.of(chance.choice(smiles), chance.text()) for _ in range(chance.of(1, 1, 2))]


def _things(chance: Chance) -> Any:
    return [chance.scalar() for _ in range(chance.randrange(3))] if chance.happens(0.6) else chance.scalar()


def _files(chance: Chance) -> Any:
    return f"{chance.text()}{chance.of('.graphml', '.smi', '.csv', '.json', '.pkl', '.zip', '.npz', '')}"


def _names(chance: Chance) -> dict[str, Any]:
    known = ("node_label", "node_attributes", "edge_weight", "edge_label", "edge_attributes", "smiles_column", "target")
    return {chance.choice(known): chance.of(_name(chance), chance.scalar())} if chance.happens(0.2) else {}


def _targets(chance: Chance) -> Any:
    return chance.of(chance.array(1), [chance.scalar()], chance.scalar()) if chance.happens(0.15) else None
