//! Streams: TCP with socket options, wrapped in TLS by the caller where wanted.

use crate::limits::{PROBE_AFTER, PROBE_AGAIN_AFTER, PROBES_MAX};
use socket2::{SockRef, TcpKeepalive};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A connected stream, plain or secured.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A handshake in progress.
pub type Securing = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send>>;

/// Secures a socket; for an initiator with the host that it connects to.
pub type Secure = Arc<dyn Fn(TcpStream, Option<&str>) -> Securing + Send + Sync>;

pub(crate) async fn prepare(
    socket: TcpStream,
    secure: Option<&Secure>,
    host: Option<&str>,
) -> io::Result<Box<dyn Stream>> {
    treat(&socket)?;
    match secure {
        Some(secure) => secure(socket, host).await,
        None => Ok(Box::new(socket)),
    }
}

/// An order is small and must not be delayed, so Nagle's algorithm is off; and a lost peer is detected, also without
/// heartbeats.
fn treat(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let socket = SockRef::from(socket);
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_AGAIN_AFTER).with_retries(PROBES_MAX);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(crate::limits::UNCONFIRMED_MAX))?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::limits::UNCONFIRMED_MAX;

    #[tokio::test]
    async fn a_peer_that_is_gone_is_noticed_without_heart_beats() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        treat(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        let probes = (socket.tcp_keepalive_time(), socket.tcp_keepalive_interval(), socket.tcp_keepalive_retries());
        assert_eq!(
            (probes.0.unwrap(), probes.1.unwrap(), probes.2.unwrap()),
            (PROBE_AFTER, PROBE_AGAIN_AFTER, PROBES_MAX)
        );
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(UNCONFIRMED_MAX));
    }
}
