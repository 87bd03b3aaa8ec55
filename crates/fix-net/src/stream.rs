//! Streams: TCP with socket options, wrapped in TLS by the caller where wanted.

use crate::limits::{KEEPALIVE_AFTER, KEEPALIVE_INTERVAL, KEEPALIVE_PROBES_MAX};
use socket2::{SockRef, TcpKeepalive};
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

pub(crate) async fn configure_stream(
    socket: TcpStream,
    secure: Option<&TlsWrapper>,
    host: Option<&str>,
) -> io::Result<Box<dyn SessionStream>> {
    set_socket_options(&socket)?;
    match secure {
        Some(secure) => secure(socket, host).await,
        None => Ok(Box::new(socket)),
    }
}

/// An order is small and must not be delayed, so Nagle's algorithm is off; and a lost peer is detected, also without
/// heartbeats.
fn set_socket_options(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let socket = SockRef::from(socket);
    let probes = TcpKeepalive::new()
        .with_time(KEEPALIVE_AFTER)
        .with_interval(KEEPALIVE_INTERVAL)
        .with_retries(KEEPALIVE_PROBES_MAX);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(crate::limits::TCP_UNACKNOWLEDGED_MAX))?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::limits::TCP_UNACKNOWLEDGED_MAX;

    #[tokio::test]
    async fn a_peer_that_is_gone_is_noticed_without_heart_beats() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        set_socket_options(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        let probes = (socket.tcp_keepalive_time(), socket.tcp_keepalive_interval(), socket.tcp_keepalive_retries());
        assert_eq!(
            (probes.0.unwrap(), probes.1.unwrap(), probes.2.unwrap()),
            (KEEPALIVE_AFTER, KEEPALIVE_INTERVAL, KEEPALIVE_PROBES_MAX)
        );
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(TCP_UNACKNOWLEDGED_MAX));
    }
}
