"""Compute a Gram matrix on SLURM workers requested through dask-jobqueue: python jobqueue.py NCI1 STORE --workers 20.

Only this process needs access to the store; the workers need rwk and nothing else. With --local the same code runs on
workers on this machine, to try it out.
"""

from __future__ import annotations

import argparse

from distributed import Client, LocalCluster

import rwk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("store")
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--local", action="store_true")
    arguments = parser.parse_args()
    if arguments.local:
        cluster = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0")
    else:
        from dask_jobqueue import SLURMCluster

        # one worker process per core, each with its share of the memory; for GPUs: cores=1, processes=1 and
        # job_extra_directives=["--gres=gpu:1"]
        cluster = SLURMCluster(cores=8, processes=8, memory="16GB", walltime="04:00:00")
        cluster.scale(arguments.workers)
    with cluster, Client(cluster) as client:
        graphs = rwk.load_dataset(arguments.data)
        gram = rwk.compute_gram(graphs, store=arguments.store, memory="1GB", executor=client)
        print(gram, gram.health)


if __name__ == "__main__":
    main()
