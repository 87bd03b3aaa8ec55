"""`python-binance` asks the venue lab what its keys may do, and tries them; `binance-fix-connector` tries one that may not trade. The first
argument names a file with the lab's ready line."""

import asyncio
import logging
import os
from pathlib import Path

from binance import AsyncClient
from binance.exceptions import BinanceAPIException
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lab import Lab

# The test has the public half of this key.
FIX_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


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
    log_on_by_fix(lab)


def log_on_by_fix(lab):
    # The connector trusts what OpenSSL trusts.
    os.environ["SSL_CERT_FILE"] = str(Path(lab.ready["keys"]).parent / "tls" / "cert.pem")
    from binance_fix_connector.fix_connector import BinanceFixConnector

    for face, options in (("binanceFixOrderEntry", {}), ("binanceFixDropCopy", {"drop_copy_flag": "Y"})):
        session = BinanceFixConnector(endpoint=lab.ready[face], api_key="readsByFix", private_key=FIX_KEY, sender_comp_id="READS",
                                      reset_seq_num_flag="Y", **options)
        session.connect()
        session.logon()
        answer = session.retrieve_messages_until(message_type=["3", "A"], timeout_seconds=40)[-1]
        print(face, [answer.get(tag).decode() for tag in (35, 25016, 58) if answer.get(tag)])
        session.disconnect()
        # Otherwise its thread may read from the next connection, which gets the same file number.
        session.receive_thread.join()


logging.disable(logging.INFO)
asyncio.run(main())
