//! The ports of the server, and what is said where one can't be had.

pub(crate) mod web_server;
pub(crate) mod broker_server;
pub(crate) mod fix;

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::exit_failure::{Exit, ExitFailure};

pub(super) fn bind(runtime: &Runtime, wanted: SocketAddr, key: &str) -> Result<(SocketAddr, TcpListener), ExitFailure> {
    let bound = runtime.block_on(TcpListener::bind(wanted)).and_then(|bound| Ok((bound.local_addr()?, bound)));
    bound.map_err(|error| bind_failure(&format!("listen on {wanted} ({key})"), &error))
}

pub(super) fn bind_failure(doing: &str, error: &io::Error) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("can't {doing}: {error}"))
}
