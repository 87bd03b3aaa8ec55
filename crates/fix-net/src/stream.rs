//! Sockets. Whoever composes the program may wrap each of them, with TLS for instance.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A connected socket, whatever lies between.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A handshake under way.
pub type Securing = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send>>;

/// Makes a secured stream of a socket; for an initiator the host it wanted is given too.
pub type Secure = Arc<dyn Fn(TcpStream, Option<&str>) -> Securing + Send + Sync>;

/// An order is small and must not wait for company, so Nagle's algorithm is off.
pub(crate) async fn prepare(
    socket: TcpStream,
    secure: Option<&Secure>,
    host: Option<&str>,
) -> io::Result<Box<dyn Stream>> {
    socket.set_nodelay(true)?;
    match secure {
        Some(secure) => secure(socket, host).await,
        None => Ok(Box::new(socket)),
    }
}
