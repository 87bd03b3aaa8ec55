//! Scenarios against the real binary, each with its own data folder, ports and a clock that starts on a Monday noon.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod test_platform;
mod evidence;

mod rest_orders;
mod order_properties;
mod scripts_and_names;
mod statements;
mod closing;
mod http_behaviour;
mod control;
mod risk_controls;
mod log;
mod silent_connections;
mod endpoints;
mod external_orders;
mod metrics;
mod topics;
mod topics_replay;
mod topics_description;
mod fix_orders;
mod quickfix;
mod fix_venue;
mod fix_examples;
mod topics_examples;
mod venue_lab;
mod venue_lab_fix;
mod binance;
mod paper;
mod past_states;
mod planted_secret;
mod first_contact;
mod watchers;
mod strategies;
mod description;
mod generated_clients;
mod readme;
mod proof;
mod lifecycle;
mod clock;
mod restart;
mod retired_ids;
mod releases;
mod day_end;
mod expiration;
mod determinism;
mod session_replay;
mod disk;
mod damage;
mod lost;
mod backup;
mod in_doubt;
mod lines;
mod lost_reports;
mod kill;
