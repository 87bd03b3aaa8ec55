"""ccxt.pro trades at the venue lab over its WebSocket API and watches its streams. Everything that ccxt was told by events of
the account is compared with the lab's ledger. The first argument names a file with the lab's ready line."""

import asyncio

import ccxt.pro

from lab import Lab

BTC = "BTC/USDT"
# A wait that takes longer has failed; a slow machine needs a second or two.
PATIENCE_SECONDS = 40


async def wait_until(what, condition):
    """Waits for what the venue was told to send, and says what is missing where it does not come."""
    for _ in range(PATIENCE_SECONDS * 50):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError(f"{what} did not come within {PATIENCE_SECONDS} s")


class Binance(ccxt.pro.binance):
    """ccxt's client; it also counts the subscriptions that the venue has confirmed."""

    confirmed = 0

    def handle_message(self, client, message):
        if isinstance(message, dict) and message.get("result", ...) is None:
            self.confirmed += 1
        return super().handle_message(client, message)


def connect(lab, account, kind):
    key, secret = lab.key(account, kind)
    exchange = Binance({"apiKey": key, "secret": secret, "enableRateLimit": False})
    exchange.options.update({"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False})
    exchange.urls["api"]["public"] = exchange.urls["api"]["private"] = lab.ready["binanceRest"] + "/api/v3"
    exchange.urls["api"]["ws"]["spot"] = lab.ready["binanceStreams"] + "/ws"
    exchange.urls["api"]["ws"]["ws-api"]["spot"] = lab.ready["binanceWsApi"]
    return exchange


class Watcher:
    """Everything that one watching method returns, until it is stopped."""

    def __init__(self, what, watch):
        self.what, self.seen = what, []
        self.task = asyncio.ensure_future(self.run(watch))

    async def run(self, watch):
        while True:
            seen = await watch()
            self.seen += seen if isinstance(seen, list) else [seen]

    async def wait(self, condition):
        def has_come():
            if self.task.done():
                self.task.result()
            return any(condition(entry) for entry in self.seen)

        await wait_until(self.what, has_come)

    async def stop(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def trade(exchange):
    """Orders over the WebSocket API."""
    rest = await exchange.create_order_ws(BTC, "limit", "buy", 0.01, 59000, {"newClientOrderId": "rest"})
    print("placed", rest["clientOrderId"], rest["status"])
    take = await exchange.create_order_ws(BTC, "market", "buy", 0.6, None, {"newClientOrderId": "take"})
    print("took", take["status"], take["filled"], len(take["trades"]), "trades")
    found = await exchange.fetch_order_ws(rest["id"], BTC)
    print("found", found["status"], found["price"])
    edited = await exchange.edit_order_ws(rest["id"], BTC, "limit", "buy", 0.02, 59100, {"newClientOrderId": "edited"})
    print("edited", edited["status"], edited["amount"])
    print("open", [order["clientOrderId"] for order in await exchange.fetch_open_orders_ws(BTC)])
    print("trades", len(await exchange.fetch_my_trades_ws(BTC)))
    await exchange.cancel_order_ws(edited["id"], BTC)
    for name, call in {
        "duplicate": lambda: exchange.create_order_ws(BTC, "limit", "buy", 0.01, 59000, {"newClientOrderId": "last"}),
        "unknown": lambda: exchange.cancel_order_ws("999999", BTC),
        "too much": lambda: exchange.create_order_ws(BTC, "limit", "buy", 100, 59000),
    }.items():
        try:
            if name == "duplicate":
                await call()
            await call()
        except ccxt.BaseError as error:
            print(name, type(error).__name__)
    await exchange.cancel_all_orders_ws(BTC)


async def market_data(exchange, other):
    """A book of a snapshot and differences equals a new snapshot; trades, tickers and bars arrive."""
    tickers = Watcher("a ticker", lambda: exchange.watch_ticker(BTC))
    bars = Watcher("a bar", lambda: exchange.watch_ohlcv(BTC, "1m"))
    books = Watcher("the book", lambda: exchange.watch_order_book(BTC))
    quotes = Watcher("the best prices", lambda: exchange.watch_bids_asks([BTC]))
    trades = Watcher("a trade", lambda: exchange.watch_trades(BTC))
    await wait_until("the confirmation of five subscriptions", lambda: exchange.confirmed >= 5)
    await tickers.wait(lambda ticker: ticker["last"] > 0)
    await bars.wait(lambda bar: bar[4] > 0)
    await exchange.create_order_ws(BTC, "limit", "buy", 0.03, 60000, {"newClientOrderId": "best"})
    await books.wait(lambda book: book["bids"][0][0] == 60000)
    await quotes.wait(lambda quote: quote[BTC]["bid"] == 60000)
    watched = exchange.orderbooks[BTC]
    fetched = await exchange.fetch_order_book(BTC, 100)
    same = all([list(level[:2]) for level in watched[side]] == [list(level[:2]) for level in fetched[side]]
               for side in ("bids", "asks"))
    print("book by differences equals a snapshot:", same, len(fetched["bids"]), len(fetched["asks"]))
    await other.create_order(BTC, "market", "sell", 0.01)
    await trades.wait(lambda trade: trade["price"] == 60000 and trade["side"] == "sell")
    print("trade seen at the best bid")
    for watcher in (trades, tickers, quotes, bars, books):
        await watcher.stop()
    await exchange.cancel_order_ws(None, BTC, {"origClientOrderId": "best"})


def told(orders, trades):
    """The newest event of each order, and the trades, in the names of REST."""
    newest = {}
    for event in (order["info"] for order in orders):
        if event["i"] not in newest or event["I"] > newest[event["i"]]["I"]:
            newest[event["i"]] = event
    return (
        [{"symbol": e["s"], "orderId": e["i"], "clientOrderId": e["C"] or e["c"], "side": e["S"], "type": e["o"],
          "timeInForce": e["f"], "price": e["p"], "origQty": e["q"], "executedQty": e["z"], "status": e["X"]}
         for e in newest.values()],
        [{"symbol": e["s"], "id": e["t"], "orderId": e["i"], "price": e["L"], "qty": e["l"], "commission": e["n"],
          "commissionAsset": e["N"], "isMaker": e["m"], "time": e["T"]} for e in (trade["info"] for trade in trades)],
    )


async def session(lab, account, exchange, other):
    """One account trades and watches; the other one hits its bid."""
    before = lab.ledger()
    await exchange.load_markets()
    await exchange.authenticate({"type": "spot"})
    orders = Watcher("the events of orders", lambda: exchange.watch_orders(BTC))
    trades = Watcher("the events of trades", lambda: exchange.watch_my_trades(BTC))
    balances = Watcher("the events of balances", exchange.watch_balance)
    await trade(exchange)
    await market_data(exchange, other)
    await exchange.create_order_ws(BTC, "limit", "buy", 0.01, 58000, {"newClientOrderId": "end"})
    await exchange.cancel_order_ws(None, BTC, {"origClientOrderId": "end"})
    await orders.wait(lambda order: order["clientOrderId"] == "end" and order["status"] == "canceled")
    kept = {entry["asset"]: float(entry["free"]) for entry in lab.ledger()["balances"] if entry["account"] == account}

    def equals_the_ledger():
        newest = balances.seen[-1] if balances.seen else {}
        return newest and all(newest[asset]["free"] == free for asset, free in kept.items() if asset in newest)

    await wait_until("balances that equal the ledger", equals_the_ledger)
    print("balances by events equal the ledger", sorted(set(balances.seen[-1]) & set(kept)))
    rest = await exchange.fetch_balance()
    lab.compare(account, *told(orders.seen, trades.seen), rest["info"]["balances"], before)
    for watcher in (orders, trades, balances):
        await watcher.stop()


async def main():
    lab = Lab()
    for account, kind, other in (("ALPHA", "HMAC", "BETA"), ("BETA", "ED25519", "ALPHA")):
        exchanges = connect(lab, account, kind), connect(lab, other, "HMAC")
        try:
            await session(lab, account, *exchanges)
        finally:
            for exchange in exchanges:
                await exchange.close()


asyncio.run(main())
