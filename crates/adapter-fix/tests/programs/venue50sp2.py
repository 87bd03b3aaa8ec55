"""A venue made with QuickFIX that speaks FIX 5.0SP2 over FIXT 1.1. QuickFIX checks every message that comes against its own dictionaries.

An order above 100 is filled at once, every other one rests. The first argument names a settings file."""

import sys
import threading

import quickfix as fix

OPEN, FILLED, CANCELED, REJECTED = "0", "2", "4", "8"


def text(message, tag):
    field = fix.StringField(tag)
    if not message.isSetField(tag):
        return None
    message.getField(field)
    return field.getString()


class Venue(fix.Application):
    def __init__(self):
        super().__init__()
        self.orders = {}
        self.executions = 0

    def onCreate(self, session):
        pass

    def onLogon(self, session):
        pass

    def onLogout(self, session):
        pass

    def toAdmin(self, message, session):
        pass

    def toApp(self, message, session):
        pass

    def fromAdmin(self, message, session):
        pass

    def fromApp(self, message, session):
        kind = fix.MsgType()
        message.getHeader().getField(kind)
        {"D": self.new, "F": self.cancel, "G": self.replace, "H": self.status, "V": self.prices}[kind.getString()](message, session)

    def new(self, message, session):
        order = {tag: text(message, tag) for tag in (11, 38, 40, 44, 54, 55, 59)}
        order.update({37: f"V{len(self.orders) + 1}", 39: OPEN, 14: "0"})
        if order[11] in self.orders:
            return self.report(session, dict(order, **{37: "NONE", 39: REJECTED}), "8", {103: "6", 58: "duplicate"})
        self.orders[order[11]] = order
        self.report(session, order, "0")
        if float(order[44]) > 100:
            order.update({39: FILLED, 14: order[38]})
            self.report(session, order, "F", {31: order[44], 32: order[38]})

    def cancel(self, message, session):
        order = self.known(message, session, "1")
        if order:
            order.update({39: CANCELED, 11: text(message, 11)})
            self.report(session, order, "4", {41: text(message, 41)})

    def replace(self, message, session):
        order = self.known(message, session, "2")
        if order:
            order.update({tag: text(message, tag) for tag in (11, 38, 44)})
            self.orders[order[11]] = order
            self.report(session, order, "5", {41: text(message, 41)})

    def known(self, message, session, response_to):
        """The open order that a request means, else the request is refused."""
        order = self.orders.get(text(message, 41))
        if order and order[39] == OPEN:
            return order
        reject = fix.Message()
        reject.getHeader().setField(fix.MsgType("9"))
        for tag in (11, 41):
            reject.setField(fix.StringField(tag, text(message, tag)))
        reject.setField(fix.StringField(37, order[37] if order else "NONE"))
        reject.setField(fix.StringField(39, order[39] if order else REJECTED))
        reject.setField(fix.StringField(434, response_to))
        reject.setField(fix.StringField(102, "0"))
        fix.Session.sendToTarget(reject, session)

    def status(self, message, session):
        order = self.orders.get(text(message, 11))
        if order:
            self.report(session, order, "I")

    def prices(self, message, session):
        book = fix.Message()
        book.getHeader().setField(fix.MsgType("W"))
        book.setField(fix.StringField(262, text(message, 262)))
        group = fix.Group(146, 55)
        message.getGroup(1, group)
        symbol = fix.Symbol()
        group.getField(symbol)
        book.setField(symbol)
        for side, price in (("0", "99"), ("1", "101")):
            entry = fix.Group(268, 269)
            for tag, value in ((269, side), (270, price), (271, "5")):
                entry.setField(fix.StringField(tag, value))
            book.addGroup(entry)
        fix.Session.sendToTarget(book, session)

    def report(self, session, order, exec_type, more=()):
        self.executions += 1
        report = fix.Message()
        report.getHeader().setField(fix.MsgType("8"))
        leaves = float(order[38]) - float(order[14]) if order[39] == OPEN else 0
        fields = {**order, 17: f"E{self.executions}", 150: exec_type, 151: str(leaves), **dict(more)}
        for tag, value in fields.items():
            if value is not None:
                report.setField(fix.StringField(tag, value))
        fix.Session.sendToTarget(report, session)


settings = fix.SessionSettings(sys.argv[1])
acceptor = fix.SocketAcceptor(Venue(), fix.FileStoreFactory(settings), settings, fix.FileLogFactory(settings))
acceptor.start()
# Until the test ends it.
threading.Event().wait()
