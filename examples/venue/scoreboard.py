"""Prints the table of faults by client in Markdown, from the folders CLIENT@SEED with the reports of `rialto venue certify`. A client with
several reports of a fault has it passed where it passed in all of them. The argument names the folder of the reports."""

import json
import sys
from pathlib import Path

ORDER = ["naive", "ccxt", "freqtrade", "nautilus", "rialto"]
MARKS = {"passed": "passed", "failed": "**failed**", "not shown": "–"}
# The worst of several results counts.
WEIGHT = {"failed": 2, "passed": 1, "not shown": 0}


def main():
    results, reasons = {}, {}
    for path in sorted(Path(sys.argv[1]).glob("*/report.json")):
        client = path.parent.name.split("@")[0]
        for entry in json.loads(path.read_text())["faults"]:
            place = (entry["fault"], client)
            if place not in results or WEIGHT[entry["result"]] > WEIGHT[results[place]]:
                results[place] = entry["result"]
                reasons[place] = entry["reason"]
    clients = [client for client in ORDER if any(name == client for _, name in results)]
    faults = list(dict.fromkeys(fault for fault, _ in results))
    print("| Fault |", " | ".join(clients), "|")
    print("|---|" + "---|" * len(clients))
    for fault in faults:
        print(f"| `{fault}` |", " | ".join(MARKS.get(results.get((fault, client)), "") for client in clients), "|")
    for kind in ("passed", "failed", "not shown"):
        print(f"| {kind} |", " | ".join(str(sum(results.get((fault, client)) == kind for fault in faults)) for client in clients), "|")
    print()
    for client in clients:
        for fault in faults:
            if results.get((fault, client)) == "failed":
                print(f"- {client}, `{fault}`: {reasons[(fault, client)]}")


main()
