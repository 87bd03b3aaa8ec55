//! HTTP connections, plain or secured, and where they come from.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::listener::tls::HANDSHAKE_MAX;

/// Connections that are secured and wait to be served; further ones wait in their handshake.
const SECURED_MAX: usize = 64;
/// After a failed accept, as when no file is left to open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The address of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) SocketAddr);

impl Connected<IncomingStream<'_, TcpListener>> for PeerAddress {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for PeerAddress {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// Secures connections side by side: a client that takes its time for the handshake keeps no other waiting.
pub(crate) struct TlsListener {
    secured: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// To be called within the runtime.
    pub(crate) fn new(listener: TcpListener, address: SocketAddr, acceptor: TlsAcceptor) -> Self {
        let (sender, secured) = mpsc::channel(SECURED_MAX);
        tokio::spawn(async move {
            loop {
                let Ok((socket, peer)) = listener.accept().await else {
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                };
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, acceptor.accept(socket)).await {
                        // The face may have ended.
                        let _ = sender.send((stream, peer)).await;
                    }
                });
            }
        });
        Self { secured, address }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.secured.recv().await {
            Some(secured) => secured,
            // Its task runs as long as the runtime.
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
