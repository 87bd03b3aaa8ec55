//! An order as a client sends it (MarketOrderVO, LimitOrderVO, StopOrderVO, StopLimitOrderVO), new or changed. Absent
//! values stay absent: the engine applies the defaults, the same for every interface.

use domain::command::{ModifyOrder, PlaceOrder, RestatedFields};
use domain::{
    AccountId, Calendar, Date, ExchangeId, IntId, OrderKind, OrderProperties, OrderType, Price, PriceField, Quantity,
    ReferenceData, SecurityId, Side, StrategyId, Text, TimeInForce, Timestamp,
};
use serde_json::Value;

use crate::bodies::fields::{BadBody, FieldError, Fields, instant, int_id_of};
use crate::bodies::strategy_name::{NamedStrategy, STRATEGY_NAME_LENGTH_MAX};

/// Longest reference text of a client.
pub const REFERENCE_LENGTH_MAX: usize = 256;
/// How many days back the last session before a good-till date is searched: the longest holidays are shorter.
const DAYS_BACK_MAX: usize = 31;

const SIDES: [(&str, Side); 2] = [("BUY", Side::Buy), ("SELL", Side::Sell)];

const ORDER_TYPES: [(&str, OrderType); OrderType::ALL.len()] = {
    let mut named = [("", OrderType::Market); OrderType::ALL.len()];
    let mut at = 0;
    while at < named.len() {
        named[at] = (OrderType::ALL[at].name(), OrderType::ALL[at]);
        at += 1;
    }
    named
};

/// The body of a request, with every field parsed and none required yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderBody {
    pub order_type: Option<OrderType>,
    pub int_id: Option<IntId>,
    pub security: Option<SecurityId>,
    account: Option<AccountId>,
    strategy: Option<StrategyId>,
    strategy_name: Option<String>,
    exchange: Option<ExchangeId>,
    side: Option<Side>,
    quantity: Option<Quantity>,
    limit: Option<Price>,
    stop: Option<Price>,
    tif: Option<Tif>,
    until: Option<GoodTill>,
    exchange_order: Option<bool>,
    reference: Option<Text>,
    post_only: Option<bool>,
    display_quantity: Option<Quantity>,
    min_quantity: Option<Quantity>,
    reduce_only: Option<bool>,
}

/// A time in force, before the instant it may need is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tif {
    Plain(TimeInForce),
    Gtd,
}

const TIFS: [(&str, Tif); 7] = [
    ("DAY", Tif::Plain(TimeInForce::Day)),
    ("GTC", Tif::Plain(TimeInForce::Gtc)),
    ("ATO", Tif::Plain(TimeInForce::Ato)),
    ("IOC", Tif::Plain(TimeInForce::Ioc)),
    ("FOK", Tif::Plain(TimeInForce::Fok)),
    ("GTD", Tif::Gtd),
    ("ATC", Tif::Plain(TimeInForce::Atc)),
];

/// Expiry of an order: an instant, or the close of an exchange's day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GoodTill {
    Instant(Timestamp),
    Day(Date),
}

impl OrderBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let order = Self {
            order_type: fields.choice("objectType", &ORDER_TYPES),
            int_id: fields.read("intId", int_id_of),
            security: fields.id("securityId").map(SecurityId),
            account: fields.id("accountId").map(AccountId),
            strategy: fields.id("strategyId").map(StrategyId),
            strategy_name: fields.text("strategyName", STRATEGY_NAME_LENGTH_MAX),
            exchange: fields.id("exchangeId").map(ExchangeId),
            side: fields.choice("side", &SIDES),
            quantity: fields.decimal("quantity").map(Quantity),
            limit: fields.decimal("limit").map(Price),
            stop: fields.decimal("stop").map(Price),
            tif: fields.choice("tif", &TIFS),
            until: fields.read("tifDateTime", until_of),
            exchange_order: fields.flag("exchangeOrder"),
            reference: fields.text("reference", REFERENCE_LENGTH_MAX).map(Text::from),
            post_only: fields.flag("postOnly"),
            display_quantity: fields.decimal("displayQuantity").map(Quantity),
            min_quantity: fields.decimal("minQuantity").map(Quantity),
            reduce_only: fields.flag("reduceOnly"),
        };
        fields.finish(Some(order))
    }

    /// A new order of the type in the path.
    pub fn to_place(self, order_type: OrderType, reference: &ReferenceData) -> Result<PlaceOrder, Vec<FieldError>> {
        let mut faults = self.check_prices(order_type);
        let security = faults.require("securityId", self.security);
        let side = faults.require("side", self.side);
        let quantity = faults.require("quantity", self.quantity);
        let kind = faults.kind(order_type, self.limit, self.stop);
        let strategy = faults.collect(self.strategy(reference));
        let tif = faults.collect(self.tif(reference));
        let (Some(security), Some(side), Some(quantity), Some(kind), Some(strategy), Some(tif), true) =
            (security, side, quantity, kind, strategy, tif, faults.0.is_empty())
        else {
            return Err(faults.0);
        };
        let properties = self.properties();
        Ok(PlaceOrder {
            int_id: self.int_id,
            cl_ord_id: None,
            security,
            account: self.account,
            strategy,
            exchange: self.exchange,
            side,
            quantity,
            kind,
            tif,
            exchange_order: self.exchange_order.unwrap_or(false),
            reference: self.reference,
            properties,
            pass_through: None,
        })
    }

    /// Whether the exchange's day depends on the live order.
    pub fn has_date_only(&self) -> bool {
        matches!(self.until, Some(GoodTill::Day(_))) && self.exchange.is_none() && self.security.is_none()
    }

    /// New terms for a live order of the type in the path; `listed_on` is its exchange, where it was queried.
    pub fn to_modify(
        self,
        order_type: OrderType,
        reference: &ReferenceData,
        listed_on: Option<ExchangeId>,
    ) -> Result<ModifyOrder, Vec<FieldError>> {
        let mut faults = self.check_prices(order_type);
        let int_id = faults.require("intId", self.int_id.clone());
        let tif = faults.collect(self.changed_tif(reference, listed_on)).flatten();
        let strategy = faults.collect(self.strategy(reference)).flatten();
        let (Some(int_id), true) = (int_id, faults.0.is_empty()) else { return Err(faults.0) };
        Ok(ModifyOrder {
            int_id,
            cl_ord_id: None,
            quantity: self.quantity,
            limit: self.limit,
            stop: self.stop,
            tif,
            restated: RestatedFields {
                side: self.side,
                security: self.security,
                account: self.account,
                kind: order_type.with_prices(Some(Price::ZERO), Some(Price::ZERO)).ok(),
                strategy,
                exchange: self.exchange,
                order: None,
                post_only: self.post_only,
                display_quantity: self.display_quantity,
                min_quantity: self.min_quantity,
                reduce_only: self.reduce_only,
                pass_through: None,
            },
            reference: self.reference,
        })
    }

    /// A price that this type of order does not have is rejected: it would have no effect.
    fn check_prices(&self, order_type: OrderType) -> FieldErrors {
        let mut faults = FieldErrors::default();
        let name = order_type.name();
        if self.order_type.is_some_and(|named| named != order_type) {
            let reason = format!("must be {name} here");
            faults.push(fault("objectType", "field-fixed", reason));
        }
        for (field, price) in [(PriceField::Limit, self.limit), (PriceField::Stop, self.stop)] {
            if price.is_some() && !order_type.has(field) {
                faults.push(FieldError::unexpected(field.name(), format!("does not belong to a {name}")));
            }
        }
        faults
    }

    fn properties(&self) -> OrderProperties {
        OrderProperties {
            post_only: self.post_only.unwrap_or(false),
            display_quantity: self.display_quantity,
            min_quantity: self.min_quantity,
            reduce_only: self.reduce_only.unwrap_or(false),
        }
    }

    fn strategy(&self, reference: &ReferenceData) -> Result<Option<StrategyId>, FieldError> {
        NamedStrategy { id: self.strategy, name: self.strategy_name.as_deref() }.find(reference)
    }

    fn tif(&self, reference: &ReferenceData) -> Result<TimeInForce, FieldError> {
        match (self.tif, self.until) {
            (None, None) => Ok(TimeInForce::Day),
            (Some(Tif::Plain(tif)), None) => Ok(tif),
            (None | Some(Tif::Plain(_)), Some(_)) => Err(FieldError::unexpected("tifDateTime", "belongs to GTD only")),
            (Some(Tif::Gtd), None) => Err(FieldError::missing("tifDateTime")),
            (Some(Tif::Gtd), Some(until)) => self.good_until(until, reference, None),
        }
    }

    /// An absent value keeps the order's; a new date may come without its GTD.
    fn changed_tif(
        &self,
        reference: &ReferenceData,
        listed_on: Option<ExchangeId>,
    ) -> Result<Option<TimeInForce>, FieldError> {
        match (self.tif, self.until) {
            (None, None) => Ok(None),
            (None | Some(Tif::Gtd), Some(until)) => self.good_until(until, reference, listed_on).map(Some),
            _ => self.tif(reference).map(Some),
        }
    }

    fn good_until(
        &self,
        until: GoodTill,
        reference: &ReferenceData,
        listed_on: Option<ExchangeId>,
    ) -> Result<TimeInForce, FieldError> {
        let until = match until {
            GoodTill::Instant(until) => until,
            GoodTill::Day(day) => close_of(day, self.exchange(reference, listed_on)?, reference)?,
        };
        Ok(TimeInForce::Gtd { until })
    }

    fn exchange(&self, reference: &ReferenceData, listed_on: Option<ExchangeId>) -> Result<ExchangeId, FieldError> {
        if let Some(exchange) = self.exchange.or(listed_on) {
            return Ok(exchange);
        }
        let id = self.security.ok_or_else(|| FieldError::missing("securityId"))?;
        let unknown = || fault("securityId", "unknown-security", format!("security {id} is not known"));
        reference.securities.get(&id).map(|security| security.exchange).ok_or_else(unknown)
    }
}

/// A good-till date ends at that day's close; where the exchange is closed on that day, at the close before.
fn close_of(day: Date, exchange: ExchangeId, reference: &ReferenceData) -> Result<Timestamp, FieldError> {
    let unknown = || fault("exchangeId", "unknown-exchange", format!("exchange {exchange} is not known"));
    let exchange = reference.exchanges.get(&exchange).ok_or_else(unknown)?;
    let calendar = Calendar::new(exchange.clone())
        .map_err(|zone| fault("exchangeId", "unknown-zone", format!("has an unknown time zone, {}", zone.0)))?;
    let no_session = || fault("tifDateTime", "market-closed", format!("is far from any session of {}", exchange.name));
    let days = std::iter::successors(Some(day), |day| day.0.yesterday().ok().map(Date));
    days.take(DAYS_BACK_MAX).find_map(|day| calendar.close_of(day)).ok_or_else(no_session)
}

fn until_of(field: &'static str, value: Value) -> Result<GoodTill, FieldError> {
    let until = match &value {
        Value::Number(number) => instant(number.as_str()).map(GoodTill::Instant),
        Value::String(text) => text.parse().ok().map(GoodTill::Day).or_else(|| instant(text).map(GoodTill::Instant)),
        _ => None,
    };
    until.ok_or_else(|| FieldError::malformed(field, "must be epoch milliseconds or a date YYYY-MM-DD"))
}

fn fault(field: &'static str, code: &'static str, reason: String) -> FieldError {
    FieldError::new(field, code, reason)
}

/// The errors of one request.
#[derive(Default)]
struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    fn push(&mut self, fault: FieldError) {
        self.0.push(fault);
    }

    fn collect<T>(&mut self, outcome: Result<T, FieldError>) -> Option<T> {
        outcome.map_err(|fault| self.push(fault)).ok()
    }

    fn require<T>(&mut self, field: &'static str, value: Option<T>) -> Option<T> {
        self.collect(value.ok_or_else(|| FieldError::missing(field)))
    }

    /// Every price that the type needs is required; one that it does not have is not read.
    fn kind(&mut self, order_type: OrderType, limit: Option<Price>, stop: Option<Price>) -> Option<OrderKind> {
        for field in order_type.prices() {
            let price = match field {
                PriceField::Limit => limit,
                PriceField::Stop => stop,
            };
            self.require(field.name(), price);
        }
        order_type.with_prices(limit, stop).ok()
    }
}
