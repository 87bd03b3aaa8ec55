//! Orders: taken in, changed by requests and by what venues say, kept while they are open or of today.

/// Executions that were booked, found by key.
mod executions;
/// Executions, busts and corrections: order, transaction, position and cash in one step.
pub(crate) mod fills;
/// A new order: defaults, route and the rules of its security.
pub(crate) mod intake;
/// All orders of a session at once.
pub(crate) mod mass_cancels;
/// The names that clients give.
mod names;
/// Orders by their number.
mod numbered;
/// The venue's picture against ours.
pub(crate) mod reconcile;
/// Where orders and executions are kept and found.
pub(crate) mod registry;
/// What a venue says of an order.
pub(crate) mod reports;
/// Modify, cancel, close, reduce.
pub(crate) mod requests;
/// Working orders by account, security and side.
mod resting;
/// Close and reduce, which never flip a position.
mod reducing;
/// What an order's change looks like from outside.
pub(crate) mod telling;
/// Requests without an answer.
pub(crate) mod awaited;
/// Orders that leave only when the venue has cancelled others.
pub(crate) mod waiting;
/// The two tables of legal changes.
pub(crate) mod transitions;

pub(crate) use registry::Registry;
