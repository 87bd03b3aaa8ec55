//! Streams: TCP with socket options, wrapped in TLS by the caller where wanted.

use crate::limits::KEEPALIVE;
use net::SocketOptions;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A connected stream, plain or secured.
pub trait SessionStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> SessionStream for T {}

/// A handshake in progress.
pub type TlsHandshake = Pin<Box<dyn Future<Output = io::Result<Box<dyn SessionStream>>> + Send>>;

/// Secures a socket; for an initiator with the host that it connects to.
pub type TlsWrapper = Arc<dyn Fn(TcpStream, Option<&str>) -> TlsHandshake + Send + Sync>;

/// Connects to a host and port.
pub type StreamDialer = Arc<dyn Fn(&str, u16) -> TlsHandshake + Send + Sync>;

/// Over TCP, secured where wanted.
pub(crate) fn tcp_dialer(secure: Option<TlsWrapper>) -> StreamDialer {
    Arc::new(move |host, port| {
        let (host, secure) = (host.to_owned(), secure.clone());
        Box::pin(async move {
            let socket = TcpStream::connect((host.as_str(), port)).await?;
            configure_stream(socket, secure.as_ref(), Some(&host)).await
        })
    })
}

pub(crate) async fn configure_stream(
    socket: TcpStream,
    secure: Option<&TlsWrapper>,
    host: Option<&str>,
) -> io::Result<Box<dyn SessionStream>> {
    // A lost peer is detected also without heartbeats (108=0).
    SocketOptions { keepalive: Some(KEEPALIVE), ..SocketOptions::default() }.apply(&socket)?;
    match secure {
        Some(secure) => secure(socket, host).await,
        None => Ok(Box::new(socket)),
    }
}
