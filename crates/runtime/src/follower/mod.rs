//! A follower's side of the runtime: an engine that applies what the log proves, and the loop that lets it answer meanwhile.

pub(crate) mod price_demand;
pub(crate) mod follower_engine;
pub(crate) mod follower_loop;
