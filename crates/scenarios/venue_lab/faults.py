"""Faults of the venue lab as ccxt sees them over REST and as a plain WebSocket client sees them: what the client is told, and
what the ledger says. The first argument names a file with the lab's ready line; further ones name faults, else all are played."""

import asyncio
import hashlib
import hmac
import json
import sys
import time

import aiohttp

from faults_client import attempt, connect
from lab import Lab

BTC, ETH = "BTC/USDT", "ETH/USDT"


class OverRest:
    """One method for each fault that is seen over REST; it returns what was seen."""

    def __init__(self, lab):
        self.lab, self.alpha, self.beta = lab, connect(lab, "ALPHA"), connect(lab, "BETA")

    def place(self, name, exchange=None, **params):
        exchange = exchange or self.alpha
        return exchange.create_order(BTC, "limit", "buy", 0.01, 59000, {"newClientOrderId": name, **params})

    def find(self, name):
        return self.alpha.fetch_order(None, BTC, {"origClientOrderId": name})

    def in_ledger(self, *names):
        """The status of the orders with these ids, as the ledger has them."""
        return [order["status"] for order in self.lab.ledger()["orders"] if order["clientOrderId"] in names]

    def placing(self, fault):
        self.lab.arm(fault)
        return attempt(lambda: self.place(fault)), self.in_ledger(fault)

    def late_query(self, fault):
        self.place(fault)
        self.lab.arm(fault, count=2)
        return [attempt(lambda: self.find(fault)) for _ in range(3)]

    def late_request(self, fault):
        self.lab.arm(fault)
        began = time.monotonic()
        return self.place(fault, recvWindow=1200)["status"], time.monotonic() - began > 0.9

    def replace_half(self, fault):
        order = self.place("half")
        self.lab.arm(fault)
        edit = lambda: self.alpha.edit_order(order["id"], BTC, "limit", "buy", 0.02, 59100, {"newClientOrderId": "half-2"})
        return attempt(edit), self.in_ledger("half", "half-2")

    def replace_cut(self, fault):
        order = self.place("cut")
        self.lab.arm(fault)
        edit = lambda: self.alpha.edit_order(order["id"], BTC, "limit", "buy", 0.02, 59100, {"newClientOrderId": "cut-2"})
        return attempt(edit), self.in_ledger("cut", "cut-2")

    def fill_after_cancel(self, fault):
        order = self.place(fault)
        self.lab.arm(fault)
        return self.alpha.cancel_order(order["id"], BTC)["status"], self.in_ledger(fault)

    def order_ids_reissued(self, fault):
        ended = self.place("ended")
        self.alpha.cancel_order(ended["id"], BTC)
        self.lab.arm(fault)
        order = self.place(fault)
        return order["id"] == ended["id"], self.in_ledger("ended", fault)

    def list_partial(self, fault):
        whole = len(self.alpha.fetch_orders(BTC))
        self.lab.arm(fault)
        return len(self.alpha.fetch_orders(BTC)) == whole // 2, len(self.alpha.fetch_orders(BTC)) == whole

    def fee_foreign(self, fault):
        buy = lambda: self.beta.create_order(BTC, "market", "buy", 0.01)["fee"]["currency"]
        before = buy()
        self.lab.arm(fault)
        return before, buy()

    def strangers(self, fault):
        self.lab.arm(fault)
        self.place(fault)
        orders = [order for order in self.lab.ledger()["orders"] if order["clientOrderId"].startswith("web_")]
        return [(order["type"], order["status"]) for order in orders]

    def balance_moves(self, fault):
        total = lambda: self.alpha.fetch_balance()["USDT"]["total"]
        before = total()
        self.lab.arm(fault)
        self.place(fault)
        return round(total() - before, 8)

    def clock_off(self, fault):
        self.lab.arm(fault, seconds=600)
        ahead = self.alpha.fetch_time() - self.alpha.milliseconds() > 2000
        refused = attempt(lambda: self.place(fault, recvWindow=1000))
        self.lab.admin("/faults", method="DELETE")
        return ahead, refused, attempt(lambda: self.place(fault, recvWindow=5000))

    def filters_change(self, fault):
        buy = lambda: self.alpha.create_order(ETH, "limit", "buy", 0.01, 2900.01)
        before = attempt(buy)
        self.lab.arm(fault)
        refused = attempt(buy)
        return before, refused, self.alpha.fetch_markets()[1]["precision"]

    def odd_values(self, fault):
        self.place(fault)
        self.lab.arm(fault)
        return [self.find(fault)["info"]["status"] for _ in range(2)]

    def id_reused(self, _):
        for _ in range(2):
            self.alpha.create_order(BTC, "market", "buy", 0.001, None, {"newClientOrderId": "reused"})
        return self.in_ledger("reused")

    def trade_ids_repeat(self, _):
        trades = [self.beta.create_order(symbol, "market", "buy", 0.01)["trades"][0]["id"] for symbol in (ETH, "BNB/USDT")]
        return trades


class Session:
    """A connection to the WebSocket API of the account BETA, with requests signed by hand."""

    def __init__(self, lab, socket):
        self.lab, self.socket, self.events = lab, socket, []

    async def request(self, method, **params):
        key, secret = self.lab.key("BETA", "HMAC")
        params |= {"apiKey": key, "timestamp": int(time.time() * 1000)}
        payload = "&".join(f"{name}={params[name]}" for name in sorted(params))
        params["signature"] = hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()
        try:
            await self.socket.send_str(json.dumps({"id": method, "method": method, "params": params}))
        except ConnectionError:
            return "connection ended"
        while True:
            message = await self.socket.receive(60)
            if message.type != aiohttp.WSMsgType.TEXT:
                return "connection ended"
            data = json.loads(message.data)
            if "event" not in data:
                return data
            self.events.append(data["event"])

    async def market_order(self):
        return await self.request("order.place", symbol="BTCUSDT", side="BUY", type="MARKET", quantity="0.001")

    async def events_of_an_order(self):
        """The kinds of events that came with an order, and before the answer to a query behind it."""
        self.events = []
        await self.market_order()
        ended = [] if isinstance(await self.request("account.status"), dict) else ["connection ended"]
        return [event.get("x") or event["e"] for event in self.events] + ended


async def with_session(lab, fault, arms_first=False):
    async with aiohttp.ClientSession() as client, client.ws_connect(lab.ready["binanceWsApi"]) as socket:
        session = Session(lab, socket)
        if arms_first:
            lab.arm(fault)
        await session.request("userDataStream.subscribe.signature")
        if fault == "fills-replayed":
            await session.events_of_an_order()
        if not arms_first and fault != "none":
            lab.arm(fault)
        seen = await session.events_of_an_order()
        if fault == "odd-fills":
            return [(event["l"], event["n"]) for event in session.events if event.get("x") == "TRADE"]
        return seen


async def depth_damage(lab, fault):
    """A message of changes is lost: the next one does not follow the last one."""
    async with aiohttp.ClientSession() as client, client.ws_connect(lab.ready["binanceStreams"] + "/ws/btcusdt@depth@100ms") as stream, \
            client.ws_connect(lab.ready["binanceWsApi"]) as socket:
        session = Session(lab, socket)

        async def change():
            await session.market_order()
            return json.loads((await stream.receive(60)).data)

        first, second = await change(), await change()
        lab.arm(fault)
        await session.market_order()
        # The lost one is due within a tenth of a second of the order; what is listed as injected has been lost.
        while fault not in [entry["fault"] for entry in json.loads(lab.admin("/faults"))["injected"]]:
            await asyncio.sleep(0.02)
        third = await change()
        return second["U"] - first["u"], third["U"] - second["u"]


async def stream_never(lab, fault):
    lab.arm(fault)
    async with aiohttp.ClientSession() as client, client.ws_connect(lab.ready["binanceStreams"] + "/ws") as socket:
        for number, symbol in enumerate(("btcusdt", "ethusdt")):
            await socket.send_str(json.dumps({"method": "SUBSCRIBE", "params": [symbol + "@depth5@100ms"], "id": number}))
        answers = [json.loads((await socket.receive(60)).data) for _ in range(4)]
    confirmed = sum(answer.get("result", ...) is None for answer in answers)
    return confirmed, "confirmed", sum("bids" in answer for answer in answers), "sent", await with_session(lab, fault, True)


PLACING = ("taken-unknown", "not-taken-unknown", "cut-answer", "rate-limited", "endpoint-moved", "signature-rule", "key-revoked",
           "cancel-only")
OF_EVENTS = ("stream-mute", "key-expired", "server-shutdown", "events-shuffled", "fill-only-in-list", "fills-replayed", "odd-fills")


def main():
    lab = Lab()
    rest = OverRest(lab)
    catalogue = json.loads(lab.admin("/faults/catalogue"))
    wanted = sys.argv[2:] or [entry["fault"] for entry in catalogue]
    print("no fault", asyncio.run(with_session(lab, "none")))
    for entry in catalogue:
        fault = entry["fault"]
        if fault not in wanted:
            continue
        if entry["kind"] == "fix":
            print(fault, "strikes FIX sessions alone")
        elif fault in PLACING:
            print(fault, rest.placing(fault))
        elif fault in OF_EVENTS:
            print(fault, asyncio.run(with_session(lab, fault)))
        elif fault in ("depth-damage", "stream-never"):
            print(fault, asyncio.run(globals()[fault.replace("-", "_")](lab, fault)))
        else:
            print(fault, getattr(rest, fault.replace("-", "_"))(fault))
    faults = json.loads(lab.admin("/faults"))
    print("still armed", faults["armed"], "kinds injected", len({entry["fault"] for entry in faults["injected"]}))


main()
