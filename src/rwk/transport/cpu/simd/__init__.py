"""Vector registers as values of compiled code.

    vectors.py     the type of a vector; loads, stores, arithmetic and sums whose order is written down
    vectormath.py  exp, log, quotients and square roots of vectors, built on them
    vectorcode.py  their instructions one by one, for inner loops, and code for every small count
    aligned.py     memory in which every vector lies in one line of the cache
    loops.py       loops that LLVM does not unroll

Both solver bodies are written with these, so their bits do not depend on how the compiler vectorises a loop (R16).
"""
