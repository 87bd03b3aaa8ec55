//! What goes to a venue: never before the input that caused it is durable.

use std::sync::Arc;

use crate::ids::SecurityId;
use crate::order::{Order, Terms};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Follows the subscriptions with which an adapter that appeared is greeted: now it may go to its venue.
    LogOn,
    Submit(Arc<Order>),
    /// The order with its present terms, and the new ones.
    Replace(Arc<Order>, Terms),
    Cancel(Arc<Order>),
    Subscribe(SecurityId),
    Unsubscribe(SecurityId),
}
