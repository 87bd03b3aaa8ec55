//! Requests: what is asked of the venue, before it is stamped, signed and encoded.

pub mod parameters;
pub use adapter_kit::signing;
pub mod calls;
pub mod encoding;

use domain::{Decimal, Timestamp};

use self::calls::{BinanceCall, depth_weight};
use self::parameters::Parameters;
use super::venue_enums::{BinanceOrderType, BinanceSide, BinanceStpMode, BinanceTif};
use super::wire_values::millis_of;

/// The most that a list of trades has in one answer.
pub const TRADES_PAGE_MAX: i64 = 1_000;
/// The most that a list of orders has in one answer.
pub const ORDERS_PAGE_MAX: i64 = 1_000;
/// The most that klines have in one answer.
pub const KLINES_PAGE_MAX: i64 = 1_000;
/// The most symbols of one question for tickers that has the least weight.
pub const TICKERS_MAX: usize = 20;
/// The most levels of a side in a depth snapshot.
pub const DEPTH_LEVELS_MAX: u32 = 5_000;

/// A call with its parameters and its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinanceRequest {
    pub call: BinanceCall,
    pub parameters: Parameters,
    pub weight: u32,
}

/// A new order in the venue's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderTicket {
    pub symbol: String,
    pub side: BinanceSide,
    pub kind: BinanceOrderType,
    /// Absent for types that must not have one.
    pub tif: Option<BinanceTif>,
    pub quantity: Decimal,
    pub price: Option<Decimal>,
    pub stop_price: Option<Decimal>,
    /// The visible part of an iceberg.
    pub iceberg: Option<Decimal>,
    pub stp_mode: Option<BinanceStpMode>,
    pub client_id: String,
}

/// Which order is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderReference {
    /// By the id that we gave it.
    Client(String),
    /// By the venue's id, which is unique within a symbol.
    Venue(i64),
}

/// Where a list of trades begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradesFrom {
    /// With the trade of this id.
    Id(i64),
    /// With the first one after this instant, at most 24 hours back.
    Time(Timestamp),
    /// The newest ones.
    Newest,
}

impl BinanceRequest {
    fn new(call: BinanceCall, parameters: Parameters) -> Self {
        Self { call, parameters, weight: call.weight(true) }
    }

    pub fn time() -> Self {
        Self::new(BinanceCall::Time, Parameters::default())
    }

    /// All symbols, without the long lists of permissions.
    pub fn exchange_info() -> Self {
        Self::new(BinanceCall::ExchangeInfo, Parameters::default().flag("showPermissionSets", false))
    }

    pub fn depth(symbol: &str, levels: u32) -> Self {
        let levels = levels.min(DEPTH_LEVELS_MAX);
        let parameters = Parameters::default().text("symbol", symbol).integer("limit", levels.into());
        Self { weight: depth_weight(levels), ..Self::new(BinanceCall::Depth, parameters) }
    }

    /// Best quotes and last trades of at most [`TICKERS_MAX`] symbols; further ones are not asked for.
    pub fn tickers(symbols: &[String]) -> Self {
        let asked = &symbols[..symbols.len().min(TICKERS_MAX)];
        Self::new(BinanceCall::Tickers, Parameters::default().text("symbols", serde_json::json!(asked).to_string()))
    }

    /// Bars from an instant on, oldest first.
    pub fn klines(symbol: &str, interval: &str, from: Timestamp, to: Timestamp) -> Self {
        let parameters = Parameters::default()
            .text("symbol", symbol)
            .text("interval", interval)
            .integer("startTime", millis_of(from))
            .integer("endTime", millis_of(to))
            .integer("limit", KLINES_PAGE_MAX);
        Self::new(BinanceCall::Klines, parameters)
    }

    /// State and fills come by the user data stream, so the shortest answer is enough.
    pub fn place(ticket: &OrderTicket) -> Self {
        let parameters = ticket.parameters(Parameters::default());
        Self::new(BinanceCall::Place, parameters)
    }

    /// The venue checks the order and does not place it.
    pub fn place_test(ticket: &OrderTicket) -> Self {
        Self::new(BinanceCall::PlaceTest, ticket.parameters(Parameters::default()))
    }

    /// `cancel_id` names the cancel itself; the order keeps its own id in the event as the original one.
    pub fn cancel(symbol: &str, order: &OrderReference, cancel_id: &str) -> Self {
        let parameters = order
            .parameter(Parameters::default().text("symbol", symbol), ("orderId", "origClientOrderId"))
            .text("newClientOrderId", cancel_id);
        Self::new(BinanceCall::Cancel, parameters)
    }

    /// Cancels an order and places another one. Where the cancel fails, nothing is placed. With `only_unfilled` the cancel
    /// fails where the order was filled meanwhile: the new quantity would be too large then.
    pub fn cancel_replace(order: &OrderReference, cancel_id: &str, by: &OrderTicket, only_unfilled: bool) -> Self {
        let parameters = Parameters::default()
            .text("cancelReplaceMode", "STOP_ON_FAILURE")
            .maybe(only_unfilled.then_some("ONLY_NEW"), |p, only| p.text("cancelRestrictions", only));
        let parameters = order
            .parameter(parameters, ("cancelOrderId", "cancelOrigClientOrderId"))
            .text("cancelNewClientOrderId", cancel_id);
        Self::new(BinanceCall::CancelReplace, by.parameters(parameters))
    }

    /// Lowers the quantity of an order, which keeps its place in the queue and its client id.
    pub fn amend(symbol: &str, client_id: &str, quantity: Decimal) -> Self {
        let parameters = Parameters::default()
            .text("symbol", symbol)
            .text("origClientOrderId", client_id)
            .text("newClientOrderId", client_id)
            .amount("newQty", quantity);
        Self::new(BinanceCall::Amend, parameters)
    }

    pub fn order_status(symbol: &str, order: &OrderReference) -> Self {
        let parameters =
            order.parameter(Parameters::default().text("symbol", symbol), ("orderId", "origClientOrderId"));
        Self::new(BinanceCall::OrderStatus, parameters)
    }

    /// Of one symbol, or of all.
    pub fn open_orders(symbol: Option<&str>) -> Self {
        let parameters = Parameters::default().maybe(symbol, |p, symbol| p.text("symbol", symbol));
        let weight = BinanceCall::OpenOrders.weight(symbol.is_some());
        Self { weight, ..Self::new(BinanceCall::OpenOrders, parameters) }
    }

    /// The newest orders of a symbol, open or ended.
    pub fn all_orders(symbol: &str) -> Self {
        let parameters = Parameters::default().text("symbol", symbol).integer("limit", ORDERS_PAGE_MAX);
        Self::new(BinanceCall::AllOrders, parameters)
    }

    /// The venue lists trades by symbol only, oldest first from where it is told to begin.
    pub fn my_trades(symbol: &str, from: TradesFrom) -> Self {
        let parameters = Parameters::default().text("symbol", symbol);
        let parameters = match from {
            TradesFrom::Id(id) => parameters.integer("fromId", id),
            TradesFrom::Time(at) => parameters.integer("startTime", millis_of(at)),
            TradesFrom::Newest => parameters,
        };
        let weight = BinanceCall::MyTrades.weight(false);
        Self { weight, ..Self::new(BinanceCall::MyTrades, parameters.integer("limit", TRADES_PAGE_MAX)) }
    }

    /// The trades of one order, from an id on.
    pub fn order_trades(symbol: &str, order_id: i64, from: Option<i64>) -> Self {
        let parameters = Parameters::default()
            .text("symbol", symbol)
            .integer("orderId", order_id)
            .maybe(from, |p, id| p.integer("fromId", id))
            .integer("limit", TRADES_PAGE_MAX);
        Self::new(BinanceCall::MyTrades, parameters)
    }

    pub fn account() -> Self {
        Self::new(BinanceCall::Account, Parameters::default().flag("omitZeroBalances", true))
    }

    pub fn order_count() -> Self {
        Self::new(BinanceCall::OrderCount, Parameters::default())
    }

    /// What the key may do.
    pub fn key_restrictions() -> Self {
        Self::new(BinanceCall::KeyRestrictions, Parameters::default())
    }

    pub fn log_on() -> Self {
        Self::new(BinanceCall::LogOn, Parameters::default())
    }

    /// On a session that is logged on, or by a signature of its own.
    pub fn subscribe_user(is_logged_on: bool) -> Self {
        let call = if is_logged_on { BinanceCall::SubscribeUser } else { BinanceCall::SubscribeUserSigned };
        Self::new(call, Parameters::default())
    }
}

impl OrderTicket {
    fn parameters(&self, parameters: Parameters) -> Parameters {
        parameters
            .text("symbol", &self.symbol)
            .text("side", self.side.as_str())
            .text("type", self.kind.as_str())
            .maybe(self.tif.as_ref(), |p, tif| p.text("timeInForce", tif.as_str()))
            .amount("quantity", self.quantity)
            .maybe(self.price, |p, price| p.amount("price", price))
            .maybe(self.stop_price, |p, price| p.amount("stopPrice", price))
            .maybe(self.iceberg, |p, visible| p.amount("icebergQty", visible))
            .maybe(self.stp_mode.as_ref(), |p, mode| p.text("selfTradePreventionMode", mode.as_str()))
            .text("newClientOrderId", &self.client_id)
            .text("newOrderRespType", "ACK")
    }
}

impl OrderReference {
    fn parameter(&self, parameters: Parameters, (venue, client): (&'static str, &'static str)) -> Parameters {
        match self {
            Self::Venue(id) => parameters.integer(venue, *id),
            Self::Client(id) => parameters.text(client, id),
        }
    }
}
