//! The messages of a trial: each that a dialect sends, with every code that it has.

use domain::order::{BaseState, OrderTerms, PendingRequest};
use domain::{
    AccountId, AdapterName, Amount, ExchangeId, Order, OrderId, OrderKind, OrderProperties, OrderProperty, Price,
    Quantity, SecurityId, Side, Source, StrategyId, TimeInForce, Timestamp, WireId,
};
use fix::OutgoingMessage;
use fix::tag::Tag;

use crate::account::open_captures::{CaptureScope, trade_capture};
use crate::account::position_request::position_request;
use crate::dialect::{Dialect, OrderQuery};
use crate::market_data::MarketDataFeed;
use crate::requests::{
    ClientIds, OrderContext, QuestionId, RequestRefusal, cancel, mass_status, new_order, order_status, replace,
};
use crate::securities::security_list::SecurityList;
use crate::securities::security_status::SecurityStatuses;

/// A digit is a text, a number and a character, so that what is refused is refused for every order.
const SAMPLE: &str = "1";
const INSTANCE: u64 = 1;
const AT: Timestamp = Timestamp(0);
const QUESTION: QuestionId = QuestionId { begun_millis: 1, number: 1 };

/// A message, and where the file has the codes in it.
pub(super) struct TrialMessage {
    pub(super) message: OutgoingMessage,
    pub(super) codes: Vec<(Tag, String)>,
}

/// What the dialect does not offer is left out.
pub(super) fn trial_messages(dialect: &Dialect) -> Vec<TrialMessage> {
    let mut messages = orders(dialect);
    let others = [order_requests(dialect), account_requests(dialect)].concat();
    let plain = |message| TrialMessage { message, codes: Vec::new() };
    messages.extend(others.into_iter().filter_map(Result::ok).chain(price_requests(dialect)).map(plain));
    messages
}

/// D and G with each type, time in force, side and property.
fn orders(dialect: &Dialect) -> Vec<TrialMessage> {
    let mut messages = Vec::new();
    for (order, codes) in sample_orders(dialect) {
        let sent = [new_order(dialect, &ids(dialect), &order, &context()), {
            let replaced = Order { request: 1, ext_id: Some(SAMPLE.into()), ..order.clone() };
            replace(dialect, &ids(dialect), (&replaced, first_id(&order)), order.terms, &context())
        }];
        let sent = sent.into_iter().filter_map(Result::ok);
        messages.extend(sent.map(|message| TrialMessage { message, codes: codes.clone() }));
    }
    messages
}

fn sample_orders(dialect: &Dialect) -> Vec<(Order, Vec<(Tag, String)>)> {
    let mut orders = Vec::new();
    let offered = kinds().into_iter().filter(|(kind, _)| dialect.orders.types.code(kind.order_type()).is_some());
    for (kind, type_key) in offered {
        for (tif, tif_key) in times_in_force() {
            for (side, side_key) in [(Side::Buy, "buy"), (Side::Sell, "sell")] {
                let terms = OrderTerms { quantity: Quantity::from(1), kind, tif };
                let codes = [
                    (40, format!("orders.types.{type_key}")),
                    (59, format!("orders.timesInForce.{tif_key}")),
                    (54, format!("orders.sides.{side_key}")),
                ];
                orders.push((Order { side, ..sample_order(terms) }, codes.to_vec()));
            }
        }
    }
    let plain = orders.first().map(|(order, _)| order.clone());
    orders.extend(plain.into_iter().flat_map(|order| with_properties(dialect, &order)));
    orders
}

/// One order for each property that the dialect offers.
fn with_properties(dialect: &Dialect, order: &Order) -> Vec<(Order, Vec<(Tag, String)>)> {
    let fields = &dialect.orders.properties;
    let sample = |property: OrderProperty| {
        let mut properties = OrderProperties::default();
        let tag = match property {
            OrderProperty::PostOnly => {
                properties.post_only = true;
                fields.post_only.as_ref().map(|(tag, _)| *tag)
            }
            OrderProperty::DisplayQuantity => {
                properties.display_quantity = Some(Quantity::from(1));
                fields.display_quantity
            }
            OrderProperty::MinQuantity => {
                properties.min_quantity = Some(Quantity::from(1));
                fields.min_quantity
            }
        };
        let codes = tag.map(|tag| (tag, format!("orders.properties.{}", property.name())));
        (Order { properties, ..order.clone() }, codes.into_iter().collect())
    };
    fields.offered().into_iter().map(sample).collect()
}

/// F and H.
fn order_requests(dialect: &Dialect) -> Vec<Result<OutgoingMessage, RequestRefusal>> {
    let terms =
        OrderTerms { quantity: Quantity::from(1), kind: OrderKind::Limit { limit: price() }, tif: TimeInForce::Day };
    let order = Order { request: 1, ext_id: Some(SAMPLE.into()), ..sample_order(terms) };
    let known = first_id(&order);
    vec![
        cancel(dialect, &ids(dialect), &order, known, &context()),
        order_status(dialect, &ids(dialect), &order, known, &context()),
    ]
}

/// AF, AD and AN, where they are sent.
fn account_requests(dialect: &Dialect) -> Vec<Result<OutgoingMessage, RequestRefusal>> {
    let recovery = &dialect.recovery;
    let mut messages = Vec::new();
    let asks_all = recovery.snapshot || recovery.open_orders;
    if asks_all || recovery.orders == OrderQuery::MassStatus {
        messages.push(mass_status(dialect, QUESTION, true));
    }
    if recovery.trades {
        let known = WireId { instance: INSTANCE, order: OrderId(1), request: 0 };
        let scopes = [CaptureScope::Order(known), CaptureScope::Oldest(AT, 1)];
        messages.extend(scopes.map(|scope| trade_capture(dialect, &ids(dialect), QUESTION, scope)));
    }
    if recovery.positions {
        messages.push(position_request(dialect, QUESTION, SAMPLE, AT));
    }
    messages
}

/// V, x and e, where they are sent.
fn price_requests(dialect: &Dialect) -> Vec<OutgoingMessage> {
    let mut messages = Vec::new();
    if let Some(rules) = &dialect.market_data {
        let (mut feed, security) = (MarketDataFeed::new(SAMPLE.into(), rules.clone(), AT), SecurityId(1));
        messages.push(feed.subscribe(security, SAMPLE));
        messages.extend(feed.unsubscribe(security));
    }
    messages.extend(dialect.security_list.clone().map(|rules| SecurityList::new(rules, 0).request()));
    messages.extend(dialect.security_status.clone().map(|rules| SecurityStatuses::new(rules, 0).request(SAMPLE)));
    messages
}

fn ids(dialect: &Dialect) -> ClientIds {
    ClientIds::new(INSTANCE, dialect.ids.clone())
}

fn first_id(order: &Order) -> WireId {
    WireId { instance: INSTANCE, order: order.id, request: 0 }
}

fn price() -> Price {
    Price(1.into())
}

fn kinds() -> [(OrderKind, &'static str); 4] {
    let (limit, stop) = (price(), price());
    [
        (OrderKind::Market, "market"),
        (OrderKind::Limit { limit }, "limit"),
        (OrderKind::Stop { stop }, "stop"),
        (OrderKind::StopLimit { limit, stop }, "stopLimit"),
    ]
}

fn times_in_force() -> [(TimeInForce, &'static str); 7] {
    [
        (TimeInForce::Day, "day"),
        (TimeInForce::Gtc, "gtc"),
        (TimeInForce::Ato, "ato"),
        (TimeInForce::Ioc, "ioc"),
        (TimeInForce::Fok, "fok"),
        (TimeInForce::Gtd { until: AT }, "gtd"),
        (TimeInForce::Atc, "atc"),
    ]
}

fn context() -> OrderContext<'static> {
    OrderContext {
        symbol: SAMPLE,
        account: Some(SAMPLE),
        currency: "USD",
        exchange: Some("XNAS"),
        isin: Some("US5949181045"),
        at: AT,
    }
}

fn sample_order(terms: OrderTerms) -> Order {
    Order {
        id: OrderId(1),
        int_id: SAMPLE.parse().expect("a digit is an id"),
        ext_id: None,
        cl_ord_id: None,
        at: AT,
        side: Side::Buy,
        terms,
        exchange_order: false,
        exchange: ExchangeId(1),
        security: SecurityId(1),
        account: AccountId(1),
        strategy: StrategyId::SERVER,
        adapter: AdapterName(SAMPLE.into()),
        properties: OrderProperties::default(),
        state: BaseState::PendingNew,
        pending: PendingRequest::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Platform,
        submitted_by: None,
        changed_at: AT,
        request: 0,
        legs: None,
        pass_through: None,
    }
}
