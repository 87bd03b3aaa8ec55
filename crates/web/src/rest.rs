//! What callers want, by noun. A handler reads the request, asks or tells the bus, and hands the answer to `wire`.

/// Accounts.
pub(crate) mod account;
/// Exchanges.
pub(crate) mod exchange;
/// Securities and their families.
pub(crate) mod security;
/// Strategies, with the phase of their life.
pub(crate) mod strategy;

/// Orders: to see them, to place, change and cancel them.
pub(crate) mod order;
/// What strategies are worth, and their cash.
pub(crate) mod portfolio;
/// Positions: to see them, to reduce and to close them.
pub(crate) mod position;
/// The risk gate: dry runs, trading states, the kill switch, limits.
pub(crate) mod risk;

/// Whether the server is alive and ready.
pub(crate) mod health;
/// The running server: its parameters, its end.
pub(crate) mod runtime;
