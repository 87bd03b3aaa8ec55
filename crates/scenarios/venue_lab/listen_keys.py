"""`python-binance` reads an account's events at the venue lab by listen keys, as a raw and as a combined stream, and compares them with the
ledger; then keys are extended, closed, lost by a fault, and mistaken. The first argument names a file with the lab's ready line."""

import asyncio
import json
import logging
import os
import sys

import websockets
from binance import AsyncClient, BinanceSocketManager
from binance.exceptions import BinanceAPIException

from binance_ws import PATIENCE_SECONDS, compare
from lab import Lab

BTC = "BTCUSDT"


async def hear(socket, events, is_last):
    """Collects events until the last one is there."""
    while not (events and is_last(events[-1])):
        message = await asyncio.wait_for(socket.recv(), PATIENCE_SECONDS)
        events.append(message.get("data", message))


async def subscribed(lab, count):
    """Waits until so many connections have the account's events."""
    while lab.admin("/state").count("events of account 1") != count:
        await asyncio.sleep(0.02)


async def refused(what, call):
    try:
        await call
    except BinanceAPIException as error:
        print(what, error.status_code, error.code, error.message)


def is_position(event):
    return event["e"] == "outboundAccountPosition"


async def trade(client, name, raw, combined, key):
    events, wrapped = [], []
    await client.order_limit_buy(symbol=BTC, quantity=0.01, price="59000", newClientOrderId=f"{name}-rests")
    await hear(raw, events, is_position)
    await client.order_market_buy(symbol=BTC, quantity=0.01, newClientOrderId=f"{name}-buys")
    await hear(raw, events, lambda event: event.get("X") == "FILLED")
    await hear(raw, events, is_position)
    await client.cancel_order(symbol=BTC, origClientOrderId=f"{name}-rests")
    await hear(raw, events, lambda event: event.get("X") == "CANCELED")
    await hear(raw, events, is_position)
    while len(wrapped) < len(events):
        message = await asyncio.wait_for(combined.recv(), PATIENCE_SECONDS)
        assert message["stream"] == key, message
        wrapped.append(message["data"])
    same = [[event[field] for field in ("e", "i", "X", "t") if field in event] for event in events]
    assert same == [[event[field] for field in ("e", "i", "X", "t") if field in event] for event in wrapped], wrapped
    print("events", [event.get("x", event["e"]) for event in events], "the same in both streams")
    return events


async def main():
    logging.disable()
    lab = Lab()
    client, other = AsyncClient(*lab.key("BETA", "HMAC")), AsyncClient(*lab.key("ALPHA", "HMAC"))
    client.API_URL = other.API_URL = lab.ready["binanceRest"] + "/api"
    manager = BinanceSocketManager(client)
    manager.STREAM_URL = lab.ready["binanceStreams"] + "/"
    key = await client.stream_get_listen_key()
    print("a key has", len(key), "letters; asked again it is the same:", key == await client.stream_get_listen_key())
    print("extended", await client.stream_keepalive(key))
    await refused("extended by another account:", other.stream_keepalive(key))
    await refused("an unknown key:", client.stream_keepalive("pqia91ma19a5s61cv6a81va65sdf19v8a65a1a5s61cv6a81va65sdf19v8a65a1"))
    await refused("no key:", client._put("userDataStream", False, data={}))
    await refused("no API key:", AsyncClientWithoutKey(lab).stream_get_listen_key())
    # Their ends take the library ten seconds each: they end with the program.
    raw, combined = await manager._get_socket(key).__aenter__(), await manager.multiplex_socket([key]).__aenter__()
    await subscribed(lab, 2)
    print("the admin page shows no key:", key not in lab.admin("/state"))
    events = await trade(client, "heard", raw, combined, key)
    compare(lab, "BETA", events, (await client.get_account())["balances"])
    lab.arm("key-expired", count=2)
    await client.order_limit_buy(symbol=BTC, quantity=0.01, price="59000", newClientOrderId="expires")
    lost = []
    await hear(raw, lost, lambda event: event["e"] == "listenKeyExpired")
    print("expired", sorted(lost[-1]), lost[-1]["listenKey"] == key)
    await refused("extended after its end:", client.stream_keepalive(key))
    await subscribed(lab, 0)
    new = await client.stream_get_listen_key()
    print("another key:", new != key)
    lab.admin("/faults", method="DELETE")
    lab.arm("server-shutdown")
    # The library connects again by itself and hides the end.
    async with websockets.connect(f"{lab.ready['binanceStreams']}/ws/{new}") as socket:
        await subscribed(lab, 1)
        await client.cancel_order(symbol=BTC, origClientOrderId="expires")
        print("then", [json.loads(message)["e"] async for message in socket])
    async with websockets.connect(f"{lab.ready['binanceStreams']}/stream?streams={new}") as socket:
        await subscribed(lab, 1)
        print("closed", await client.stream_close(new))
        await subscribed(lab, 0)
        await client.order_limit_buy(symbol=BTC, quantity=0.01, price="59000", newClientOrderId="unheard")
        await socket.send('{"method": "LIST_SUBSCRIPTIONS", "id": 1}')
        print("after it was closed", await asyncio.wait_for(socket.recv(), PATIENCE_SECONDS))
    await refused("closed twice:", client.stream_close(new))
    sys.stdout.flush()
    os._exit(0)


class AsyncClientWithoutKey(AsyncClient):
    def __init__(self, lab):
        super().__init__("", "")
        self.API_URL = lab.ready["binanceRest"] + "/api"


if __name__ == "__main__":
    asyncio.run(main())
