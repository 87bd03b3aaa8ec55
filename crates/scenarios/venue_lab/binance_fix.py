"""Binance's own `binance-fix-connector` trades at the venue lab over its FIX faces: order entry, drop copy and market data, with TLS.
Reports are compared with the lab's ledger. The first argument names a file with the lab's ready line."""

import logging
import os
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key

from lab import Lab

LAB = Lab()
# The connector trusts what OpenSSL trusts.
os.environ["SSL_CERT_FILE"] = str(Path(LAB.ready["keys"]).parent / "tls" / "cert.pem")

from binance_fix_connector.fix_connector import (  # noqa: E402
    BinanceFixConnector,
    create_drop_copy_session,
    create_market_data_session,
    create_order_entry_session,
)

BTC = "BTCUSDT"
# A wait that takes longer has failed; a slow machine needs a second or two.
PATIENCE_SECONDS = 40
TYPES = {"1": "MARKET", "2": "LIMIT", "3": "STOP", "4": "STOP_LIMIT"}
SIDES = {"1": "BUY", "2": "SELL"}
TIMES = {"1": "GTC", "3": "IOC", "4": "FOK"}
STATUSES = {"0": "NEW", "1": "PARTIALLY_FILLED", "2": "FILLED", "4": "CANCELED", "C": "EXPIRED"}


def text(message, tag, nth=1):
    value = message.get(tag, nth)
    return None if value is None else value.decode()


def shown(message, *tags):
    """A message's type and some of its fields, as they came."""
    return " ".join([text(message, 35)] + [f"{tag}={text(message, tag)}" for tag in tags if message.get(tag) is not None])


def key(account, kind="ED25519"):
    api_key, pem = LAB.key(account, kind)
    return api_key, load_pem_private_key(pem.encode(), password=None)


def ask(session, kind, fields, *awaited):
    """Sends a message; the messages up to the first of the awaited types, if any is."""
    message = session.create_fix_message_with_basic_header(kind)
    for tag, value in fields:
        message.append_pair(tag, value)
    session.send_message(message)
    return hear(session, *awaited) if awaited else []


def hear(session, *awaited):
    messages = session.retrieve_messages_until(message_type=list(awaited), timeout_seconds=PATIENCE_SECONDS)
    assert messages and text(messages[-1], 35) in awaited, f"none of {awaited} came: {messages}"
    return messages


def hear_reports(session, count):
    reports = []
    while len(reports) < count:
        reports += [message for message in hear(session, "8") if text(message, 35) == "8"]
    return reports


def logged_on(session):
    print(session.sender_comp_id, shown(hear(session, "A", "3")[-1], 98, 108))
    return session


def trading(orders):
    """Every type of order, cancels of every kind, and what is refused. All reports."""
    reports = []

    def order(id, *fields, symbol=BTC, side="1", count=1):
        print(">", id, *[f"{tag}={value}" for tag, value in fields])
        head = [(11, id), (55, symbol), (54, side)]
        heard = ask(orders, "D", head + list(fields), "8", "3")
        while len(heard) < count:
            heard += hear(orders, "8", "3")
        for message in heard:
            print("<", shown(message, 39, 150, 14, 31, 32, 137, 138, 1003, 1057, 371, 25016, 58))
        reports.extend(message for message in heard if text(message, 35) == "8" and text(message, 150) != "8")

    trigger = [(1100, 4), (1101, 1), (1107, 2)]
    order("limit", (38, "0.01"), (40, 2), (44, "59000"), (59, 1))
    order("market", (38, "0.01"), (40, 1), count=2)
    order("cash", (152, "600"), (40, 1), count=2)
    order("maker", (38, "0.01"), (40, 2), (44, "58000"), (18, 6))
    order("taking-maker", (38, "0.01"), (40, 2), (44, "60010"), (18, 6))
    order("immediate", (38, "0.01"), (40, 2), (44, "59000"), (59, 3), count=2)
    order("all-or-none", (38, "0.01"), (40, 2), (44, "60010"), (59, 4), count=2)
    order("stop", (38, "0.01"), (40, 3), *trigger, (1102, "59000"), (1109, "D"), side="2")
    order("profit", (38, "0.01"), (40, 4), (44, "61010"), (59, 1), *trigger, (1102, "61000"), (1109, "U"), side="2")
    order("mode", (38, "0.01"), (40, 2), (44, "57000"), (59, 1), (25001, 2), (7940, 7), (847, 1000001))
    order("limit", (38, "0.01"), (40, 2), (44, "59000"), (59, 1))
    order("no-time", (38, "0.01"), (40, 2), (44, "59000"))
    order("no-direction", (38, "0.01"), (40, 3), *trigger, (1102, "59000"))
    order("tick", (38, "0.01"), (40, 2), (44, "59000.001"), (59, 1))
    order("rich", (38, "100"), (40, 2), (44, "60000"), (59, 1))
    order("bad id", (38, "0.01"), (40, 2), (44, "59000"), (59, 1))
    order("where", (38, "0.01"), (40, 1), symbol="NOSUCH")
    order("iceberg", (38, "0.01"), (40, 2), (44, "59000"), (59, 1), (111, "0.001"))

    def change(kind, fields, *awaited, count=1):
        print(">", kind, *[f"{tag}={value}" for tag, value in fields])
        heard = ask(orders, kind, fields, *awaited)
        while len(heard) < count:
            heard += hear(orders, "8", "9", "r")
        for message in sorted(heard, key=lambda message: text(message, 35)):
            print("<", shown(message, 11, 41, 39, 150, 38, 434, 531, 533, 371, 373, 25016, 58))
        reports.extend(message for message in heard if text(message, 35) == "8" and text(message, 150) != "8")

    change("F", [(11, "c1"), (41, "maker"), (55, BTC)], "8")
    change("F", [(11, "c2"), (41, "maker"), (55, BTC)], "9")
    change("F", [(11, "c3"), (55, BTC)], "3")
    change("XAK", [(11, "less"), (41, "limit"), (55, BTC), (38, "0.005")], "8")
    change("XAK", [(11, "more"), (41, "less"), (55, BTC), (38, "0.02")], "XAR")
    new = [(55, BTC), (54, 1), (38, "0.01"), (40, 2), (44, "58500"), (59, 1)]
    change("XCN", [(11, "second"), (41, "less"), (25033, 1), (25034, "c4"), *new], "8", count=2)
    change("XCN", [(11, "third"), (41, "less"), (25033, 1), (25034, "c5"), *new], "9", count=2)
    change("q", [(11, "all"), (55, BTC), (530, 1)], "r", count=5)
    change("q", [(11, "again"), (55, BTC), (530, 1)], "r")
    limits = ask(orders, "XLQ", [(6136, "limits")], "XLR")[-1]
    rows = [(text(limits, 25004, nth), text(limits, 25006, nth), text(limits, 25007, nth) + text(limits, 25008, nth)) for nth in (1, 2, 3)]
    print("limits", text(limits, 6136), rows)
    return reports


def books_of(reports):
    """The newest state of each order and the trades, in the names of REST. FIX does not tell a stop from a take-profit."""
    orders, trades = {}, []
    for report in reports:
        orders[text(report, 37)] = {
            "symbol": text(report, 55), "orderId": text(report, 37), "side": SIDES[text(report, 54)],
            "clientOrderId": text(report, 41) if text(report, 150) == "4" else text(report, 11),
            "type": kind_of(report), "timeInForce": TIMES[text(report, 59)],
            "price": text(report, 44) or "0.00000000", "origQty": text(report, 38), "executedQty": text(report, 14),
            "status": STATUSES[text(report, 39)]}
        if text(report, 150) == "F":
            trades.append({
                "symbol": text(report, 55), "id": text(report, 1003), "orderId": text(report, 37), "price": text(report, 31),
                "qty": text(report, 32), "commission": text(report, 137), "commissionAsset": text(report, 138),
                "isMaker": text(report, 1057) == "N", "time": None})
    return list(orders.values()), trades


def kind_of(report):
    kind = TYPES[text(report, 40)]
    if kind == "LIMIT":
        return "LIMIT_MAKER" if text(report, 18) == "6" else "LIMIT"
    if kind == "MARKET":
        return kind
    is_loss = (text(report, 54), text(report, 1109)) in (("1", "U"), ("2", "D"))
    return ("STOP_LOSS" if is_loss else "TAKE_PROFIT") + ("_LIMIT" if kind == "STOP_LIMIT" else "")


def compare(account, reports):
    orders, trades = books_of(reports)
    ledger = LAB.ledger()
    for trade in trades:
        same = [entry for entry in ledger["trades"] if (entry["symbol"], entry["tradeId"]) == (trade["symbol"], trade["id"])]
        trade["time"] = same[0]["time"]
    balances = [{name: entry[name] for name in ("asset", "free", "locked")} for entry in ledger["balances"] if entry["account"] == account]
    LAB.compare(account, orders, trades, balances)


def market_data(data, orders):
    listed = ask(data, "x", [(320, "all"), (559, 4)], "y")[-1]
    print("instruments", text(listed, 146), shown(listed, 55, 15, 562, 1140, 25039, 969))
    print(shown(ask(data, "x", [(320, "none"), (559, 0), (55, "NOSUCH")], "3")[-1], 371, 372, 25016, 58))
    book = [(146, 1), (55, "ETHUSDT"), (267, 2), (269, 0), (269, 1)]
    print(shown(ask(data, "V", [(262, "ticker"), (263, 1), (264, 1), *book], "W")[-1], 262, 55, 268, 270, 271))
    depth = ask(data, "V", [(262, "depth"), (263, 1), (264, 10), *book], "W")[-1]
    print(shown(depth, 262, 55, 268, 270))
    ask(data, "V", [(262, "trades"), (263, 1), (264, 1), (146, 1), (55, "ETHUSDT"), (267, 1), (269, 2)])
    print(shown(ask(data, "V", [(262, "ticker"), (263, 1), (264, 1), *book], "Y")[-1], 262, 281, 25016, 58))
    print(shown(ask(data, "V", [(262, "again"), (263, 1), (264, 1), *book], "Y")[-1], 262, 281, 25016, 58))
    print(shown(ask(data, "V", [(262, "odd"), (263, 1), (264, 0), *book], "3")[-1], 25016, 58))
    ask(orders, "D", [(11, "eth"), (55, "ETHUSDT"), (54, 1), (38, "1"), (40, 1)], "8")
    told = {}
    while set(told) != {"ticker", "depth", "trades"}:
        for message in hear(data, "X"):
            told[text(message, 262)] = shown(message, 279, 270, 271, 269, 55, 1003, 2446)
    print(*sorted(told.items()), sep="\n")
    print(shown(ask(data, "D", [(11, "here"), (55, BTC), (54, 1), (38, "1"), (40, 1)], "3")[-1], 25016, 58))
    return hear_reports(orders, 1)


def refused(name, **changes):
    """A connector whose Logon is refused."""
    api_key, private_key = key("ALPHA")
    settings = {"endpoint": LAB.ready["binanceFixOrderEntry"], "api_key": api_key, "private_key": private_key,
                "sender_comp_id": "REFUSED", "reset_seq_num_flag": "Y", **changes}
    session = BinanceFixConnector(**settings)
    session.connect()
    session.logon()
    print(name, shown(hear(session, "3", "A")[-1], 371, 373, 25016, 58))
    session.disconnect()
    # Otherwise its thread may read from the next connection, which gets the same file number.
    session.receive_thread.join()


def main():
    logging.disable(logging.INFO)
    api_key, private_key = key("ALPHA")
    orders = logged_on(create_order_entry_session(api_key, private_key, endpoint=LAB.ready["binanceFixOrderEntry"]))
    copies = logged_on(create_drop_copy_session(api_key, private_key, endpoint=LAB.ready["binanceFixDropCopy"]))
    data = logged_on(create_market_data_session(api_key, private_key, endpoint=LAB.ready["binanceFixMarketData"]))
    reports = trading(orders)
    compare("ALPHA", reports)
    copied = hear_reports(copies, len(reports))
    compare("ALPHA", copied)
    print(shown(ask(copies, "D", [(11, "copy"), (55, BTC), (54, 1), (38, "1"), (40, 1)], "3")[-1], 25016, 58))
    market_data(data, orders)

    refused("wrong key", private_key=key("BETA")[1])
    refused("HMAC key", api_key=LAB.key("ALPHA", "HMAC")[0])
    refused("no such key", api_key="X" * 64)
    refused("numbers go on", reset_seq_num_flag="N")
    refused("slow heart", heart_bt_int=61)
    refused("drop copy here", drop_copy_flag="Y")
    refused("in use", sender_comp_id=orders.sender_comp_id)
    orders.test_request("alive")
    print(shown(hear(orders, "0")[-1], 112))
    print(shown(ask(orders, "2", [(7, 1), (16, 0)], "3")[-1], 372, 25016, 58))
    for session in (orders, copies, data):
        session.logout()
        print(session.sender_comp_id, shown(hear(session, "5")[-1], 58))
        session.disconnect()
    refused("after a Logout", sender_comp_id=orders.sender_comp_id)
    refused("after a cut", sender_comp_id=orders.sender_comp_id)


main()
