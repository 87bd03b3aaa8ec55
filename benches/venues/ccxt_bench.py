"""ccxt.pro at the venue lab: from an order to its acknowledgement over the WebSocket API, one at a time, and processor time for each
thousand updates of order books, while best quotes and trades of the same symbols are followed too."""

import asyncio
import time

import ccxt.pro

from measured import ORDERS, SECONDS_OF_DEPTH, SYMBOLS, cpu_micros, key_of, ready_line, tell


class Binance(ccxt.pro.binance):
    """ccxt's client; it also counts the differences of books that it was sent."""

    updates = 0

    def handle_order_book_message(self, client, message, orderbook):
        self.updates += 1
        return super().handle_order_book_message(client, message, orderbook)


def connect(ready):
    key = key_of(ready)
    exchange = Binance({"apiKey": key["apiKey"], "secret": key["secret"], "enableRateLimit": False})
    exchange.options.update({"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False})
    exchange.urls["api"]["public"] = exchange.urls["api"]["private"] = ready["binanceRest"] + "/api/v3"
    exchange.urls["api"]["ws"]["spot"] = ready["binanceStreams"] + "/ws"
    exchange.urls["api"]["ws"]["ws-api"]["spot"] = ready["binanceWsApi"]
    return exchange


async def acknowledged(exchange):
    latencies = []
    for _ in range(ORDERS):
        begun = time.perf_counter()
        await exchange.create_order_ws("BTC/USDT", "limit", "buy", 0.001, 20000, {"timeInForce": "IOC"})
        latencies.append(time.perf_counter() - begun)
    return latencies


async def watch(call, *arguments):
    while True:
        await call(*arguments)


def watchers(exchange):
    """Depth, best quotes and trades of every symbol: what a trading platform follows."""
    pairs = [f"{symbol[:-4]}/USDT" for symbol in SYMBOLS]
    calls = [watch(exchange.watch_order_book, pair) for pair in pairs]
    calls += [watch(exchange.watch_bids_asks, pairs), watch(exchange.watch_trades_for_symbols, pairs)]
    return [asyncio.ensure_future(call) for call in calls]


async def main():
    exchange = connect(ready_line())
    await exchange.load_markets()
    latencies = await acknowledged(exchange)
    watching = watchers(exchange)
    # The first books are whole by then.
    await asyncio.sleep(3)
    updates, cpu = exchange.updates, cpu_micros()
    await asyncio.sleep(SECONDS_OF_DEPTH)
    tell("ccxt.pro", latencies, exchange.updates - updates, cpu_micros() - cpu)
    for watcher in watching:
        watcher.cancel()
    await exchange.close()


asyncio.run(main())
