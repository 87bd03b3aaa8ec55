"""Binance's own `binance-sdk-spot` and `python-binance` trade at the venue lab over its WebSocket API and read its streams.
Answers, events and books are compared with the lab's ledger. The first argument names a file with the lab's ready line."""

import asyncio
import logging

from binance import AsyncClient, BinanceSocketManager, DepthCacheManager
from binance.exceptions import BinanceAPIException
from binance_common.configuration import ConfigurationWebSocketAPI, ConfigurationWebSocketStreams
from binance_sdk_spot import Spot
from binance_sdk_spot.websocket_api.models import (
    DepthSymbolStatusEnum,
    OrderCancelReplaceCancelReplaceModeEnum,
    OrderPlaceSideEnum,
    OrderPlaceTimeInForceEnum,
    OrderPlaceTypeEnum,
)

from lab import Lab

BTC = "BTCUSDT"
# A wait that takes longer has failed; a slow machine needs a second or two.
PATIENCE_SECONDS = 40


async def wait_until(what, condition):
    for _ in range(PATIENCE_SECONDS * 50):
        found = condition()
        if found:
            return found
        await asyncio.sleep(0.02)
    raise TimeoutError(f"{what} did not come within {PATIENCE_SECONDS} s")


def plain(model):
    """A typed answer as the venue's names and values."""
    return model.model_dump(by_alias=True)


def event_of(message):
    """A user event of the SDK, which has a type for each; what it could not read would be a plain dictionary."""
    event = message.actual_instance
    kind = type(event).__name__
    return {**plain(event), "e": kind[0].lower() + kind[1:]}


def told(events):
    """The newest state of each order, the trades, and the newest balances that the events tell, in the names of REST."""
    orders, trades, balances = {}, [], {}
    for event in events:
        if event["e"] == "outboundAccountPosition":
            balances |= {entry["a"]: entry for entry in event["B"]}
        if event["e"] != "executionReport":
            continue
        orders[event["i"]] = {
            "symbol": event["s"], "orderId": event["i"], "clientOrderId": event["C"] or event["c"], "side": event["S"],
            "type": event["o"], "timeInForce": event["f"], "price": event["p"], "origQty": event["q"],
            "executedQty": event["z"], "status": event["X"]}
        if event["x"] == "TRADE":
            trades.append({"symbol": event["s"], "id": event["t"], "orderId": event["i"], "price": event["L"],
                           "qty": event["l"], "commission": event["n"], "commissionAsset": event["N"],
                           "isMaker": event["m"], "time": event["T"]})
    return list(orders.values()), trades, balances


def compare(lab, account, events, all_balances):
    """What the events told, and the balances of an answer: balances that moved were told by an event too."""
    orders, trades, moved = told(events)
    for entry in all_balances:
        if entry["asset"] in moved:
            event = moved[entry["asset"]]
            assert (event["f"], event["l"]) == (entry["free"], entry["locked"]), (event, entry)
    print(account, "moved", sorted(moved))
    lab.compare(account, orders, trades, all_balances)


async def official_api(lab):
    key, secret = lab.key("ALPHA", "RSA")
    configuration = ConfigurationWebSocketAPI(api_key=key, private_key=secret, stream_url=lab.ready["binanceWsApi"])
    api = Spot(config_ws_api=configuration).websocket_api
    await api.create_connection()
    events = []
    stream = (await api.user_data_stream_subscribe_signature()).stream
    stream.on("message", lambda message: events.append(event_of(message)))
    # The SDK has no type for the result of this one.
    info = (await api.exchange_info()).data().additional_properties["result"]
    print("symbols", len(info["symbols"]), "session", (await api.session_status()).data().result.api_key)
    limit = {"type": OrderPlaceTypeEnum.LIMIT, "time_in_force": OrderPlaceTimeInForceEnum.GTC}
    placed = (await api.order_place(symbol=BTC, side=OrderPlaceSideEnum.BUY, quantity=0.01, price=59000,
                                    new_client_order_id="official", **limit)).data().result
    print("placed", placed.status, placed.orig_qty)
    sold = (await api.order_place(symbol=BTC, side=OrderPlaceSideEnum.SELL, type=OrderPlaceTypeEnum.MARKET, quantity=0.6,
                                  new_client_order_id="official-market")).data().result
    print("sold", sold.status, len(sold.fills))
    print("found", (await api.order_status(symbol=BTC, order_id=placed.order_id)).data().result.status)
    replaced = (await api.order_cancel_replace(
        symbol=BTC, cancel_replace_mode=OrderCancelReplaceCancelReplaceModeEnum.STOP_ON_FAILURE, side="BUY", type="LIMIT",
        time_in_force="GTC", cancel_order_id=placed.order_id, price=59100, quantity=0.02,
        new_client_order_id="replaced")).data().result
    print("replaced", replaced.cancel_result, replaced.new_order_result)
    reduced = (await api.order_amend_keep_priority(symbol=BTC, new_qty=0.01, orig_client_order_id="replaced",
                                                   new_client_order_id="reduced")).data().result
    print("reduced", reduced.amended_order.qty)
    print("open", [order.client_order_id for order in (await api.open_orders_status(symbol=BTC)).data().result])
    print("unknown order:", (await api.order_status(symbol=BTC, order_id=999999)).data())
    print("cancelled", len((await api.open_orders_cancel_all(symbol=BTC)).data().result))
    book = (await api.depth(symbol=BTC, limit=5, symbol_status=DepthSymbolStatusEnum.TRADING)).data().result
    print("book", len(book.bids), "bars", len((await api.klines(symbol=BTC, interval="1m")).data().result) > 0)
    status = (await api.account_status()).data().result
    await wait_until("the last event", lambda: events and events[-1]["e"] == "outboundAccountPosition" and any(
        event.get("x") == "CANCELED" and event["C"] == "reduced" for event in events))
    compare(lab, "ALPHA", events, [plain(balance) for balance in status.balances])
    orders = (await api.all_orders(symbol=BTC)).data().result
    trades = (await api.my_trades(symbol=BTC)).data().result
    lab.compare("ALPHA", map(plain, orders), [plain(trade) for trade in trades], map(plain, status.balances))
    await api.close_connection()


async def official_streams(lab, client):
    streams = Spot(config_ws_streams=ConfigurationWebSocketStreams(stream_url=lab.ready["binanceStreams"])).websocket_streams
    await streams.create_connection()
    seen = {}

    async def watch(name, handle):
        (await handle).on("message", lambda message: seen.setdefault(name, []).append(plain(message)))

    await watch("trade", streams.trade(symbol=BTC.lower()))
    await watch("bar", streams.kline(symbol=BTC.lower(), interval="1m"))
    await watch("ticker", streams.ticker(symbol=BTC.lower()))
    await watch("levels", streams.partial_book_depth(symbol=BTC.lower(), levels=5))
    await wait_until("tickers, bars and levels", lambda: seen.keys() >= {"bar", "ticker", "levels"})
    bought = await client.ws_order_market_buy(symbol=BTC, quantity=0.01, newClientOrderId="seen", newOrderRespType="FULL")
    fill = bought["fills"][0]
    trade = (await wait_until("the trade", lambda: seen.get("trade")))[0]
    print("trade as filled", (trade["t"], trade["p"], trade["q"], trade["m"]) == (fill["tradeId"], fill["price"], fill["qty"], False))
    await wait_until("a bar and a ticker with the trade", lambda: seen["bar"][-1]["k"]["L"] == fill["tradeId"]
                     and seen["ticker"][-1]["L"] == fill["tradeId"])
    print("bar", seen["bar"][-1]["k"]["c"] == fill["price"], "ticker", seen["ticker"][-1]["c"] == fill["price"],
          "levels", [len(seen["levels"][-1][side]) for side in ("bids", "asks")])
    await streams.close_connection()


async def community(lab):
    key, secret = lab.key("BETA", "HMAC")
    client = AsyncClient(key, secret)
    client.API_URL = lab.ready["binanceRest"] + "/api"
    client.ws_api._url = lab.ready["binanceWsApi"]
    manager = BinanceSocketManager(client)
    manager.STREAM_URL = lab.ready["binanceStreams"] + "/"
    events = []
    async with manager.user_socket() as user, DepthCacheManager(client, BTC, bm=manager, ws_interval=100) as cache:
        await official_streams(lab, client)
        order = await client.ws_order_limit_buy(symbol=BTC, quantity=0.01, price="60000", newClientOrderId="community")
        print("placed", order["status"])
        book = await cache.recv()
        while book.get_bids()[0][0] != 60000:
            book = await cache.recv()
        fetched = await client.get_order_book(symbol=BTC)
        same = [[[float(value) for value in level] for level in fetched[side]] for side in ("bids", "asks")]
        print("book by differences equals a snapshot:", [book.get_bids(), book.get_asks()] == same)
        try:
            await client.ws_create_order(symbol=BTC, side="BUY", type="LIMIT", timeInForce="GTC", quantity=0.01,
                                         price="60000", newClientOrderId="community")
        except BinanceAPIException as error:
            print("duplicate:", error.code, error.message)
        print("open", [order["clientOrderId"] for order in await client.ws_get_open_orders(symbol=BTC)])
        print("cancelled", (await client.ws_cancel_order(symbol=BTC, orderId=order["orderId"]))["status"])
        balances = (await client.ws_get_account())["balances"]
        while not (events and events[-1]["e"] == "outboundAccountPosition" and any(event.get("x") == "CANCELED" for event in events)):
            events.append(await asyncio.wait_for(user.recv(), PATIENCE_SECONDS))
        compare(lab, "BETA", events, balances)
    # Its `close_connection` waits ten seconds for a reader of its own.
    await client.session.close()


async def main():
    # The SDK logs each error that it was answered.
    logging.disable()
    lab = Lab()
    await official_api(lab)
    await community(lab)


if __name__ == "__main__":
    asyncio.run(main())
