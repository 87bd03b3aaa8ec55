"""NautilusTrader at the venue lab: from `submit_order` of a strategy to its OrderAccepted, one at a time, and processor time of the node for
each thousand updates of order books, while best quotes and trades of the same symbols are followed too."""

import asyncio
import os
import time

from nautilus_trader.adapters.binance import BINANCE
from nautilus_trader.adapters.binance import (
    BinanceDataClientConfig,
    BinanceExecClientConfig,
    BinanceLiveDataClientFactory,
    BinanceLiveExecClientFactory,
)
from nautilus_trader.config import InstrumentProviderConfig, LoggingConfig, TradingNodeConfig
from nautilus_trader.live.node import TradingNode
from nautilus_trader.model.enums import BookType, OrderSide, TimeInForce
from nautilus_trader.model.identifiers import InstrumentId, TraderId
from nautilus_trader.trading.strategy import Strategy

from measured import ORDERS, SECONDS_OF_DEPTH, SYMBOLS, cpu_micros, key_of, ready_line, tell

PATIENCE = 30.0


def configuration(ready):
    key = key_of(ready)
    provider = InstrumentProviderConfig(load_ids=frozenset(InstrumentId.from_str(f"{symbol}.BINANCE") for symbol in SYMBOLS))
    common = {"api_key": key["apiKey"], "api_secret": key["secret"], "base_url_http": ready["binanceRest"],
              "base_url_ws": ready["binanceStreams"], "instrument_provider": provider}
    return TradingNodeConfig(
        trader_id=TraderId("LAB-001"),
        logging=LoggingConfig(log_level="ERROR", log_colors=False),
        data_clients={BINANCE: BinanceDataClientConfig(**common)},
        exec_clients={BINANCE: BinanceExecClientConfig(**common)},
        timeout_connection=20.0,
        timeout_reconciliation=10.0,
    )


class BenchStrategy(Strategy):
    def __init__(self):
        super().__init__()
        self.updates = 0
        self.begun = 0.0
        self.latencies = []
        self.answered = asyncio.Event()

    def place(self):
        instrument = self.cache.instrument(InstrumentId.from_str("BTCUSDT.BINANCE"))
        order = self.order_factory.limit(instrument_id=instrument.id, order_side=OrderSide.BUY, quantity=instrument.make_qty(0.001),
                                         price=instrument.make_price(20000), time_in_force=TimeInForce.IOC)
        self.answered.clear()
        self.begun = time.perf_counter()
        self.submit_order(order)

    def on_order_accepted(self, event):
        self.latencies.append(time.perf_counter() - self.begun)
        self.answered.set()

    def on_order_rejected(self, event):
        raise RuntimeError(f"the lab refused an order: {event.reason}")

    def watch_prices(self):
        for symbol in SYMBOLS:
            instrument = InstrumentId.from_str(f"{symbol}.BINANCE")
            self.subscribe_order_book_deltas(instrument, book_type=BookType.L2_MBP)
            self.subscribe_quote_ticks(instrument)
            self.subscribe_trade_ticks(instrument)

    def on_order_book_deltas(self, deltas):
        self.updates += 1


async def main():
    node = TradingNode(config=configuration(ready_line()), loop=asyncio.get_running_loop())
    strategy = BenchStrategy()
    node.trader.add_strategy(strategy)
    node.add_data_client_factory(BINANCE, BinanceLiveDataClientFactory)
    node.add_exec_client_factory(BINANCE, BinanceLiveExecClientFactory)
    node.build()
    running = asyncio.create_task(node.run_async())
    until = time.monotonic() + PATIENCE
    while not strategy.is_running:
        if running.done() or time.monotonic() > until:
            raise RuntimeError("the node did not start")
        await asyncio.sleep(0.05)
    for _ in range(ORDERS):
        strategy.place()
        await asyncio.wait_for(strategy.answered.wait(), PATIENCE)
    strategy.watch_prices()
    # The first books are whole by then.
    await asyncio.sleep(3)
    updates, cpu = strategy.updates, cpu_micros()
    await asyncio.sleep(SECONDS_OF_DEPTH)
    tell("NautilusTrader", strategy.latencies, strategy.updates - updates, cpu_micros() - cpu)
    # It is measured; what the node would do while it stops is no part of it.
    os._exit(0)


asyncio.run(main())
