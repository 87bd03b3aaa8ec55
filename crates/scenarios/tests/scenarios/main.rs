//! Stories through real ports, told to the real `rialto` binary. Each has a data folder and a port of its own, and a clock
//! that begins at a Monday noon, so that none depends on when it is told.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// A desk to tell stories about.
mod desk;
/// What a server left on disk: its journal replayed, the venues' ledgers, snapshots.
mod evidence;

/// The first door: orders, positions, cash.
mod door;
/// Positions that are closed whatever rests, and orders that must not meet.
mod closing;
/// The first door's manners: problems, origins, hosts, health.
mod manners;
/// The kill switch without a network.
mod control;
/// What the log has, and who reads it.
mod log;
/// Strangers who open connections and say nothing.
mod strangers;
/// Every endpoint, well and badly.
mod endpoints;
/// What whoever watches the server is told.
mod numbers;
/// Topics beside REST.
mod topics;
/// Subscriptions that begin in the past.
mod topics_replay;
/// The topics against their own description.
mod topics_description;
/// Orders over FIX: sessions that trade, break off, come back and are killed.
mod fix_orders;
/// Orders over FIX, by a client that is not ours.
mod quickfix;
/// The programs of `examples/fix`.
mod fix_examples;
/// The programs of `examples/stomp`.
mod topics_examples;
/// Who watches hears all of it.
mod watchers;
/// Strategies in the live server.
mod strategies;
/// Whether every answer is one that is described.
mod description;
/// Clients that programs make of the description.
mod generated_clients;
/// What the README promises.
mod readme;
/// How a server starts and ends, alone on its folder.
mod life;
/// Clocks that are set back.
mod clock;
/// What a restart keeps.
mod restart;
/// Days that end.
mod days;
/// Futures and options that expire.
mod expiration;
/// The same orders, the same picture.
mod determinism;
/// A live session, replayed.
mod again;
/// Disks that fail or are full.
mod disk;
/// Journals that are damaged or torn.
mod damage;
/// Journals that lost what was acknowledged.
mod lost;
/// Venues that did not answer before the end.
mod in_doubt;
/// kill -9 under order flow.
mod kill;
