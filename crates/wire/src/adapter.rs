//! Adapters: their sessions, and what their venues offer.

use domain::query::{AdapterStatus, LineStatus};
use domain::{OrderProperty, ReferenceData, VenueFacts};

use crate::json::Millis;
use crate::notifications::split_adapter;
use crate::value_object::value_object;

/// The engine itself sees to it, at every venue.
const REDUCE_ONLY: &str = "reduceOnly";

value_object! {
    /// An adapter: the state of its session, and what its venue offers.
    pub struct AdapterVO<'a> ("AdapterVO", golden)
    from (status: &'a AdapterStatus, facts: VenueFacts, reference: &'a ReferenceData)
    let (adapter_type, session_qualifier) = split_adapter(&status.adapter, reference);
    let offered = OrderProperty::ALL.into_iter().filter(|property| status.order_properties.contains(property)); {
        name: &'a str = &status.adapter.0,
        adapterType: &'a str = adapter_type,
        sessionQualifier: Option<&'a str> = session_qualifier,
        state: &'static str [OneOf(SESSION_STATES)] = status.session.name(),
        simulated: bool = status.simulated,
        orders: &'static str [OneOf(ORDER_MODES)] = facts.orders.name(),
        proof: &'static str [OneOf(VENUE_PROOFS)] = facts.proof.name(),
        exchangeIds: Vec<u64> = status.exchanges.iter().map(|exchange| exchange.0).collect(),
        orderProperties: Vec<&'static str> [List(&OneOf(ORDER_PROPERTIES))] =
            offered.map(OrderProperty::name).chain([REDUCE_ONLY]).collect(),
        openFor: &'static str [OneOf(OPEN_FOR)] = status.open_for.name(),
        lines: Vec<LineVO<'a>> = status.lines.iter().map(LineVO::from_domain).collect(),
    }
}

value_object! {
    /// A connection of an adapter to its venue, and what the server has seen of it since it started.
    pub struct LineVO<'a> ("LineVO")
    from (status: &'a LineStatus) {
        line: &'static str [OneOf(LINES)] = status.state.line.name(),
        up: bool = status.state.up,
        since: Option<Millis> = status.since.map(Millis::from),
        lastHeard: Option<Millis> = status.last_heard.map(Millis::from),
        reason: Option<&'a str> = status.state.reason.as_deref(),
    }
}
