"""A strategy in Python: prices and order events by STOMP, orders by HTTP.

It buys one unit at the first price it hears, sells it when it has it, and leaves. Needs stomp.py (PyPI).

    python strategy.py --server http://localhost:9090 --name PAIRS --security 1
"""

import argparse
import json
import os
import sys
import threading
import urllib.request

import stomp

TOKEN = os.environ.get("RIALTO_TOKEN")


class Server:
    """The HTTP side: commands, with an order id of our own, so that a second try never trades twice."""

    def __init__(self, url):
        self.url = url.rstrip("/")

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Content-Type", "application/json")
        if TOKEN:
            request.add_header("Authorization", f"Bearer {TOKEN}")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            text = answer.read().decode()
        return json.loads(text) if text else None


class InAndOut(stomp.ConnectionListener):
    """Buys at the first price, sells after the fill."""

    def __init__(self, server, name, security):
        self.server, self.name, self.security = server, name, security
        self.done = threading.Event()
        self.lock = threading.Lock()
        self.bought = False
        # The server gives an id that it never gives again, so this run's orders are ours alone.
        self.run = server.call("POST", "/rest/next-order-id", 1)

    def on_message(self, frame):
        topic, body = frame.headers["destination"], json.loads(frame.body)
        if topic.startswith("/topic/tick."):
            self.on_tick(body)
        elif topic.startswith("/topic/fill."):
            self.on_fill(body)

    def on_tick(self, tick):
        with self.lock:
            is_first = not self.bought and tick["ask"] is not None
            self.bought = self.bought or is_first
        if is_first:
            self.order("BUY")

    def on_fill(self, fill):
        print(f"{fill['side']} {fill['quantity']} @ {fill['price']}", flush=True)
        if fill["side"] == "BUY":
            self.order("SELL")
        else:
            self.done.set()

    def order(self, side):
        order = {
            "intId": f"{self.run}-{side}",
            "securityId": self.security,
            "side": side,
            "quantity": 1,
            "strategyName": self.name,
        }
        # A listener must not wait: the answer comes on a thread of its own.
        path = "/rest/execution/order/market"
        threading.Thread(target=self.server.call, args=("POST", path, order), daemon=True).start()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--server", required=True)
    arguments.add_argument("--name", required=True, help="a strategy of the reference data")
    arguments.add_argument("--security", required=True, type=int)
    given = arguments.parse_args()

    server = Server(given.server)
    host, port = server.call("GET", "/rest/broker/url/main").removeprefix("tcp://").rsplit(":", 1)
    strategy = InAndOut(server, given.name, given.security)
    broker = stomp.Connection12([(host, int(port))], heartbeats=(10_000, 10_000))
    broker.set_listener("strategy", strategy)
    broker.connect(passcode=TOKEN, wait=True)
    broker.subscribe(f"/topic/fill.{given.name}.>", id="fills")
    server.call("PUT", "/rest/subscription/marketdata/subscribe",
                {"strategyName": given.name, "securityId": given.security, "subscribe": True})
    broker.subscribe(f"/topic/tick.{given.security}", id="ticks")
    # First listen, then look: so no price is missed in between, and a market that stands still has one too.
    for tick in server.call("GET", f"/rest/marketdata/tick?security={given.security}"):
        strategy.on_tick(tick)
    done = strategy.done.wait(60)
    broker.disconnect()
    print("done" if done else "nothing happened for a minute", flush=True)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
