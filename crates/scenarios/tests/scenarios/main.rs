//! Scenarios against the real binary, each with its own data folder, ports and a clock that starts on a Monday noon.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod desk;
mod evidence;

mod door;
mod closing;
mod manners;
mod control;
mod log;
mod strangers;
mod endpoints;
mod numbers;
mod topics;
mod topics_replay;
mod topics_description;
mod fix_orders;
mod quickfix;
mod fix_examples;
mod topics_examples;
mod watchers;
mod strategies;
mod description;
mod generated_clients;
mod readme;
mod life;
mod clock;
mod restart;
mod days;
mod expiration;
mod determinism;
mod again;
mod disk;
mod damage;
mod lost;
mod in_doubt;
mod kill;
