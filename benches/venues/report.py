"""What the runs come to: the median of each client, and how many times the processor time of the adapter the others need."""

import json
import statistics
import sys


def main():
    runs = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            run = json.loads(line)
            runs.setdefault(run["client"], []).append(run)
    median = lambda client, field: statistics.median(run[field] for run in runs[client])
    own = median("Rialto", "cpuMicrosPer1000") if "Rialto" in runs else None
    for client in runs:
        cpu = median(client, "cpuMicrosPer1000")
        times = f", {cpu / own:.1f} times the adapter's" if own and client != "Rialto" else ""
        print(f"{client}: order to acknowledgement p50 {median(client, 'p50Micros'):.0f} us, p99 {median(client, 'p99Micros'):.0f} us; "
              f"{cpu / 1000:.1f} ms CPU for each 1,000 depth updates{times} ({len(runs[client])} runs)")


main()
