"""A client for `rialto venue certify` that trades the plan with Freqtrade's exchange layer (`freqtrade.exchange.Binance`, over ccxt) and
writes the books that its order records have. It needs freqtrade (`make venue-clients` installs it).

A whole bot cannot be given this plan: it holds one position of a pair at a time and refuses an order while another one of the pair is open. So the
bot's loop is not tried here; what is done around the exchange layer is what the bot does: an order is recorded as `create_order`
answered it, an exception means that there is none, a cancel goes through `cancel_order_with_result`, and at the end each order that is
recorded is fetched once more, with its trades, and the balances."""

import json
import os
from datetime import UTC, datetime
from decimal import Decimal

from freqtrade.enums import RunMode
from freqtrade.exceptions import FreqtradeException
from freqtrade.persistence import Order
from freqtrade.resolvers import ExchangeResolver

STATUS = {"open": "NEW", "closed": "FILLED", "canceled": "CANCELED", "expired": "EXPIRED", "rejected": "REJECTED"}
PAIRS = ("BTC/USDT", "ETH/USDT", "BNB/USDT")
BEGAN = datetime.now(UTC)


def configuration(ready, key):
    address = ready["binanceRest"] + "/api/v3"
    return {
        "runmode": RunMode.LIVE, "dry_run": False, "stake_currency": "USDT", "stake_amount": 100, "max_open_trades": 3, "timeframe": "1h",
        "trading_mode": "spot", "margin_mode": "", "order_types": {}, "entry_pricing": {}, "exit_pricing": {},
        "exchange": {
            "name": "binance", "key": key["apiKey"], "secret": key["secret"], "pair_whitelist": list(PAIRS), "enable_ws": False,
            "ccxt_config": {
                "urls": {"api": {"public": address, "private": address}},
                "options": {"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False},
            },
        },
    }


class Bookkeeper:
    def __init__(self, exchange):
        self.exchange = exchange
        self.orders, self.client_ids, self.by_name, self.trades = {}, {}, {}, []

    def attempt(self, call, *arguments, **options):
        try:
            return call(*arguments, **options)
        except FreqtradeException as error:
            print(type(error).__name__, error)
            return None

    def place(self, step, name):
        pair = f"{step['symbol'][:-4]}/USDT"
        answer = self.attempt(self.exchange.create_order, pair=pair, ordertype=step["type"].lower(), side=step["side"].lower(),
                              amount=float(step["quantity"]), rate=float(step.get("price", 0)), leverage=1.0)
        if answer:
            self.record(answer, pair, step["side"].lower())
            self.by_name[name] = (pair, answer["id"])

    def record(self, answer, pair, side):
        place = (pair, answer["id"])
        if place in self.orders:
            self.orders[place].update_from_ccxt_object(answer)
        else:
            self.orders[place] = Order.parse_from_ccxt_object(answer, pair, side)
        # Its records have no client's id.
        self.client_ids.setdefault(place, answer.get("clientOrderId") or "")

    def cancel(self, name):
        if name not in self.by_name:
            return
        pair, order_id = self.by_name[name]
        order = self.orders[(pair, order_id)]
        answer = self.attempt(self.exchange.cancel_order_with_result, order_id, pair, order.amount)
        if answer:
            self.record(answer, pair, order.ft_order_side)

    def finish(self):
        for (pair, order_id), order in self.orders.items():
            answer = self.attempt(self.exchange.fetch_order, order_id, pair)
            if answer:
                order.update_from_ccxt_object(answer)
            if order.filled:
                self.trades += self.attempt(self.exchange.get_trades_for_order, order_id, pair, BEGAN) or []

    def books(self):
        balances = self.attempt(self.exchange.get_balances) or {}
        return {
            "orders": [self.order_entry(place, order) for place, order in self.orders.items()],
            "trades": [trade_entry(trade) for trade in self.trades],
            "balances": [{"asset": asset, "free": amount(entry["free"]), "locked": amount(entry["used"])} for asset, entry in balances.items()
                         if isinstance(entry, dict) and "free" in entry],
        }

    def order_entry(self, place, order):
        is_market = order.order_type == "market"
        return {"symbol": place[0].replace("/", ""), "orderId": order.order_id, "clientOrderId": self.client_ids[place],
                "side": order.side.upper(), "type": order.order_type.upper(), "timeInForce": "GTC",
                "price": "0" if is_market else amount(order.price), "quantity": amount(order.amount), "filled": amount(order.filled or 0),
                "status": STATUS.get(order.status, str(order.status))}


def amount(number):
    return f"{Decimal(repr(number)).quantize(Decimal('0.00000001')):f}"


def trade_entry(trade):
    return {"symbol": trade["symbol"].replace("/", ""), "tradeId": trade["id"], "orderId": trade["order"], "price": amount(trade["price"]),
            "quantity": amount(trade["amount"]), "commission": amount(trade["fee"]["cost"]), "commissionAsset": trade["fee"]["currency"],
            "maker": trade["takerOrMaker"] == "maker"}


def main():
    ready, plan = (json.load(open(os.environ[name])) for name in ("RIALTO_VENUE_READY", "RIALTO_VENUE_PLAN"))
    key = next(key for key in json.load(open(ready["keys"])) if (key["account"], key["kind"]) == (plan["account"], "HMAC"))
    books = Bookkeeper(ExchangeResolver.load_exchange(configuration(ready, key), validate=False))
    books.exchange.reload_markets(True, load_leverage_tiers=False)
    for step in plan["steps"]:
        if step["do"] == "place":
            books.place(step, step["clientOrderId"])
        else:
            books.cancel(step["clientOrderId"])
            if step["do"] == "replace":
                books.place(step, step["newClientOrderId"])
    books.finish()
    written = books.books()
    with open(os.environ["RIALTO_VENUE_BOOKS"], "w", encoding="utf-8") as file:
        json.dump(written, file)


main()
