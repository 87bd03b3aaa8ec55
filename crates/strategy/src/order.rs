//! Order constructors: `order::market(...)`, `order::limit(...)`. The other fields (account, time in force, the
//! strategy's own note, properties such as post-only) have defaults and can be set on the result. And the rejection of a
//! command.

use domain::command::PlaceOrder;
use domain::{Command, OrderKind, OrderProperties, Price, Quantity, SecurityId, Side, Text, TimeInForce};

/// A market order.
pub fn market(security: SecurityId, side: Side, quantity: Quantity) -> PlaceOrder {
    place_order(security, side, quantity, OrderKind::Market)
}

/// A limit order.
pub fn limit(security: SecurityId, side: Side, quantity: Quantity, limit: Price) -> PlaceOrder {
    place_order(security, side, quantity, OrderKind::Limit { limit })
}

/// A stop order: a market order once the stop price is reached.
pub fn stop(security: SecurityId, side: Side, quantity: Quantity, stop: Price) -> PlaceOrder {
    place_order(security, side, quantity, OrderKind::Stop { stop })
}

/// A stop-limit order: a limit order once the stop price is reached.
pub fn stop_limit(security: SecurityId, side: Side, quantity: Quantity, stop: Price, limit: Price) -> PlaceOrder {
    place_order(security, side, quantity, OrderKind::StopLimit { limit, stop })
}

fn place_order(security: SecurityId, side: Side, quantity: Quantity, kind: OrderKind) -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security,
        account: None,
        strategy: None,
        exchange: None,
        side,
        quantity,
        kind,
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: OrderProperties::default(),
        pass_through: None,
    }
}

/// A refused command, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRejection {
    /// The command.
    pub command: Command,
    /// Stable, kebab-case; the same codes as at every other interface.
    pub code: Text,
    /// For people, with the numbers behind it.
    pub reason: Text,
}
