"""Loops of compiled code with few rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir


@contextmanager
def not_unrolled(builder: Any, count: Any) -> Iterator[Any]:
    """A loop over 0, 1, ..., count - 1, at least once, which LLVM does not unroll.

    Few loops here have more than twenty rounds: the code for what an unrolled loop leaves over would run as often.
    """
    before, body, after = builder.block, builder.append_basic_block("each"), builder.append_basic_block("done")
    builder.branch(body)
    builder.position_at_end(body)
    index = builder.phi(count.type)
    yield index
    following = builder.add(index, count.type(1))
    index.add_incoming(count.type(0), before)
    index.add_incoming(following, builder.block)
    again = builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    again.set_metadata("llvm.loop", _advice(builder.module))
    builder.position_at_end(after)


def _advice(module: Any) -> Any:
    """Metadata of one loop: a node whose first operand is itself, as LLVM wants it."""
    advice = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    node = ir.values.MDValue(module, (), name=str(len(module.metadata)))
    node.operands = (node, advice)
    return node
