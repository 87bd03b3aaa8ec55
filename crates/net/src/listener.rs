//! Accepting connections.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// Pause after a failed accept, as when the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The next connection. A failure is logged, and it is tried again after a pause.
pub async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "accept failed; retrying in 100 ms");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
