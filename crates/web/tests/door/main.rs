//! HTTP server tests: real sockets on one side, a test engine behind the bus on the other.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod desk;
mod people;
mod program;

mod reads;

mod securities;

mod orders;

mod bookings;

mod prices;

mod past;

mod house;

mod operations;

mod admission;
mod people_at_the_door;
mod settings;

mod unwelcome;

mod description;

mod others;

mod screen;
