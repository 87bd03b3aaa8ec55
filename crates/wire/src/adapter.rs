//! Adapters: their sessions, and what their venues offer.

use domain::query::AdapterStatus;
use domain::{OrderProperty, ReferenceData};
use serde::Serialize;

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
        }
    }
}
