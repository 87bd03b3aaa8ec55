"""`python-binance` asks the venue lab what its keys may do, and tries them. The first argument names a file with the lab's ready line."""

import asyncio

from binance import AsyncClient
from binance.exceptions import BinanceAPIException

from lab import Lab


def client_of(lab, key, secret):
    client = AsyncClient(key, secret)
    client.API_URL, client.MARGIN_API_URL = lab.ready["binanceRest"] + "/api", lab.ready["binanceRest"] + "/sapi"
    return client


async def main():
    lab = Lab()
    keys = {"usual": lab.key("ALPHA", "HMAC"), "reads": ("reads", "s"), "withdraws": ("withdraws", "s")}
    for name, (key, secret) in keys.items():
        client = client_of(lab, key, secret)
        rights = await client.get_account_api_permissions()
        print(name, "created", isinstance(rights.pop("createTime"), int), "may", [right for right, given in rights.items() if given])
        print(name, "has refused rights", [right for right, given in rights.items() if not given])
        calls = {"reads": client.get_account(), "places": client.order_limit_buy(symbol="BTCUSDT", quantity=0.01, price="59000"),
                 "cancels": client.cancel_order(symbol="BTCUSDT", orderId=2 if name == "withdraws" else 1)}
        for what, call in calls.items():
            try:
                await call
                print(name, what)
            except BinanceAPIException as error:
                print(name, what, error.status_code, error.code, error.message)
        await client.session.close()
    client = client_of(lab, *keys["usual"])
    fees = await client.get_trade_fee()
    print("fees", [(fee["symbol"], fee["makerCommission"], fee["takerCommission"]) for fee in fees])
    print("of one", await client.get_trade_fee(symbol="ETHBTC"))
    try:
        await client.get_trade_fee(symbol="NOSUCH")
    except BinanceAPIException as error:
        print("of none", error.status_code, error.code, error.message)
    await client.session.close()


asyncio.run(main())
