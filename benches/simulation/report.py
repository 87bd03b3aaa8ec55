"""What the runs of run.sh come to: every round is shown, the best of each engine is compared, because a neighbour on the same
machine only ever makes a run slower.
Usage: report.py LINES
"""
import json
import sys
from collections import defaultdict

# Rows played, orders placed: speed counts only for the right result.
ORDERS = {("quotes", 12_500): 571, ("quotes", 50_000): 2_332, ("quotes", 100_000): 4_827, ("quotes", 200_000): 9_496,
          ("quotes", 1_000_000): 48_134, ("bars", 50_000): 2_293}
SIZES = [12_500, 50_000, 100_000, 200_000, 1_000_000]
FULL = 1_000_000


def engine(run):
    return run["engine"].split("-")[0]


def load(path):
    """Runs by engine, kind, whether orders were placed, rows."""
    runs = defaultdict(list)
    for line in open(path):
        run = json.loads(line)
        rows = run.get("events", run.get("quotes"))
        run["rate"] = run.get("events_per_cpu_s", run.get("quotes_per_cpu_s"))
        expected = 0 if run["fast"] == 0 else ORDERS.get((run["kind"], rows))
        if expected not in (None, run["orders"]):
            sys.exit(f"{run['engine']}: {run['orders']} orders on {rows} {run['kind']}, expected {expected}")
        runs[engine(run), run["kind"], run["fast"] > 0, rows].append(run)
    return runs


def best(runs, *key):
    return max((run["rate"] for run in runs.get(key, [])), default=None)


def name(key):
    _, kind, trades, rows = key
    return f"{kind}, {'cross 10/20' if trades else 'counted only'}, {rows:,}"


def compare(runs, peer, theirs, ours, aim):
    """Both keys without the engine; the rows may differ where the cost of an event does not depend on them."""
    left, right = best(runs, "rialto", *ours), best(runs, peer, *theirs)
    if left is None or right is None:
        return
    times = left / right
    print(f"{name((peer, *theirs)):34} {times:8.1f} times {peer}, aim {aim}: {'met' if times >= aim else 'MISSED'}")


def main():
    runs = load(sys.argv[1])
    print("\nevents a CPU second, every round, and the peak of memory")
    for key, rounds in runs.items():
        rates = "  ".join(f"{run['rate']:>9,}" for run in rounds)
        print(f"{name(key):34} {key[0]:12} {rates}   {max(run['peak_rss_mb'] for run in rounds)} MB")
    print("\nbest round against best round")
    quotes = ("quotes", True)
    compare(runs, "hftbacktest", (*quotes, FULL), (*quotes, FULL), 1)
    for size in (12_500, 50_000):
        compare(runs, "nautilus", (*quotes, size), (*quotes, size), 20)
    compare(runs, "nautilus", ("bars", True, 50_000), ("bars", True, 50_000), 20)
    compare(runs, "nautilus", ("quotes", False, 50_000), ("quotes", False, FULL), 20)
    compare(runs, "nautilus", ("bars", False, 50_000), ("bars", False, FULL), 20)
    costs = [(size, best(runs, "rialto", *quotes, size)) for size in SIZES]
    told = ", ".join(f"{1e9 / rate:,.0f} ns at {size:,}" for size, rate in costs if rate)
    print(f"a quote with its orders costs {told}")
    peak = {size: min(run["peak_rss_mb"] for run in runs["rialto", "quotes", trades, size])
            for size, trades in ((100_000, True), (FULL, True))}
    counted = min(run["peak_rss_mb"] for run in runs["rialto", "quotes", False, FULL])
    print(f"memory: {peak[100_000]} MB at 100,000 quotes with 4,827 orders, {peak[FULL]} MB at {FULL:,} with 48,134; "
          f"{counted} MB at {FULL:,} without orders")


main()
