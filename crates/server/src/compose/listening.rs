//! Ports, and what is said where one can't be had.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::failure::{Exit, Failure};

pub(super) fn listen(runtime: &Runtime, wanted: SocketAddr, key: &str) -> Result<(SocketAddr, TcpListener), Failure> {
    let bound = runtime.block_on(TcpListener::bind(wanted)).and_then(|bound| Ok((bound.local_addr()?, bound)));
    bound.map_err(|error| failed(&format!("listen on {wanted} ({key})"), &error))
}

pub(super) fn failed(doing: &str, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("can't {doing}: {error}"))
}
