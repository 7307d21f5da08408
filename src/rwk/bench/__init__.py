"""Timings of the solver and of the baselines.

    cpu_times       the solver beside the contenders on the same pairs; calls `contenders` and `step_times`
    contenders      what one could use instead: POT, WWL, NumPy; calls `numpy_solver`
    numpy_solver    the same algorithm in plain NumPy
    step_times      time and operations of each step of a pair
    cold_start      the first solves of a fresh environment
    growth          how time grows with nodes and with graphs, and what starting up takes
    dataset_times   whole datasets: representation, memory, a large Gram matrix, the largest pair
    float32_errors  how far float32 values are from float64 ones
    gpu_times       the GPU backend: rates by size class, and whole Gram matrices
    baseline_times  the baselines beside GraKeL and POT

`rwk bench` and the scripts in `benchmarks/` call them; they are not needed to use the library.
"""
