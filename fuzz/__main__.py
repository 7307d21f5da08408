"""`python -m fuzz`: run a campaign, print what it found, and write it down.

python -m fuzz --cases 10000                       all kinds, in their usual shares
python -m fuzz --cases 500 --kind solver           one kind
python -m fuzz --memory 5000 --record              memory of the explorer over 5,000 callbacks
python -m fuzz --cases 10000 --start 5000          other cases: numbers from 5000 on
python -m fuzz --cases 100000 --record             add the counts to results/fuzz.json
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz import campaign
from fuzz.kinds import KINDS
from fuzz.memory import FLAT, grown_after
from fuzz.record import RECORD, add_measurement, add_to_record


def main() -> int:
    """Run what the command line asks for; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Hostile inputs by the thousand.")
    parser.add_argument("--cases", type=int, default=10_000, help="how many, over all kinds")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind; may be repeated")
    parser.add_argument("--start", type=int, default=0, help="number of the first case of each kind")
    parser.add_argument("--to", type=Path, default=campaign.CASES, help="folder for what is found")
    parser.add_argument(
        "--record",
        type=Path,
        nargs="?",
        const=RECORD,
        metavar="FILE",
        help="add the counts to a file: results/fuzz.json",
    )
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time")
    parser.add_argument(
        "--memory", type=int, metavar="N", help="measure memory over N callbacks of the explorer; growth is an error"
    )
    parser.add_argument("--child", nargs=4, metavar=("KIND", "START", "STOP", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        kind, start, stop, folder = given.child
        campaign.child(kind, int(start), int(stop), Path(folder))
        return 0
    if given.memory:
        measured = grown_after(given.memory)
        print(measured)
        if given.record:
            add_measurement("explorer", measured, given.record)
        return 0 if measured["megabytes_grown"] < FLAT else 1
    kinds = given.kind or [kind for kind in KINDS if KINDS[kind].share]
    shares = {kind: KINDS[kind].share or 1 for kind in kinds}
    broken = 0
    for kind in kinds:
        count = max(1, round(given.cases * shares[kind] / sum(shares.values())))
        began = time.monotonic()
        tally = campaign.run_kind(kind, given.start, given.start + count, given.jobs)
        took = time.monotonic() - began
        print(f"{kind}: {dict(tally.counts)} in {took:.0f} s", flush=True)
        for finding in tally.findings.values():
            crashed = "process ended" in finding.what or "no answer" in finding.what
            found = finding if crashed else campaign.small(finding)
            print(f"  {finding.what}\n    {campaign.written(found, given.to)}", flush=True)
        broken += len(tally.findings)
        if given.record:
            add_to_record(kind, range(given.start, given.start + count), tally.counts, took, given.record)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
