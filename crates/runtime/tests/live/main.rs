//! Stories of the live loop and its durability gate, with real files on a disk that can hang, fail or fill up.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod back_pressure;
mod catch_up;
mod failure;
mod fixture;
mod follower;
mod prices;
mod release;
mod retired;
mod stop;
mod test_disk;
