"""Hears over a WebSocket what becomes of orders, through doors that let only HTTP pass.

    pip install stomp.py
    python listen_websocket.py [HOST:PORT] [MESSAGES]

The broker's own port takes any path; the port of HTTP has the WebSocket at /stomp. Ends after so many messages; without a
number it listens until it is interrupted.
"""

import json
import sys
import threading

import stomp

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "localhost:61614"
MESSAGES = int(sys.argv[2]) if len(sys.argv) > 2 else None


class Orders(stomp.ConnectionListener):
    def __init__(self):
        self.heard = 0
        self.done = threading.Event()

    def on_receipt(self, frame):
        print("listening", flush=True)

    def on_message(self, frame):
        status = json.loads(frame.body)
        print(status["intId"], status["status"], flush=True)
        self.heard += 1
        if self.heard == MESSAGES:
            self.done.set()

    def on_error(self, frame):
        print("refused:", frame.headers["message"], file=sys.stderr)

    def on_disconnected(self):
        self.done.set()


host, port = ADDRESS.rsplit(":", 1)
connection = stomp.WSStompConnection([(host, int(port))], ws_path="/stomp", heartbeats=(10_000, 10_000))
orders = Orders()
connection.set_listener("orders", orders)
# A desk without users needs no login; otherwise a name with a password, or any name with a token.
connection.connect(wait=True)
# Orders that are placed by hand belong to the strategy SERVER.
connection.subscribe("/topic/order-status.SERVER.*", id="1", headers={"receipt": "subscribed"})
orders.done.wait()
connection.disconnect()
