//! Accepting connections, and the socket options of accepted and outgoing ones.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::SockRef;
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

/// A peer that has not acknowledged our bytes by then is gone (Linux).
pub const TCP_UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

/// Messages are small and awaited, so Nagle's algorithm is always off, and a peer that is gone is always detected.
#[derive(Debug, Clone, Copy, Default)]
pub struct SocketOptions {
    /// Octets that the system buffers until the peer has acknowledged them.
    pub send_buffer_bytes: Option<usize>,
    /// Octets of these that are not sent: with more, the socket is not writable (Linux).
    pub unsent_bytes_max: Option<u32>,
    /// Probes of a silent peer, for protocols that allow silence.
    pub keepalive: Option<TcpKeepalive>,
}

/// TCP keep-alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpKeepalive {
    /// The first probe comes after this long without traffic.
    pub after: Duration,
    pub interval: Duration,
    /// A peer that answers none of them is gone.
    pub probes: u32,
}

impl SocketOptions {
    pub fn apply(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        if let Some(octets) = self.send_buffer_bytes {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(TcpKeepalive { after, interval, probes }) = self.keepalive {
            let probes = socket2::TcpKeepalive::new().with_time(after).with_interval(interval).with_retries(probes);
            socket.set_tcp_keepalive(&probes)?;
        }
        #[cfg(target_os = "linux")]
        self.apply_linux(&socket)?;
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn apply_linux(&self, socket: &SockRef<'_>) -> io::Result<()> {
        if let Some(octets) = self.unsent_bytes_max {
            socket.set_tcp_notsent_lowat(octets)?;
        }
        socket.set_tcp_user_timeout(Some(TCP_UNACKNOWLEDGED_MAX))
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    const KEEPALIVE: TcpKeepalive =
        TcpKeepalive { after: Duration::from_secs(30), interval: Duration::from_secs(10), probes: 3 };

    async fn accepted() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (listener.accept().await.unwrap().0, client)
    }

    #[tokio::test]
    async fn a_socket_buffers_little_and_notices_a_peer_that_is_gone() {
        let (stream, _client) = accepted().await;
        let options = SocketOptions {
            send_buffer_bytes: Some(65_536),
            unsent_bytes_max: Some(16_384),
            keepalive: Some(KEEPALIVE),
        };
        options.apply(&stream).unwrap();
        let socket = SockRef::from(&stream);
        assert!(stream.nodelay().unwrap() && socket.keepalive().unwrap());
        // The system doubles the value, for its own use.
        assert_eq!(socket.send_buffer_size().unwrap(), 2 * 65_536);
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), 16_384);
        let (after, interval, probes) =
            (socket.tcp_keepalive_time(), socket.tcp_keepalive_interval(), socket.tcp_keepalive_retries());
        let keepalive = TcpKeepalive { after: after.unwrap(), interval: interval.unwrap(), probes: probes.unwrap() };
        assert_eq!(keepalive, KEEPALIVE);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(TCP_UNACKNOWLEDGED_MAX));
    }

    #[tokio::test]
    async fn what_is_not_asked_for_stays_as_the_system_has_it() {
        let (stream, _client) = accepted().await;
        let before = SockRef::from(&stream).send_buffer_size().unwrap();
        SocketOptions::default().apply(&stream).unwrap();
        let socket = SockRef::from(&stream);
        assert!(stream.nodelay().unwrap() && !socket.keepalive().unwrap());
        assert_eq!(socket.send_buffer_size().unwrap(), before);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(TCP_UNACKNOWLEDGED_MAX));
    }
}
