#!/usr/bin/env python3
"""Counts the instructions of a durable order without --cluster, and prints them beside those of the last build before there was a cluster.
Valgrind's callgrind counts a run of many orders and one of few: the difference is of the orders alone, because what the bench does around
them is in both. It hardly depends on the machine's load, but threads that wait for each other look again and again before they sleep: one
order after the other varies by some percent from run to run, and so the median of several counts.

    scripts/count-instructions.py BENCH [ROUNDS]

BENCH is the built program of crates/runtime/examples/bench; ROUNDS is 3 where it is not given.
"""

import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MANY, FEW = 5_000, 1_000
# Instructions of an order at commit 3606d256: the aim is that it takes no more.
FLOWS = [("--one-by-one", "one after the other", 77_475), ("--in-flight", "256 in flight", 37_439)]


def main():
    bench, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    if not shutil.which("valgrind"):
        print("instructions of an order without --cluster: not counted, because valgrind is not installed")
        return
    print("instructions of an order without --cluster      now   3606d256   ratio")
    for flag, name, before in FLOWS:
        now = statistics.median(of_one_order(bench, flag) for _ in range(rounds))
        print(f"  {name:<42} {now:>7,.0f}   {before:>8,}   {now / before:.3f}", flush=True)


def of_one_order(bench, flag):
    return (instructions(bench, flag, MANY) - instructions(bench, flag, FEW)) / (MANY - FEW)


def instructions(bench, flag, orders):
    with tempfile.TemporaryDirectory() as folder:
        counts = pathlib.Path(folder, "counts")
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={counts}", bench, flag, str(orders)]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{run.stdout}")
        totals = [line for line in counts.read_text().splitlines() if line.startswith("totals:")]
        return int(totals[0].split()[1])


main()
