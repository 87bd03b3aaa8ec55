//! Connections from a queue in place of a port, by the same rules.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "stories on sockets use more of it")]
mod harness;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use fix::EchoApplication;
use fix_net::{CallerStream, LogonAuthenticator, StreamAcceptor};
use harness::{FixHarness, TestClient, acceptor, parsed};
use tokio::io::duplex;
use tokio::sync::{mpsc, watch};

const BUFFER_BYTES: usize = 1 << 16;
const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 8));

/// A session that takes its connections from a queue.
struct QueuedConnections {
    harness: FixHarness,
    streams: mpsc::Sender<CallerStream>,
    stop: watch::Sender<bool>,
}

impl QueuedConnections {
    fn new() -> Self {
        let settings = format!("{}AllowedRemoteAddresses={ALLOWED}\n", acceptor("DESK"));
        let harness = FixHarness::calling(settings.clone(), EchoApplication::default());
        let (streams, waiting) = mpsc::channel(4);
        // The application decides about every Logon.
        let authenticator: LogonAuthenticator = Arc::new(|_, _, _| Box::pin(async { None }));
        let acceptor = StreamAcceptor::new(waiting, [(parsed(&settings), harness.handle().clone())], authenticator);
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(acceptor.run(stopping));
        Self { harness, streams, stop }
    }

    async fn connect(&self, caller: IpAddr) -> TestClient {
        let (ours, theirs) = duplex(BUFFER_BYTES);
        self.streams.send((Box::new(theirs), caller)).await.unwrap();
        TestClient::over(Box::new(ours), &self.harness, "DESK")
    }
}

#[tokio::test]
async fn a_client_logs_on_over_a_stream_and_is_answered() {
    let port = QueuedConnections::new();
    let mut client = port.connect(ALLOWED).await;
    client.send_line("35=A|34=1|98=0|108=30").await;
    assert!(client.receive().await.unwrap().contains("|35=A|34=1|"));
    client.send_line("35=1|34=2|112=ALIVE").await;
    assert!(client.receive().await.unwrap().contains("|112=ALIVE|"));
    port.harness.stop().await;
}

#[tokio::test]
async fn a_stream_from_an_address_that_no_session_allows_is_closed() {
    let port = QueuedConnections::new();
    assert_eq!(port.connect(OTHER).await.receive().await, None);
}

#[tokio::test]
async fn after_a_stop_no_stream_is_accepted() {
    let port = QueuedConnections::new();
    port.stop.send_replace(true);
    port.streams.closed().await;
    assert!(port.streams.is_closed());
}
