//! Instructions to a venue. An instruction leaves only after the input that caused it is durable.

use std::sync::Arc;

use crate::ids::{AccountId, SecurityId, Text};
use crate::order::{Order, OrderTerms};

/// A message from the engine to an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Sent after the subscriptions of an adapter that attached: it may now connect to its venue.
    LogOn,
    /// A new order for the venue.
    Submit(Arc<Order>),
    /// The order with its current terms, and the new ones.
    Replace(Arc<Order>, OrderTerms),
    /// The order is to be cancelled at the venue.
    Cancel(Arc<Order>),
    /// A leg of the order is to be cancelled, by the venue's id; the order itself stays.
    CancelLeg(Arc<Order>, Text),
    /// The venue is asked what it knows of the order.
    Inquire(Arc<Order>),
    /// The venue is asked what it holds for the account.
    AskStatement(AccountId),
    /// The venue is asked for all open orders.
    ListOpenOrders,
    /// The venue is asked for the fills from a cursor on, of one security where it lists them so.
    ListFills {
        /// Absent: of all securities.
        security: Option<SecurityId>,
        /// Absent: from the beginning.
        cursor: Option<Text>,
    },
    /// Prices of the security are wanted from now on.
    Subscribe(SecurityId),
    /// Prices of the security are no longer wanted.
    Unsubscribe(SecurityId),
}
