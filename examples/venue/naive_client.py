"""A naive but honest client for `rialto venue certify`: it believes each answer and each event, once. It needs aiohttp. It fails
under most faults, which shows what the certificate looks at. Start it with: rialto venue certify --client "python naive_client.py" """

import asyncio
import hashlib
import hmac
import json
import os
import time
from decimal import Decimal

import aiohttp

orders, trades, total = {}, [], {}


def on_event(event):
    order = orders.get(str(event.get("i")))
    if event["e"] != "executionReport" or order is None or order["status"] == "CANCELED":
        return
    order |= {"status": event["X"], "filled": event["z"]}
    if event["x"] == "TRADE":
        fee, sign = event["N"], 1 if event["S"] == "BUY" else -1
        trades.append({"symbol": event["s"], "tradeId": event["t"], "orderId": event["i"], "price": event["L"], "quantity": event["l"],
                       "commission": event["n"], "commissionAsset": fee, "maker": event["m"]})
        for asset, amount in ((event["s"][:-4], sign * Decimal(event["l"])), ("USDT", -sign * Decimal(event["Y"])), (fee, -Decimal(event["n"]))):
            total[asset] = total.get(asset, Decimal(0)) + amount


async def request(socket, key, method, **params):
    params |= {"apiKey": key["apiKey"], "timestamp": int(time.time() * 1000), "recvWindow": 2000}
    payload = "&".join(f"{name}={params[name]}" for name in sorted(params))
    params["signature"] = hmac.new(key["secret"].encode(), payload.encode(), hashlib.sha256).hexdigest()
    await socket.send_str(json.dumps({"id": method, "method": method, "params": params}))
    while True:
        message = await socket.receive_json(timeout=1.5)
        if "event" not in message:
            return message
        on_event(message["event"])


async def step(socket, key, step):
    terms = {name: value for name, value in step.items() if name not in ("do", "clientOrderId", "newClientOrderId")}
    known = next((order for order in orders.values() if order["clientOrderId"] == step["clientOrderId"]), None)
    if step["do"] == "place":
        placed = (await request(socket, key, "order.place", newClientOrderId=step["clientOrderId"], **terms)).get("result")
    elif known is None:
        return
    elif step["do"] == "cancel":
        found = await request(socket, key, "order.status", symbol=step["symbol"], orderId=known["orderId"])
        if "error" in found:
            orders.pop(known["orderId"])
        elif found["result"]["status"] in ("NEW", "PARTIALLY_FILLED"):
            await request(socket, key, "order.cancel", symbol=step["symbol"], orderId=known["orderId"])
            known["status"] = "CANCELED"
        return
    else:
        answer = await request(socket, key, "order.cancelReplace", cancelReplaceMode="STOP_ON_FAILURE", cancelOrderId=known["orderId"],
                               newClientOrderId=step["newClientOrderId"], **terms)
        placed = answer["result"]["newOrderResponse"] if "result" in answer else None
    if placed:
        orders[str(placed["orderId"])] = {"orderId": str(placed["orderId"]), **{name: placed[name] for name in (
            "symbol", "clientOrderId", "side", "type", "timeInForce", "price", "status")}, "quantity": placed["origQty"], "filled": "0"}


async def main():
    ready, plan = (json.load(open(os.environ[name])) for name in ("RIALTO_VENUE_READY", "RIALTO_VENUE_PLAN"))
    key = next(key for key in json.load(open(ready["keys"])) if (key["account"], key["kind"]) == (plan["account"], "HMAC"))
    async with aiohttp.ClientSession() as session, session.ws_connect(ready["binanceWsApi"]) as socket:
        balances = (await request(socket, key, "account.status"))["result"]["balances"]
        total.update({entry["asset"]: Decimal(entry["free"]) for entry in balances})
        await request(socket, key, "userDataStream.subscribe.signature")
        try:
            for entry in plan["steps"]:
                await step(socket, key, entry)
            listed = [str(order["orderId"]) for order in (await request(socket, key, "openOrders.status", symbol="BTCUSDT"))["result"]]
            for order in orders.values():
                if order["status"] == "NEW" and order["orderId"] not in listed:
                    order["status"] = "CANCELED"
        except (TypeError, KeyError, TimeoutError, ConnectionError):
            print("the connection is lost; what I have are my books")
    locked = {}
    for order in orders.values():
        if order["status"] == "NEW":
            asset, amount = (order["symbol"][:-4], Decimal(order["quantity"])) if order["side"] == "SELL" else (
                "USDT", Decimal(order["quantity"]) * Decimal(order["price"]))
            locked[asset] = locked.get(asset, Decimal(0)) + amount
    books = {"orders": list(orders.values()), "trades": trades, "balances": [
        {"asset": asset, "free": f"{amount - locked.get(asset, 0):f}", "locked": f"{locked.get(asset, Decimal(0)):f}"} for asset, amount in total.items()]}
    json.dump(books, open(os.environ["RIALTO_VENUE_BOOKS"], "w"))


asyncio.run(main())
