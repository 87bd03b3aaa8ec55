"""What every client of the benchmark measures and prints."""

import json
import os
import resource

ORDERS = int(os.environ.get("ORDERS", "500"))
SECONDS_OF_DEPTH = float(os.environ.get("SECONDS_OF_DEPTH", "30"))
# The first is also traded. `run.sh` writes them into the configuration of the lab.
SYMBOLS = os.environ["DEPTH_SYMBOLS"].split()


def ready_line():
    with open(os.environ["RIALTO_VENUE_READY"], encoding="utf-8") as file:
        return json.load(file)


def key_of(ready, kind="HMAC"):
    with open(ready["keys"], encoding="utf-8") as file:
        return next(key for key in json.load(file) if (key["account"], key["kind"]) == ("ALPHA", kind))


def cpu_micros():
    """Processor time of this process so far, its own and the system's."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int((used.ru_utime + used.ru_stime) * 1e6)


def tell(client, latencies, updates, cpu):
    latencies = sorted(latencies)
    at = lambda part: int(latencies[min(len(latencies) - 1, int(len(latencies) * part))] * 1e6)
    print(json.dumps({"client": client, "orders": len(latencies), "p50Micros": at(0.5), "p99Micros": at(0.99), "updates": updates,
                      "cpuMicrosPer1000": cpu * 1000 // max(updates, 1)}), flush=True)
