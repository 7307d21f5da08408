"""The bottom layer: compiling, threads, devices, files, deadlines and words. It knows nothing of graphs.

arrays      types of arrays, and offsets into packed arrays
compiling   how functions are compiled, and where the compiled code is cached
threads     what `n_jobs` means, and work shared among threads
backends    what backend "auto" means on this computer, and `BackendError`
device      the GPU: opening it, its memory, its errors
files       files that are written completely or not at all
deadline    work in a process of its own that is stopped after a time limit
words       counts, durations and sizes as text
display     which module draws the notebook cards of records
moved       old import paths that still work
"""
