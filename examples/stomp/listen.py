"""Hears what becomes of orders, and goes on where it stopped when the connection breaks or the program starts again.

    pip install stomp.py
    python listen.py [URL] [FILE]

URL is tcp://HOST:PORT, tls://HOST:PORT or ws://HOST:PORT/stomp, by default tcp://localhost:61613. FILE keeps the id of the
last event, by default last-event; without it the program begins with the first event that the server has.

Environment: RIALTO_LOGIN and RIALTO_PASSCODE log in (a user and the password, or any name and a token); RIALTO_CA is the
certificate that TLS is checked against, such as data/tls/cert.pem, which the server made at its first start.
"""

import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse

import stomp

URL = urllib.parse.urlparse(sys.argv[1] if len(sys.argv) > 1 else "tcp://localhost:61613")
LAST_EVENT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "last-event")
# Orders that are placed by hand belong to the strategy SERVER.
STATUS = "/topic/order-status.SERVER.*"
ORDERS = "/topic/order.SERVER.*"


def write_down(event):
    """In one step, so that the file is whole whenever the program ends."""
    beside = LAST_EVENT.with_name(LAST_EVENT.name + ".new")
    beside.write_text(event)
    beside.replace(LAST_EVENT)


class Listener(stomp.ConnectionListener):
    def __init__(self):
        self.ended = threading.Event()

    def on_receipt(self, frame):
        print("listening", flush=True)

    def on_message(self, frame):
        body = json.loads(frame.body)
        if frame.headers["subscription"] == "orders":
            # The last value of each open order; what happens to it afterwards comes by the other subscription.
            if frame.headers.get("snapshot") == "true":
                print("standing", body["intId"], body["status"], flush=True)
            return
        print(body["intId"], body["status"], flush=True)
        # Written down when the work is done: what was not done is delivered again.
        write_down(frame.headers["event-id"])

    def on_error(self, frame):
        print("refused:", frame.headers["message"], file=sys.stderr, flush=True)

    def on_disconnected(self):
        self.ended.set()


def connection():
    # Both sides say at least every ten seconds that they are there.
    server, heartbeats = [(URL.hostname, URL.port)], (10_000, 10_000)
    if URL.scheme == "ws":
        return stomp.WSStompConnection(server, ws_path=URL.path or "/stomp", heartbeats=heartbeats)
    plain = stomp.Connection12(server, heartbeats=heartbeats, reconnect_attempts_max=1)
    if URL.scheme == "tls":
        # With a certificate to check against, the server must be who it says it is; without one anybody could be.
        plain.set_ssl(for_hosts=server, ca_certs=os.environ["RIALTO_CA"])
    return plain


def listen():
    """Until the connection ends."""
    listener, joined = Listener(), connection()
    joined.set_listener("orders", listener)
    # A desk without users needs no login.
    joined.connect(os.environ.get("RIALTO_LOGIN"), os.environ.get("RIALTO_PASSCODE"), wait=True)
    joined.subscribe(ORDERS, id="orders", headers={"snapshot": "true"})
    last = LAST_EVENT.read_text().strip() if LAST_EVENT.exists() else "0"
    joined.subscribe(STATUS, id="status", headers={"from-sequence": last, "receipt": "subscribed"})
    listener.ended.wait()


while True:
    try:
        listen()
    except (OSError, stomp.exception.StompException) as error:
        print("not connected:", type(error).__name__, file=sys.stderr, flush=True)
    time.sleep(1)
