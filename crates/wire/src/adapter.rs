//! Adapters: their sessions, and what their venues offer.

use domain::query::{AdapterStatus, LineStatus};
use domain::{OrderProperty, ReferenceData};
use serde::Serialize;

use crate::json::Millis;
use crate::notifications::split_adapter;

/// The engine itself sees to it, at every venue.
const REDUCE_ONLY: &str = "reduceOnly";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdapterVO<'a> {
    name: &'a str,
    adapter_type: &'a str,
    session_qualifier: Option<&'a str>,
    state: &'static str,
    simulated: bool,
    exchange_ids: Vec<u64>,
    order_properties: Vec<&'static str>,
    open_for: &'static str,
    lines: Vec<LineVO<'a>>,
}

/// A line of an adapter.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineVO<'a> {
    line: &'static str,
    up: bool,
    since: Option<Millis>,
    last_heard: Option<Millis>,
    reason: Option<&'a str>,
}

impl<'a> LineVO<'a> {
    fn from_domain(status: &'a LineStatus) -> Self {
        Self {
            line: status.state.line.name(),
            up: status.state.up,
            since: status.since.map(Millis::from),
            last_heard: status.last_heard.map(Millis::from),
            reason: status.state.reason.as_deref(),
        }
    }
}

impl<'a> AdapterVO<'a> {
    pub fn from_domain(status: &'a AdapterStatus, reference: &'a ReferenceData) -> Self {
        let (adapter_type, session_qualifier) = split_adapter(&status.adapter, reference);
        let offered = OrderProperty::ALL.into_iter().filter(|property| status.order_properties.contains(property));
        Self {
            name: &status.adapter.0,
            adapter_type,
            session_qualifier,
            state: status.session.name(),
            simulated: status.simulated,
            exchange_ids: status.exchanges.iter().map(|exchange| exchange.0).collect(),
            order_properties: offered.map(OrderProperty::name).chain([REDUCE_ONLY]).collect(),
            open_for: status.open_for.name(),
            lines: status.lines.iter().map(LineVO::from_domain).collect(),
        }
    }
}
