//! Table of the methods: HTTP method and path, name in the WebSocket API, security, weight, parameters.

use super::params::Params;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiMethod {
    Ping,
    Time,
    ExchangeInfo,
    Depth,
    Trades,
    HistoricalTrades,
    AggTrades,
    Klines,
    AvgPrice,
    Ticker24h,
    TickerDay,
    TickerWindow,
    TickerPrice,
    TickerBook,
    OrderPlace,
    OrderTest,
    OrderStatus,
    OrderCancel,
    CancelReplace,
    Amend,
    Amendments,
    OpenOrders,
    CancelAll,
    AllOrders,
    Account,
    MyTrades,
    OrderCounts,
    PreventedMatches,
    Commission,
    MyFilters,
    ListenKeyStart,
    ListenKeyKeep,
    ListenKeyClose,
    ApiRestrictions,
    TradeFee,
}

/// What a request must prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodSecurity {
    Public,
    /// An API key, without a signature.
    Key,
    Signed,
}

/// A row of the table.
pub(crate) struct MethodRow {
    pub(crate) method: ApiMethod,
    pub(crate) verb: &'static str,
    pub(crate) path: &'static str,
    /// Its name in the WebSocket API; empty where it has none.
    pub(crate) name: &'static str,
    pub(crate) security: MethodSecurity,
    pub(crate) weight: u32,
    pub(crate) params: &'static [&'static str],
}

const SIGNED: [&str; 3] = ["recvWindow", "timestamp", "signature"];

const ORDER: &[&str] = &[
    "symbol",
    "side",
    "type",
    "timeInForce",
    "quantity",
    "quoteOrderQty",
    "price",
    "newClientOrderId",
    "strategyId",
    "strategyType",
    "stopPrice",
    "trailingDelta",
    "icebergQty",
    "newOrderRespType",
    "selfTradePreventionMode",
    "pegPriceType",
    "pegOffsetValue",
    "pegOffsetType",
    "computeCommissionRates",
    "cancelReplaceMode",
    "cancelNewClientOrderId",
    "cancelOrigClientOrderId",
    "cancelOrderId",
    "cancelRestrictions",
    "orderRateLimitExceededMode",
];
const TICKER: &[&str] = &["symbol", "symbols", "type", "symbolStatus"];
const KLINES: &[&str] = &["symbol", "interval", "startTime", "endTime", "timeZone", "limit"];

const fn public(
    method: ApiMethod,
    path: &'static str,
    name: &'static str,
    weight: u32,
    params: &'static [&'static str],
) -> MethodRow {
    MethodRow { method, verb: "GET", path, name, security: MethodSecurity::Public, weight, params }
}

const fn signed(
    method: ApiMethod,
    verb: &'static str,
    path: &'static str,
    name: &'static str,
    weight: u32,
    params: &'static [&'static str],
) -> MethodRow {
    MethodRow { method, verb, path, name, security: MethodSecurity::Signed, weight, params }
}

const fn listen_key(
    method: ApiMethod,
    verb: &'static str,
    name: &'static str,
    params: &'static [&'static str],
) -> MethodRow {
    MethodRow { method, verb, path: "/api/v3/userDataStream", name, security: MethodSecurity::Key, weight: 2, params }
}

pub(crate) static METHODS: &[MethodRow] = &[
    public(ApiMethod::Ping, "/api/v3/ping", "ping", 1, &[]),
    public(ApiMethod::Time, "/api/v3/time", "time", 1, &[]),
    public(
        ApiMethod::ExchangeInfo,
        "/api/v3/exchangeInfo",
        "exchangeInfo",
        20,
        &["symbol", "symbols", "permissions", "showPermissionSets", "symbolStatus"],
    ),
    public(ApiMethod::Depth, "/api/v3/depth", "depth", 5, &["symbol", "limit", "symbolStatus"]),
    public(ApiMethod::Trades, "/api/v3/trades", "trades.recent", 25, &["symbol", "limit"]),
    public(
        ApiMethod::HistoricalTrades,
        "/api/v3/historicalTrades",
        "trades.historical",
        25,
        &["symbol", "limit", "fromId"],
    ),
    public(
        ApiMethod::AggTrades,
        "/api/v3/aggTrades",
        "trades.aggregate",
        4,
        &["symbol", "fromId", "startTime", "endTime", "limit"],
    ),
    public(ApiMethod::Klines, "/api/v3/klines", "klines", 2, KLINES),
    public(ApiMethod::Klines, "/api/v3/uiKlines", "uiKlines", 2, KLINES),
    public(ApiMethod::AvgPrice, "/api/v3/avgPrice", "avgPrice", 2, &["symbol"]),
    public(ApiMethod::Ticker24h, "/api/v3/ticker/24hr", "ticker.24hr", 2, TICKER),
    public(
        ApiMethod::TickerDay,
        "/api/v3/ticker/tradingDay",
        "ticker.tradingDay",
        4,
        &["symbol", "symbols", "timeZone", "type", "symbolStatus"],
    ),
    public(
        ApiMethod::TickerWindow,
        "/api/v3/ticker",
        "ticker",
        4,
        &["symbol", "symbols", "windowSize", "type", "symbolStatus"],
    ),
    public(ApiMethod::TickerPrice, "/api/v3/ticker/price", "ticker.price", 2, &["symbol", "symbols", "symbolStatus"]),
    public(
        ApiMethod::TickerBook,
        "/api/v3/ticker/bookTicker",
        "ticker.book",
        2,
        &["symbol", "symbols", "symbolStatus"],
    ),
    signed(ApiMethod::OrderPlace, "POST", "/api/v3/order", "order.place", 1, ORDER),
    signed(ApiMethod::OrderTest, "POST", "/api/v3/order/test", "order.test", 1, ORDER),
    signed(
        ApiMethod::OrderStatus,
        "GET",
        "/api/v3/order",
        "order.status",
        4,
        &["symbol", "orderId", "origClientOrderId"],
    ),
    signed(
        ApiMethod::OrderCancel,
        "DELETE",
        "/api/v3/order",
        "order.cancel",
        1,
        &["symbol", "orderId", "origClientOrderId", "newClientOrderId", "cancelRestrictions"],
    ),
    signed(ApiMethod::CancelReplace, "POST", "/api/v3/order/cancelReplace", "order.cancelReplace", 1, ORDER),
    signed(
        ApiMethod::Amend,
        "PUT",
        "/api/v3/order/amend/keepPriority",
        "order.amend.keepPriority",
        4,
        &["symbol", "orderId", "origClientOrderId", "newClientOrderId", "newQty"],
    ),
    signed(
        ApiMethod::Amendments,
        "GET",
        "/api/v3/order/amendments",
        "order.amendments",
        4,
        &["symbol", "orderId", "fromExecutionId", "limit"],
    ),
    signed(ApiMethod::OpenOrders, "GET", "/api/v3/openOrders", "openOrders.status", 6, &["symbol"]),
    signed(ApiMethod::CancelAll, "DELETE", "/api/v3/openOrders", "openOrders.cancelAll", 1, &["symbol"]),
    signed(
        ApiMethod::AllOrders,
        "GET",
        "/api/v3/allOrders",
        "allOrders",
        20,
        &["symbol", "orderId", "startTime", "endTime", "limit"],
    ),
    signed(ApiMethod::Account, "GET", "/api/v3/account", "account.status", 20, &["omitZeroBalances"]),
    signed(
        ApiMethod::MyTrades,
        "GET",
        "/api/v3/myTrades",
        "myTrades",
        20,
        &["symbol", "orderId", "startTime", "endTime", "fromId", "limit"],
    ),
    signed(ApiMethod::OrderCounts, "GET", "/api/v3/rateLimit/order", "account.rateLimits.orders", 40, &[]),
    signed(
        ApiMethod::PreventedMatches,
        "GET",
        "/api/v3/myPreventedMatches",
        "myPreventedMatches",
        20,
        &["symbol", "preventedMatchId", "orderId", "fromPreventedMatchId", "limit"],
    ),
    signed(ApiMethod::Commission, "GET", "/api/v3/account/commission", "account.commission", 20, &["symbol"]),
    signed(ApiMethod::MyFilters, "GET", "/api/v3/myFilters", "myFilters", 40, &["symbol"]),
    listen_key(ApiMethod::ListenKeyStart, "POST", "userDataStream.start", &[]),
    listen_key(ApiMethod::ListenKeyKeep, "PUT", "userDataStream.ping", &["listenKey"]),
    listen_key(ApiMethod::ListenKeyClose, "DELETE", "userDataStream.stop", &["listenKey"]),
    signed(ApiMethod::ApiRestrictions, "GET", "/sapi/v1/account/apiRestrictions", "", 1, &[]),
    signed(ApiMethod::TradeFee, "GET", "/sapi/v1/asset/tradeFee", "", 1, &["symbol"]),
];

impl MethodRow {
    pub(crate) fn known(&self) -> Vec<&'static str> {
        let mut known = self.params.to_vec();
        if self.security == MethodSecurity::Signed {
            known.extend(SIGNED);
        }
        known
    }

    /// The weight of a request with these parameters.
    pub(crate) fn weight_of(&self, params: &Params) -> u32 {
        let limit: u32 = params.raw("limit").and_then(|text| text.parse().ok()).unwrap_or(100);
        let symbols = params.raw("symbols").map_or(0, |list| u32::try_from(list.split(',').count()).unwrap_or(100));
        let is_single = params.has("symbol");
        match self.method {
            ApiMethod::Depth => match limit {
                0..=100 => 5,
                101..=500 => 25,
                501..=1_000 => 50,
                _ => 250,
            },
            ApiMethod::Ticker24h => match (is_single, symbols) {
                (true, _) | (false, 1..=20) => 2,
                (false, 21..=100) => 40,
                (false, _) => 80,
            },
            ApiMethod::TickerDay | ApiMethod::TickerWindow => (4 * symbols.max(1)).min(200),
            ApiMethod::TickerPrice | ApiMethod::TickerBook if !is_single => 4,
            ApiMethod::OpenOrders if !is_single => 80,
            ApiMethod::MyTrades if params.has("orderId") => 5,
            ApiMethod::PreventedMatches if params.has("preventedMatchId") => 2,
            ApiMethod::OrderTest if params.raw("computeCommissionRates") == Some("true") => 20,
            _ => self.weight,
        }
    }

    /// Methods that a key must be allowed to trade for.
    pub(crate) fn is_trading(&self) -> bool {
        matches!(
            self.method,
            ApiMethod::OrderPlace
                | ApiMethod::OrderTest
                | ApiMethod::OrderCancel
                | ApiMethod::CancelReplace
                | ApiMethod::Amend
                | ApiMethod::CancelAll
        )
    }

    /// Methods whose answer shows the unfilled order count.
    pub(crate) fn is_order(&self) -> bool {
        matches!(self.method, ApiMethod::OrderPlace | ApiMethod::CancelReplace)
    }

    /// Order requests weigh nothing where they succeed.
    pub(crate) fn is_free_on_success(&self) -> bool {
        matches!(
            self.method,
            ApiMethod::OrderPlace | ApiMethod::OrderCancel | ApiMethod::CancelAll | ApiMethod::CancelReplace
        )
    }
}

pub(crate) fn by_path(verb: &str, path: &str) -> Option<&'static MethodRow> {
    METHODS.iter().find(|row| row.verb == verb && row.path == path)
}

pub(crate) fn by_name(name: &str) -> Option<&'static MethodRow> {
    METHODS.iter().find(|row| !name.is_empty() && row.name == name)
}
