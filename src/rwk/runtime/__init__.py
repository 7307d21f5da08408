"""The bottom layer: what every package may use, and what knows nothing of graphs.

    arrays            types of arrays, and offsets into packed arrays
    compiling         how functions are compiled, and where the compiled code is cached; calls the next two
    linked_code       functions that become machine code only inside their callers
    source_stamps     which source files a compiled function depends on
    numba_interfaces  what is used of numba that it may change, and the sentence if it has
    threads           what `n_jobs` means, and work shared among threads
    progress          the progress bar of a terminal
    watched           progress bars of functions called from Python, in terminals and notebooks; calls `progress`
    log               the library's log
    backends          what backend "auto" means on this computer, and `BackendError`
    device            the GPU: opening it, its memory, its errors
    files             files that are written completely or not at all, and checked when they are read
    deadline          work in a process of its own that is stopped after a time limit
    machine           the versions, the commit and the processor that a result was made with
    memory            freed memory that is handed back to the system
    finite            the last check of a result: NaN and infinity become an error
    parameter_checks  checks of the type and range of one parameter
    allowed_values    which choices and ranges each parameter has
    user_warnings     warnings that name the user's line
    words             counts, durations and sizes as text
    display           which module draws the notebook cards of records
    smiles_reader     which module makes graphs from SMILES
    moved             old import paths that still work

Nothing here imports another package of rwk.
"""
