//! STOMP sessions: the real broker on simulated time and a simulated network, and clients that hold its topics to their promises.

mod client;
mod follower;
mod port;
mod topic_record;
mod traffic;
mod watcher;

pub(crate) use client::{StompCounts, TopicClient};
pub(crate) use port::{TopicPort, TopicPortParts};
pub(crate) use traffic::StompTraffic;
