"""Vector registers as values of compiled code.

    vectors.py     the type of a vector; loads, stores, arithmetic and sums whose order is written down
    vectormath.py  exp, log, quotients and square roots of vectors, built on them
    loops.py       loops that LLVM does not unroll

Both solver bodies are written with these, so their bits do not depend on how the compiler vectorises a loop (R16).
"""
