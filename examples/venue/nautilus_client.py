"""A client for `rialto venue certify` that trades the plan with a NautilusTrader node, its Binance spot adapter, and writes the books that the
node has in its cache. It needs nautilus_trader (`make venue-clients` installs it). The labs of a certificate have listen keys, which
the adapter needs.

Orders go through `Strategy.submit_order` and `Strategy.cancel_order`. The adapter modifies no spot orders, so a replace is a cancel and a
new order. Each step waits until the node knows what came of it, at most PATIENCE; at the end the node has SETTLE to reconcile."""

import asyncio
import json
import os
import sys
from decimal import Decimal

from nautilus_trader.adapters.binance import BINANCE
from nautilus_trader.adapters.binance import (
    BinanceDataClientConfig,
    BinanceExecClientConfig,
    BinanceLiveDataClientFactory,
    BinanceLiveExecClientFactory,
)
from nautilus_trader.config import InstrumentProviderConfig, LiveExecEngineConfig, LoggingConfig, TradingNodeConfig
from nautilus_trader.live.node import TradingNode
from nautilus_trader.model.enums import LiquiditySide, OrderSide, OrderStatus, OrderType, TimeInForce
from nautilus_trader.model.events import OrderFilled
from nautilus_trader.model.identifiers import ClientOrderId, InstrumentId, TraderId, Venue
from nautilus_trader.trading.strategy import Strategy

PATIENCE = 8.0
SETTLE = float(os.environ.get("VENUE_CLIENT_SETTLE", "20"))
SYMBOLS = ("BTCUSDT", "ETHUSDT", "BNBUSDT")
STATUS = {OrderStatus.FILLED: "FILLED", OrderStatus.CANCELED: "CANCELED", OrderStatus.EXPIRED: "EXPIRED",
          OrderStatus.REJECTED: "REJECTED", OrderStatus.DENIED: "REJECTED", OrderStatus.PARTIALLY_FILLED: "PARTIALLY_FILLED"}
UNDECIDED = (OrderStatus.INITIALIZED, OrderStatus.SUBMITTED)


def configuration(ready, key):
    provider = InstrumentProviderConfig(load_ids=frozenset(InstrumentId.from_str(f"{symbol}.BINANCE") for symbol in SYMBOLS))
    common = {"api_key": key["apiKey"], "api_secret": key["secret"], "base_url_http": ready["binanceRest"],
              "base_url_ws": ready["binanceStreams"], "instrument_provider": provider}
    return TradingNodeConfig(
        trader_id=TraderId("LAB-001"),
        logging=LoggingConfig(log_level="INFO", log_colors=False),
        # The node's own means against lost reports: it asks about orders in flight (by default) and about open ones.
        exec_engine=LiveExecEngineConfig(reconciliation=True, reconciliation_startup_delay_secs=1.0, open_check_interval_secs=5.0,
                                         open_check_open_only=False),
        data_clients={BINANCE: BinanceDataClientConfig(**common)},
        exec_clients={BINANCE: BinanceExecClientConfig(**common)},
        timeout_connection=20.0,
        timeout_reconciliation=10.0,
    )


class PlanStrategy(Strategy):
    def on_start(self):
        self.subscribe_quote_ticks(InstrumentId.from_str("BTCUSDT.BINANCE"))

    def order_of(self, name):
        # The adapter takes an order for its own by the O that its id begins with.
        return self.cache.order(ClientOrderId(f"O-{name}"))

    def place(self, step, name):
        instrument = self.cache.instrument(InstrumentId.from_str(f"{step['symbol']}.BINANCE"))
        terms = {"instrument_id": instrument.id, "order_side": OrderSide[step["side"]],
                 "quantity": instrument.make_qty(Decimal(step["quantity"])), "time_in_force": TimeInForce.GTC,
                 "client_order_id": ClientOrderId(f"O-{name}")}
        if step["type"] == "LIMIT":
            order = self.order_factory.limit(price=instrument.make_price(Decimal(step["price"])), **terms)
        else:
            order = self.order_factory.market(**terms)
        self.submit_order(order)

    def is_known(self, name, wants_end):
        order = self.order_of(name)
        return order is None or (order.is_closed if wants_end else order.status not in UNDECIDED)


async def wait_for(condition, seconds):
    until = asyncio.get_running_loop().time() + seconds
    while not condition() and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.05)


async def execute(strategy, step):
    name = step["clientOrderId"]
    if step["do"] != "place":
        order = strategy.order_of(name)
        if order is not None and not order.is_closed:
            strategy.cancel_order(order)
            await wait_for(lambda: strategy.is_known(name, True), PATIENCE)
        if step["do"] == "cancel":
            return
        name = step["newClientOrderId"]
    strategy.place(step, name)
    await wait_for(lambda: strategy.is_known(name, step["type"] == "MARKET"), PATIENCE)


def order_entry(order):
    is_market = order.order_type == OrderType.MARKET
    return {"symbol": order.instrument_id.symbol.value, "orderId": order.venue_order_id.value if order.venue_order_id else "",
            "clientOrderId": order.client_order_id.value, "side": order.side_string(), "type": "MARKET" if is_market else "LIMIT",
            "timeInForce": "GTC", "price": "0" if is_market else str(order.price), "quantity": str(order.quantity),
            "filled": str(order.filled_qty), "status": STATUS.get(order.status, "NEW")}


def trade_entries(order):
    for fill in (event for event in order.events if isinstance(event, OrderFilled)):
        yield {"symbol": fill.instrument_id.symbol.value, "tradeId": fill.trade_id.value, "orderId": fill.venue_order_id.value,
               "price": str(fill.last_px), "quantity": str(fill.last_qty), "commission": f"{fill.commission.as_decimal():f}",
               "commissionAsset": fill.commission.currency.code, "maker": fill.liquidity_side == LiquiditySide.MAKER}


def books(node):
    orders = node.cache.orders()
    account = node.cache.account_for_venue(Venue(BINANCE))
    balances = account.balances().values() if account else []
    return {"orders": [order_entry(order) for order in orders], "trades": [entry for order in orders for entry in trade_entries(order)],
            "balances": [{"asset": balance.currency.code, "free": f"{balance.free.as_decimal():f}",
                          "locked": f"{balance.locked.as_decimal():f}"} for balance in balances]}


async def main():
    ready, plan = (json.load(open(os.environ[name])) for name in ("RIALTO_VENUE_READY", "RIALTO_VENUE_PLAN"))
    key = next(key for key in json.load(open(ready["keys"])) if (key["account"], key["kind"]) == (plan["account"], "HMAC"))
    node = TradingNode(config=configuration(ready, key), loop=asyncio.get_running_loop())
    strategy = PlanStrategy()
    node.trader.add_strategy(strategy)
    node.add_data_client_factory(BINANCE, BinanceLiveDataClientFactory)
    node.add_exec_client_factory(BINANCE, BinanceLiveExecClientFactory)
    node.build()
    running = asyncio.create_task(node.run_async())
    await wait_for(lambda: strategy.is_running or running.done(), 40.0)
    if strategy.is_running:
        for step in plan["steps"]:
            await execute(strategy, step)
        await asyncio.sleep(SETTLE)
    with open(os.environ["RIALTO_VENUE_BOOKS"], "w", encoding="utf-8") as file:
        json.dump(books(node), file)
    sys.stdout.flush()
    # The books are written; what the node would do while it stops is no part of the plan.
    os._exit(0)


asyncio.run(main())
