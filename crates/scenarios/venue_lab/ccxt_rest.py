"""ccxt trades at the venue lab over REST. It prints what it sees; at the end every order, trade and balance that ccxt has is
compared with the lab's ledger. The first argument names a file with the lab's ready line."""

import ccxt

from lab import Lab

BTC, ETH, CHINESE = "BTC/USDT", "ETH/USDT", "币安人生/USDT"


def connect(lab, account, kind):
    key, secret = lab.key(account, kind)
    exchange = ccxt.binance({"apiKey": key, "secret": secret, "enableRateLimit": False})
    exchange.options.update({"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False})
    exchange.urls["api"]["public"] = lab.ready["binanceRest"] + "/api/v3"
    exchange.urls["api"]["private"] = lab.ready["binanceRest"] + "/api/v3"
    exchange.load_markets()
    return exchange


def show(name, order):
    print(name, order["type"], order["timeInForce"], order["side"], order["status"], "filled", order["filled"])


def refused(name, call):
    try:
        answer = call()
    except ccxt.BaseError as error:
        code = str(error).partition('"code":')[2].partition(",")[0] or "-"
        print(f"{name}: {type(error).__name__} {code}")
    else:
        print(f"{name}: accepted {answer}")


def markets(exchange):
    for market in sorted(exchange.markets.values(), key=lambda market: market["id"]):
        limits, precision = market["limits"], market["precision"]
        print(market["symbol"], market["id"], "tick", precision["price"], "step", precision["amount"],
              "least", limits["cost"]["min"])


def market_data(exchange):
    book = exchange.fetch_order_book(BTC, 3)
    print("bids", book["bids"], "asks", book["asks"])
    ticker = exchange.fetch_ticker(BTC)
    print("ticker", ticker["bid"], ticker["ask"], ticker["last"], ticker["open"])
    print("tickers", len(exchange.fetch_tickers()), "best", len(exchange.fetch_bids_asks()),
          "last", len(exchange.fetch_last_prices()))
    print("trades", [(trade["id"], trade["price"], trade["amount"]) for trade in exchange.fetch_trades(BTC)])
    bars = exchange.fetch_ohlcv(BTC, "1m")
    print("bar", bars[0][1:])
    print("clock within a second", abs(exchange.fetch_time() - exchange.milliseconds()) < 1000)


def orders(exchange):
    """Every type and every time in force."""

    def place(name, symbol, kind, side, amount, price=None, **params):
        params["newClientOrderId"] = name
        params.setdefault("newOrderRespType", "FULL")
        order = exchange.create_order(symbol, kind, side, amount, price, params)
        show(name, exchange.fetch_order(order["id"], symbol))
        return order["id"]

    place("limit-gtc", BTC, "limit", "buy", 0.01, 59000, timeInForce="GTC")
    place("limit-ioc", BTC, "limit", "buy", 0.7, 60000.01, timeInForce="IOC")
    place("limit-fok", BTC, "limit", "buy", 2, 60000.01, timeInForce="FOK")
    place("limit-fok-2", BTC, "limit", "buy", 0.02, 60001, timeInForce="FOK")
    place("maker", BTC, "limit", "sell", 0.01, 61000, postOnly=True)
    place("market", BTC, "market", "buy", 0.001)
    exchange.create_market_buy_order_with_cost(BTC, 120, {"newClientOrderId": "cost"})
    show("cost", exchange.fetch_order(None, BTC, {"origClientOrderId": "cost"}))
    place("stop-loss", BTC, "market", "sell", 0.01, stopLossPrice=58000)
    place("stop-loss-limit", BTC, "limit", "sell", 0.01, 57900, stopLossPrice=58000, timeInForce="GTC")
    place("take-profit", BTC, "market", "sell", 0.01, takeProfitPrice=62000)
    place("take-profit-limit", BTC, "limit", "sell", 0.01, 62100, takeProfitPrice=62000, timeInForce="GTC")
    place("utf-8", CHINESE, "limit", "buy", 100, 0.2, timeInForce="GTC")
    return exchange.fetch_open_orders(BTC)


def errors(exchange):
    def limit(symbol=BTC, amount=0.01, price=59000, **params):
        return exchange.create_order(symbol, "limit", "buy", amount, price, params)

    raw = exchange.private_post_order
    base = {"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "timeInForce": "GTC", "quantity": "0.01", "price": "59000"}
    refused("duplicate", lambda: limit(newClientOrderId="limit-gtc"))
    refused("too much", lambda: limit(amount=100))
    refused("would take", lambda: limit(price=60001, postOnly=True))
    refused("tick", lambda: raw({**base, "price": "59000.001"}))
    refused("lot", lambda: raw({**base, "quantity": "0.000001"}))
    refused("notional", lambda: raw({**base, "quantity": "0.00001"}))
    refused("percent price", lambda: raw({**base, "price": "1"}))
    refused("precision", lambda: raw({**base, "quantity": "0.0100000001"}))
    refused("side", lambda: raw({**base, "side": "HOLD"}))
    refused("type", lambda: raw({**base, "type": "GUESS"}))
    refused("time in force", lambda: raw({**base, "timeInForce": "DAY"}))
    refused("no price", lambda: raw({key: value for key, value in base.items() if key != "price"}))
    refused("no symbol", lambda: raw({**base, "symbol": "NOSUCH"}))
    refused("iceberg", lambda: raw({**base, "icebergQty": "0.001"}))
    refused("stop at once", lambda: exchange.create_order(BTC, "market", "sell", 0.01, None, {"stopLossPrice": 61000}))
    refused("unread parameter", lambda: raw({**base, "colour": "red"}))
    refused("unknown order", lambda: exchange.fetch_order("999999", BTC))
    refused("unknown cancel", lambda: exchange.cancel_order("999999", BTC))
    refused("bad interval", lambda: exchange.fetch_ohlcv(BTC, "7m"))
    refused("clock", lambda: raw({**base, "timestamp": 1}))


def cancels(exchange):
    order = exchange.fetch_order(None, BTC, {"origClientOrderId": "limit-gtc"})
    exchange.cancel_order(order["id"], BTC)
    show("cancelled", exchange.fetch_order(order["id"], BTC))
    refused("cancelled again", lambda: exchange.cancel_order(order["id"], BTC))
    first = exchange.create_order(BTC, "limit", "buy", 0.01, 58000, {"newClientOrderId": "edit-1"})
    second = exchange.edit_order(first["id"], BTC, "limit", "buy", 0.02, 58100, {"newClientOrderId": "edit-2"})
    show("replaced", exchange.fetch_order(first["id"], BTC))
    show("by", exchange.fetch_order(second["id"], BTC))
    amended = exchange.request("order/amend/keepPriority", ["private"], "PUT", {
        "symbol": "BTCUSDT", "orderId": second["id"], "newQty": "0.015", "newClientOrderId": "edit-3"})
    print("amended", amended["amendedOrder"]["qty"], amended["amendedOrder"]["clientOrderId"])
    print("cancelled all", len(exchange.cancel_all_orders(BTC)), "left", len(exchange.fetch_open_orders(BTC)))


def two_accounts(alpha, beta):
    """Beta takes what Alpha offers; neither trades with itself where it asks not to."""
    alpha.create_order(BTC, "limit", "sell", 0.01, 60000, {"newClientOrderId": "offer"})
    beta.create_order(BTC, "market", "buy", 0.004, None, {"newClientOrderId": "take"})
    show("offer", alpha.fetch_order(None, BTC, {"origClientOrderId": "offer"}))
    show("take", beta.fetch_order(None, BTC, {"origClientOrderId": "take"}))
    params = {"newClientOrderId": "own", "selfTradePreventionMode": "EXPIRE_TAKER", "newOrderRespType": "RESULT"}
    own = alpha.create_order(BTC, "limit", "buy", 0.01, 60000, params)
    print("own", own["info"]["status"], "prevented", own["info"]["preventedQuantity"])
    beta.create_order(BTC, "market", "sell", 0.002, None, {"newClientOrderId": "sell"})
    refused("not theirs", lambda: beta.cancel_order(None, BTC, {"origClientOrderId": "offer"}))


def everything(exchange):
    """ccxt's orders, trades and balances, as the venue sent them."""
    orders_seen, trades_seen = [], []
    for symbol in exchange.symbols:
        orders_seen += [order["info"] for order in exchange.fetch_orders(symbol)]
        trades_seen += [trade["info"] for trade in exchange.fetch_my_trades(symbol)]
    return orders_seen, trades_seen, exchange.fetch_balance()["info"]["balances"]


def main():
    lab = Lab()
    alpha = connect(lab, "ALPHA", "HMAC")
    markets(alpha)
    market_data(alpha)
    open_orders = orders(alpha)
    print("open", sorted(order["clientOrderId"] for order in open_orders))
    errors(alpha)
    cancels(alpha)
    for kind in ("RSA", "ED25519"):
        other = connect(lab, "ALPHA", kind)
        print(kind, "sees", len(other.fetch_open_orders(CHINESE)), "order of", CHINESE)
    beta = connect(lab, "BETA", "ED25519")
    two_accounts(alpha, beta)
    lab.compare("ALPHA", *everything(alpha))
    lab.compare("BETA", *everything(beta))


main()
