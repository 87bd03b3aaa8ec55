"""The same requests under faults by a seed and by a script: what the lab injected, without times. The first argument names a
file with the lab's ready line, the second one is the seed."""

import sys

from faults_client import attempt, connect
from lab import Lab

BTC = "BTC/USDT"


def main():
    lab, seed = Lab(), int(sys.argv[2])
    for fault in ("taken-unknown", "not-taken-unknown", "late-query", "rate-limited", "strangers"):
        lab.arm(fault, seed=seed)
    lab.admin("/faults/script", b"at order 7: cut-answer\nat request 20, 2 times: key-revoked\nat order 9 for 600 s: odd-values\n")
    exchange = connect(lab, "ALPHA")
    seen = []
    for number in range(12):
        name = f"order-{number}"
        order = lambda: exchange.create_order(BTC, "limit", "buy", 0.01, 59000, {"newClientOrderId": name})
        seen += [attempt(order), attempt(lambda: exchange.fetch_order(None, BTC, {"origClientOrderId": name}))]
    print(*seen)
    print(*[f"{order['clientOrderId']} {order['status']}" for order in lab.ledger()["orders"]], sep="\n")
    print(lab.admin("/faults/transcript"))


main()
