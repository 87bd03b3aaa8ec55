"""A client for `rialto venue certify` that trades the plan with Rialto itself: it starts `rialto serve` with the venue type `binance-spot` at
the lab, sends the plan over REST, and writes the books that Rialto has after SETTLE seconds. RIALTO_BIN names the program. It needs nothing but
Python.

What Rialto's REST does not show is completed: the client order id that an order has at the venue comes from the lab's ledger, by the venue's
order id; a fill of a market order is a taker's, one of a limit order a maker's; what is locked follows from Rialto's open orders; the first
leg of a replaced order follows from the order's history. Every other value is Rialto's."""

import json
import os
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from decimal import Decimal

PATIENCE = 8.0
SETTLE = float(os.environ.get("VENUE_CLIENT_SETTLE", "20"))
# Id, base, and steps of quantity and price of what the account holds: without a price of each it may not trade.
SECURITIES = ((1, "BTC", "0.00001", "0.01"), (2, "BNB", "0.001", "0.01"), (3, "ETH", "0.0001", "0.01"), (4, "币安人生", "0.1", "0.0001"))
STATUS = {"PARTIALLY_EXECUTED": "PARTIALLY_FILLED", "EXECUTED": "FILLED", "CANCELED": "CANCELED", "EXPIRED": "EXPIRED", "REJECTED": "REJECTED"}
REFERENCE = {
    "exchanges": "id,name,code,mic,bloombergCode,timeZone,openingAuction,closingAuction\n1,Lab,LAB,XLAB,LB,UTC,0,0\n",
    "trading-hours": "exchangeId,open,close,days\n1,00:00,24:00,MON TUE WED THU FRI SAT SUN\n",
    "holidays": "exchangeId,date,open,close\n",
    "families": "id,name,symbolRoot,isinRoot,ricRoot,currency,contractSize,priceIncr,underlyingId,exchangeId,executionCommission,"
                "clearingCommission,fee\n1,Coins in USDT,,,,USDT,1,0.01,,1,0,0,0\n",
    "accounts": "id,name,active,adapterType,sessionQualifier,extAccount,extAccountGroup,extAllocationProfile,extClearingAccount\n",
    "strategies": "id,name,autoActivate\n",
    "opening": "symbol,mid,spreadTicks,size,volatility\n",
    "securities": "id,objectType,symbol,description,isin,bbgid,ric,conid,adapterTicker,underlyingId,securityFamilyId,exchangeId,currency,"
                  "contractSize,minQty,maxQty,qtyIncr,minPrice,maxPrice,priceIncr,minNotional,tradeable,baseCurrency,transactionCurrency,"
                  "expiration,monthYear,firstNotice,strike,optionType,maturity,coupon,couponFrequency\n"
                  + "".join(f"{number},Forex,{base}.USDT,,,,,,{base}USDT,,1,1,USDT,1,,,{step},,,{tick},,true,{base},USDT,,,,,,,,\n"
                            for number, base, step, tick in SECURITIES),
}
BASES = {number: base for number, base, *_ in SECURITIES}
NUMBERS = {f"{base}USDT": number for number, base, *_ in SECURITIES}


def write_files(folder, key):
    os.mkdir(f"{folder}/reference")
    for name, text in REFERENCE.items():
        with open(f"{folder}/reference/{name}.csv", "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.open(f"{folder}/key.toml", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(f'apiKey = "{key["apiKey"]}"\nprivateKey = """\n{key["privateKeyPem"]}"""\n')


class Server:
    def __init__(self, program, folder, ready):
        listed = subprocess.run([program, "check-config"], capture_output=True, text=True, check=True).stdout.split("\n")
        settings = {line.split()[0]: "0" for line in listed if line and line.split()[0].endswith(".port")} | {
            "reference.path": f"{folder}/reference", "simulated.venues": "", "strategies.instances": "", "demo.activity": "off",
            "demo.openingCash": "", "portfolio.baseCurrency": "USDT", "auth.anonymousRole": "admin",
            "venues.LAB.type": "binance-spot", "venues.LAB.environment": "testnet", "venues.LAB.account": "Lab",
            "venues.LAB.credentials": f"{folder}/key.toml", "venues.LAB.rest": ready["binanceRest"], "venues.LAB.wsApi": ready["binanceWsApi"],
            "venues.LAB.streams": ready["binanceStreams"]}
        flags = [flag for name, value in settings.items() for flag in ("--set", f"{name}={value}")]
        self.process = subprocess.Popen([program, "serve", "--data-dir", f"{folder}/data", *flags], stdout=subprocess.PIPE, text=True)
        self.address = json.loads(self.process.stdout.readline())["http"]

    def call(self, method, path, body=None):
        """Status and answer; amounts keep their digits."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text, parse_float=Decimal) if text.strip() else None

    def get(self, path):
        status, answer = self.call("GET", path)
        return answer if status == 200 else []

    def order(self, name):
        return next(iter(self.get(f"/rest/execution/order/{name}")), None)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)


def settled(order, wants_end):
    if order is None or order["inDoubt"]:
        return order is None
    return order["status"] in STATUS and order["status"] != "PARTIALLY_EXECUTED" or (not wants_end and order["status"] == "SUBMITTED")


def place(server, step):
    kind, name = step["type"].lower(), step["clientOrderId"]
    body = {"securityId": NUMBERS[step["symbol"]], "side": step["side"], "quantity": step["quantity"], "intId": name}
    if kind == "limit":
        body |= {"limit": step["price"], "tif": "GTC"}
    # Until prices of all that the account holds are here nothing is sent.
    answer = (422, {"code": "cash-unknown"})
    until = time.monotonic() + PATIENCE
    while answer[0] == 422 and answer[1].get("code") == "cash-unknown" and time.monotonic() < until:
        answer = server.call("POST", f"/rest/execution/order/{kind}", body)
        time.sleep(0.1)
    if answer[0] != 200:
        print("refused:", body, answer)
    else:
        wait_for(lambda: settled(server.order(name), kind == "market"), PATIENCE)


def execute(server, step):
    name = step["clientOrderId"]
    if step["do"] == "place":
        place(server, step)
    elif step["do"] == "cancel":
        server.call("DELETE", f"/rest/execution/order/{name}")
        wait_for(lambda: settled(server.order(name), True), PATIENCE)
    else:
        server.call("POST", "/rest/execution/modify/order/limit", {"intId": name, "quantity": step["quantity"], "limit": step["price"]})
        wait_for(lambda: settled(server.order(name), False), PATIENCE)


class LedgerIds:
    """Client order ids of the venue, by its order ids."""

    def __init__(self, ready, account):
        with urllib.request.urlopen(ready["admin"] + "/ledger") as answer:
            orders = json.load(answer)["orders"]
        self.orders = [order for order in orders if order["account"] == account]

    def client_id(self, symbol, venue_id, number):
        found = [order["clientOrderId"] for order in self.orders if (order["symbol"], order["orderId"]) == (symbol, venue_id)]
        own = [client_id for client_id in found if f"-{number}-" in client_id]
        return next(iter(own or found), "")


def number_of(ext_id):
    """The venue's number of an order: Rialto names one that was placed elsewhere with its symbol."""
    return ext_id.rsplit(":", 1)[-1]


def order_entries(server, order, ids, first_limits):
    symbol = f"{BASES[order['securityId']]}USDT"
    kind = "MARKET" if order["objectType"] == "MarketOrder" else "LIMIT"
    common = {"symbol": symbol, "side": order["side"], "type": kind, "timeInForce": "GTC"}
    ext_id = order["extId"] or ""
    number = number_of(ext_id)
    yield common | {"orderId": number, "clientOrderId": ids.client_id(symbol, number, order["id"]), "price": str(order.get("limit", 0)),
                    "quantity": str(order["quantity"]), "filled": str(order["filledQuantity"]), "status": STATUS.get(order["status"], "NEW")}
    before = {}
    for event in server.get(f"/rest/history/order/{order['intId']}/event"):
        if event["extId"] not in (None, ext_id):
            before[event["extId"]] = event
    for leg, event in before.items():
        yield common | {"orderId": leg, "clientOrderId": ids.client_id(symbol, leg, order["id"]), "price": first_limits.get(order["intId"], "0"),
                        "quantity": str(event["filledQuantity"] + event["remainingQuantity"]), "filled": str(event["filledQuantity"]),
                        "status": "CANCELED"}


def trade_entry(transaction, kinds):
    symbol, trade_id = transaction["extId"].rsplit(":", 1)
    charge = next(iter(transaction["charges"]), {"amount": 0, "currency": "USDT"})
    own = transaction["executionCommission"]
    return {"symbol": symbol, "tradeId": trade_id, "orderId": number_of(transaction["extOrderId"]), "price": str(transaction["price"]),
            "quantity": str(abs(transaction["quantity"])), "commission": str(own or charge["amount"]),
            "commissionAsset": transaction["currency"] if own else charge["currency"],
            "maker": kinds.get(transaction["intOrderId"]) == "LimitOrder"}


def balance_entries(server, orders):
    total, locked = {}, {}
    for cash in server.get("/rest/portfolio/balance"):
        total[cash["currency"]] = total.get(cash["currency"], Decimal(0)) + cash["amount"]
    for position in server.get("/rest/position"):
        base = BASES[position["securityId"]]
        total[base] = total.get(base, Decimal(0)) + position["quantity"]
    for order in orders:
        if order["status"] not in STATUS or order["status"] == "PARTIALLY_EXECUTED":
            is_sell = order["side"] == "SELL"
            asset = BASES[order["securityId"]] if is_sell else "USDT"
            locked[asset] = locked.get(asset, Decimal(0)) + order["remainingQuantity"] * (1 if is_sell else order.get("limit", 0))
    return [{"asset": asset, "free": str(amount - locked.get(asset, 0)), "locked": str(locked.get(asset, 0))} for asset, amount in total.items()]


def books(server, ready, plan):
    ids = LedgerIds(ready, plan["account"])
    orders = server.get("/rest/history/order")
    kinds = {order["intId"]: order["objectType"] for order in orders}
    first_limits = {step["clientOrderId"]: step["price"] for step in plan["steps"] if step["do"] == "place" and "price" in step}
    transactions = [entry for entry in server.get("/rest/history/transaction") if entry["type"] in ("BUY", "SELL") and entry["extId"]]
    print("breaks:", json.dumps(server.get("/rest/break"), default=str))
    return {"orders": [entry for order in orders for entry in order_entries(server, order, ids, first_limits)],
            "trades": [trade_entry(transaction, kinds) for transaction in transactions], "balances": balance_entries(server, orders)}


def main():
    ready, plan = (json.load(open(os.environ[name])) for name in ("RIALTO_VENUE_READY", "RIALTO_VENUE_PLAN"))
    key = next(key for key in json.load(open(ready["keys"])) if (key["account"], key["kind"]) == (plan["account"], "ED25519"))
    with tempfile.TemporaryDirectory() as folder, urllib.request.urlopen(ready["admin"] + "/ledger") as answer:
        opening = [entry for entry in json.load(answer)["balances"] if entry["account"] == plan["account"]]
        write_files(folder, key)
        server = Server(os.environ.get("RIALTO_BIN", "rialto"), folder, ready)
        try:
            wait_for(lambda: any(adapter["state"] == "SUBSCRIBED" for adapter in server.get("/rest/adapter")), 30)
            for entry in opening:
                server.call("POST", "/rest/transaction", {"type": "CREDIT", "price": entry["free"], "currency": entry["asset"], "accountId": 1})
            for step in plan["steps"]:
                execute(server, step)
            time.sleep(SETTLE)
            written = books(server, ready, plan)
        finally:
            server.stop()
    with open(os.environ["RIALTO_VENUE_BOOKS"], "w", encoding="utf-8") as file:
        json.dump(written, file)


main()
