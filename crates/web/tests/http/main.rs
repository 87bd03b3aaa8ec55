//! HTTP server tests: real sockets on one side, a test engine behind the bus on the other.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod test_server;
mod test_users;
mod fake_operations;

mod reads;

mod securities;

mod orders;

mod bookings;

mod prices;

mod history;
mod value_history;

mod platform;
mod cluster_role;
mod forwarding;

mod operations;

mod authorization;
mod user_admin;
mod settings;

mod rejected_requests;

mod description;

mod mounted_services;

mod ui_files;
