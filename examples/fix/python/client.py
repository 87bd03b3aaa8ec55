"""Buys 100 Apple at the market over FIX, prints what becomes of the order, and logs out.

    pip install quickfix-ssl    (a wheel for Python up to 3.11; quickfix is the same, compiled, which takes some minutes)
    curl -sO http://localhost:9090/docs/fix/FIX44.xml
    python client.py client.cfg my-first

client.cfg is that of ../cpp: the engine underneath is the same.
"""

import sys
import threading
from datetime import datetime, timezone

import quickfix as fix


class Client(fix.Application):
    def __init__(self, order):
        super().__init__()
        self.order = order
        self.ended = threading.Event()

    def onCreate(self, session):
        pass

    def onLogon(self, session):
        print("logged on", flush=True)
        buy = fix.Message()
        buy.getHeader().setField(fix.MsgType(fix.MsgType_NewOrderSingle))
        now = datetime.now(timezone.utc).strftime("%Y%m%d-%H:%M:%S")
        terms = {11: self.order, 54: "1", 38: "100", 40: "1", 48: "1", 55: "AAPL", 60: now, 7002: "SERVER"}
        for tag, value in terms.items():
            buy.setField(fix.StringField(tag, value))
        fix.Session.sendToTarget(buy, session)

    def onLogout(self, session):
        pass

    def toAdmin(self, message, session):
        pass

    def fromAdmin(self, message, session):
        pass

    def toApp(self, message, session):
        pass

    def fromApp(self, message, session):
        if message.getHeader().getField(35) != "8" or message.getField(11) != self.order:
            return
        status = message.getField(39)
        text = " " + message.getField(58) if message.isSetField(58) else ""
        print(f"{message.getField(150)}/{status} filled {message.getField(14)}{text}", flush=True)
        if status in "248":
            self.ended.set()


def main():
    settings = fix.SessionSettings(sys.argv[1])
    client = Client(sys.argv[2])
    initiator = fix.SocketInitiator(client, fix.FileStoreFactory(settings), settings, fix.FileLogFactory(settings))
    initiator.start()
    client.ended.wait()
    initiator.stop()


main()
