#!/usr/bin/env python3
"""Trades for a while at a steady rate, and prints what the server's memory came to for each order.

usage: soak.py RIALTO [MINUTES [ORDERS_A_SECOND]]

Every second order is filled at once, the others rest and are cancelled. A line a minute: orders so far, resident memory and what
clients were answered. After an orderly restart on the same data the memory that is state alone is printed beside it.
"""

import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

FREE_PORTS = [f"{name}.port=0" for name in ("http", "https", "fix", "broker.tcp", "broker.tls", "broker.ws")]
AAPL = 1
SETTLE_SECONDS = 60


class Server:
    def __init__(self, rialto, data):
        settings = [word for setting in FREE_PORTS for word in ("--set", setting)]
        self.process = subprocess.Popen(
            [rialto, "serve", "--data-dir", data, *settings], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        address = urllib.parse.urlparse(json.loads(self.process.stdout.readline())["http"])
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def call(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {text}")
        return text

    def memory(self):
        """Resident memory in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=120) != 0:
            raise SystemExit("the server did not stop in order")


def trade(server, number):
    order = {"intId": f"soak-{number}", "securityId": AAPL, "quantity": 1, "side": "BUY" if number % 4 < 2 else "SELL"}
    if number % 2:
        server.call("POST", "/rest/execution/order/limit", {**order, "side": "BUY", "limit": 250, "tif": "GTC"})
        server.call("DELETE", f"/rest/execution/order/soak-{number}")
    else:
        server.call("POST", "/rest/execution/order/market", order)


def run(rialto, minutes, rate, data):
    server = Server(rialto, data)
    begun, placed, samples = time.monotonic(), 0, []
    while (passed := time.monotonic() - begun) < minutes * 60:
        if passed >= len(samples) * 60:
            samples.append((placed, server.memory()))
            print(f"{len(samples) - 1:4} min  {placed:8} orders  {samples[-1][1] / 1e6:8.1f} MB", flush=True)
        trade(server, placed)
        placed += 1
        time.sleep(max(0.0, begun + placed / rate - time.monotonic()))
    samples.append((placed, server.memory()))
    server.stop()
    again = Server(rialto, data)
    # What the replay needed for a moment goes back to the system.
    time.sleep(SETTLE_SECONDS)
    after = again.memory()
    again.stop()
    return samples, after


def main():
    rialto = sys.argv[1]
    minutes = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rate = float(sys.argv[3]) if len(sys.argv) > 3 else 28
    with tempfile.TemporaryDirectory() as folder:
        samples, after = run(rialto, minutes, rate, f"{folder}/data")
    # The first third warms caches and pools.
    (first, before), (last, end) = samples[len(samples) // 3], samples[-1]
    print(f"{last} orders; {(end - before) / max(1, last - first):.0f} bytes an order after the first {first}")
    print(f"memory at the end {end / 1e6:.1f} MB, after a restart on the same data {after / 1e6:.1f} MB")


main()
