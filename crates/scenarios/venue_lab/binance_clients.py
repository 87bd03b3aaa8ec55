"""Binance's own `binance-sdk-spot` and `python-binance` trade at the venue lab. What they have at the end is compared with the
lab's ledger. The first argument names a file with the lab's ready line."""

from binance.client import Client
from binance.exceptions import BinanceAPIException
from binance_common.configuration import ConfigurationRestAPI
from binance_common.errors import BadRequestError
from binance_sdk_spot import Spot
from binance_sdk_spot.rest_api.models import NewOrderSideEnum, NewOrderTimeInForceEnum, NewOrderTypeEnum

from lab import Lab


def plain(model):
    """A typed answer as the venue's names and values."""
    return model.model_dump(by_alias=True)


def official(lab):
    key, secret = lab.key("ALPHA", "ED25519")
    spot = Spot(config_rest_api=ConfigurationRestAPI(api_key=key, private_key=secret, base_path=lab.ready["binanceRest"]))
    api = spot.rest_api
    print("symbols", len(api.exchange_info().data().symbols))
    placed = api.new_order(symbol="BTCUSDT", side=NewOrderSideEnum.BUY, type=NewOrderTypeEnum.LIMIT,
                           time_in_force=NewOrderTimeInForceEnum.GTC, quantity=0.01, price=59000,
                           new_client_order_id="official").data()
    print("placed", placed.status, placed.orig_qty)
    found = api.get_order(symbol="BTCUSDT", order_id=placed.order_id).data()
    print("found", found.status, found.client_order_id)
    market = api.new_order(symbol="BTCUSDT", side=NewOrderSideEnum.SELL, type=NewOrderTypeEnum.MARKET, quantity=0.01,
                           new_client_order_id="official-market").data()
    print("sold", market.status, len(market.fills))
    try:
        api.get_order(symbol="BTCUSDT", order_id=999999)
    except BadRequestError as error:
        print("unknown order:", type(error).__name__)
    print("cancelled", api.delete_order(symbol="BTCUSDT", order_id=placed.order_id).data().status)
    print("book", len(api.depth(symbol="BTCUSDT", limit=5).data().bids), "bars", len(api.klines("BTCUSDT", "1m").data()) > 0)
    orders = [plain(order) for order in api.all_orders(symbol="BTCUSDT").data()]
    trades = [plain(trade) for trade in api.my_trades(symbol="BTCUSDT").data()]
    balances = [plain(balance) for balance in api.get_account().data().balances]
    lab.compare("ALPHA", orders, trades, balances)


def community(lab):
    key, secret = lab.key("BETA", "HMAC")
    client = Client(key, secret, ping=False)
    client.API_URL = lab.ready["binanceRest"] + "/api"
    print("time", client.get_server_time()["serverTime"] > 0, "tick", client.get_symbol_info("BTCUSDT")["filters"][0]["tickSize"])
    order = client.order_limit_buy(symbol="BTCUSDT", quantity=0.01, price="59000", newClientOrderId="community")
    print("placed", order["status"])
    print("bought", client.order_market_buy(symbol="BTCUSDT", quantity=0.01, newClientOrderId="community-market")["status"])
    client.create_test_order(symbol="BTCUSDT", side="BUY", type="MARKET", quantity=0.01)
    print("open", [order["clientOrderId"] for order in client.get_open_orders()])
    try:
        client.order_limit_buy(symbol="BTCUSDT", quantity=0.01, price="59000", newClientOrderId="community")
    except BinanceAPIException as error:
        print("duplicate:", error.code, error.message)
    print("cancelled", client.cancel_order(symbol="BTCUSDT", orderId=order["orderId"])["status"])
    lab.compare("BETA", client.get_all_orders(symbol="BTCUSDT"), client.get_my_trades(symbol="BTCUSDT"),
                client.get_account()["balances"])


def main():
    lab = Lab()
    official(lab)
    community(lab)


main()
