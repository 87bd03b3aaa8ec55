"""A client for `rialto venue certify` that trades the plan with ccxt alone, over REST. ccxt is a library and keeps no books, so
this is the usual loop around it: an order is what `create_order` answered, a call that raises an exception is taken for failed, and at the
end each order that is known is fetched by its id, with the trades and balances of the account. It needs ccxt."""

import json
import os
from decimal import Decimal

import ccxt

STATUS = {"open": "NEW", "closed": "FILLED", "canceled": "CANCELED", "expired": "EXPIRED", "rejected": "REJECTED"}


def connect(ready, key):
    lab = ccxt.binance({"apiKey": key["apiKey"], "secret": key["secret"],
                        "options": {"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False}})
    lab.urls["api"]["public"] = lab.urls["api"]["private"] = ready["binanceRest"] + "/api/v3"
    return lab


def attempt(call, *arguments, **options):
    """What the call answers; none where it raises."""
    try:
        return call(*arguments, **options)
    except ccxt.BaseError as error:
        print(type(error).__name__, error)
        return None


def order_entry(order):
    info = order["info"]
    return {"symbol": info["symbol"], "orderId": info["orderId"], "clientOrderId": info["clientOrderId"], "side": info["side"],
            "type": info["type"], "timeInForce": info["timeInForce"], "price": info["price"], "quantity": info["origQty"],
            "filled": info["executedQty"], "status": STATUS.get(order["status"], info["status"])}


def trade_entry(trade):
    info = trade["info"]
    return {"symbol": info["symbol"], "tradeId": info["id"], "orderId": info["orderId"], "price": info["price"], "quantity": info["qty"],
            "commission": info["commission"], "commissionAsset": info["commissionAsset"], "maker": info["isMaker"]}


def main():
    ready, plan = (json.load(open(os.environ[name])) for name in ("RIALTO_VENUE_READY", "RIALTO_VENUE_PLAN"))
    key = next(key for key in json.load(open(ready["keys"])) if (key["account"], key["kind"]) == (plan["account"], "HMAC"))
    lab = connect(ready, key)
    attempt(lab.load_markets)
    orders, by_name = {}, {}

    def place(step, name):
        pair = f"{step['symbol'][:-4]}/USDT"
        placed = attempt(lab.create_order, pair, step["type"].lower(), step["side"].lower(), float(step["quantity"]),
                         float(step["price"]) if "price" in step else None, {"newClientOrderId": name})
        if placed:
            orders[(pair, placed["id"])] = placed
            by_name[name] = (pair, placed["id"])

    def cancel(name):
        if name in by_name:
            pair, order_id = by_name[name]
            attempt(lab.cancel_order, order_id, pair)

    for step in plan["steps"]:
        if step["do"] == "place":
            place(step, step["clientOrderId"])
        elif step["do"] == "cancel":
            cancel(step["clientOrderId"])
        elif step["clientOrderId"] in by_name:
            pair, order_id = by_name[step["clientOrderId"]]
            edited = attempt(lab.edit_order, order_id, pair, "limit", step["side"].lower(), float(step["quantity"]), float(step["price"]),
                             {"newClientOrderId": step["newClientOrderId"]})
            if edited:
                orders[(pair, edited["id"])] = edited
                by_name[step["newClientOrderId"]] = (pair, edited["id"])
    for pair, order_id in list(orders):
        orders[(pair, order_id)] = attempt(lab.fetch_order, order_id, pair) or orders[(pair, order_id)]
    trades = [trade for pair in sorted({pair for pair, _ in orders}) for trade in attempt(lab.fetch_my_trades, pair) or []]
    balance = attempt(lab.fetch_balance) or {"info": {"balances": []}}
    entries = [{"asset": entry["asset"], "free": entry["free"], "locked": entry["locked"]} for entry in balance["info"]["balances"]
               if Decimal(entry["free"]) or Decimal(entry["locked"])]
    with open(os.environ["RIALTO_VENUE_BOOKS"], "w", encoding="utf-8") as file:
        json.dump({"orders": [order_entry(order) for order in orders.values()], "trades": [trade_entry(trade) for trade in trades],
                   "balances": entries}, file)


main()
