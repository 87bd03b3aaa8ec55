"""Hears over TLS what becomes of orders.

    pip install stomp.py
    python listen_tls.py [HOST:PORT] [CERTIFICATE] [MESSAGES]

The certificate is the server's own, which it made at its first start, or that of whoever signed it. Ends after so many
messages; without a number it listens until it is interrupted.
"""

import json
import sys
import threading

import stomp

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "localhost:61612"
CERTIFICATE = sys.argv[2] if len(sys.argv) > 2 else "data/tls/cert.pem"
MESSAGES = int(sys.argv[3]) if len(sys.argv) > 3 else None


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
server = [(host, int(port))]
connection = stomp.Connection12(server, heartbeats=(10_000, 10_000))
# With a certificate to check against, the server must be who it says it is; without one anybody could be.
connection.set_ssl(for_hosts=server, ca_certs=CERTIFICATE)
orders = Orders()
connection.set_listener("orders", orders)
# A desk without users needs no login; otherwise a name with a password, or any name with a token.
connection.connect(wait=True)
# Orders that are placed by hand belong to the strategy SERVER.
connection.subscribe("/topic/order-status.SERVER.*", id="1", headers={"receipt": "subscribed"})
orders.done.wait()
connection.disconnect()
