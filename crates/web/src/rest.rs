//! What callers want, by noun. A handler reads the request, asks or tells the bus, and hands the answer to `wire`.

/// Accounts.
pub(crate) mod account;
/// Exchanges.
pub(crate) mod exchange;
/// Reference data, read again from its files.
pub(crate) mod reference;
/// Lists of reference data.
mod reference_list;
/// Securities and their families.
pub(crate) mod security;
/// Strategies, with the phase of their life.
pub(crate) mod strategy;

/// Orders: to see them, to place, change and cancel them.
pub(crate) mod order;
/// What strategies are worth, and their cash.
pub(crate) mod portfolio;
/// Positions: to see them, to reduce and to close them, to rebuild them.
pub(crate) mod position;
/// The risk gate: dry runs, trading states, the kill switch, limits.
pub(crate) mod risk;
/// Transactions: to record, to find, those of today.
pub(crate) mod transaction;

/// Prices as they are now.
pub(crate) mod marketdata;
/// The feeds there are, and who wants which prices.
pub(crate) mod subscription;

/// What has been, page by page.
pub(crate) mod history;
/// Which orders of the past are looked for.
mod order_search;
pub(crate) use order_search::SEARCH_TEXT_MAX;

/// What was refused, and what was done with power.
pub(crate) mod audit;
/// Logging in and out.
pub(crate) mod login;
/// What a user keeps of his own.
pub(crate) mod settings;
/// Tokens of programs.
pub(crate) mod token;
/// Users.
pub(crate) mod user;

/// The description of this interface, and a page that shows it.
pub(crate) mod docs;
/// The description of the topics, and the page that shows it.
pub(crate) mod topic_docs;

/// Where the broker is.
pub(crate) mod broker;
/// The sessions of the FIX door.
pub(crate) mod fix;
/// Whether the server is alive and ready.
pub(crate) mod health;
/// The newest lines of the server's log.
pub(crate) mod log;
/// Numbers for whoever watches the server.
pub(crate) mod metrics;
/// The running server: its parameters, its end.
pub(crate) mod runtime;
