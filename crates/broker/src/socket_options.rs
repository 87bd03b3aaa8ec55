//! Socket options: small send buffers, because a price in the kernel's buffer can no longer be conflated, and by
//! default the kernel buffers megabytes for a client that does not read; time-out for dead peers.

use socket2::SockRef;
use tokio::net::TcpStream;

use crate::limits::SEND_BUFFER_BYTES;

/// Makes a socket send small messages at once, buffer little, and detect a dead peer. A failure costs only speed, and
/// older prices for a slow reader.
pub fn configure_socket(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_send_buffer_size(SEND_BUFFER_BYTES);
    #[cfg(target_os = "linux")]
    {
        let _ = socket.set_tcp_notsent_lowat(crate::limits::UNSENT_BYTES_MAX);
        let _ = socket.set_tcp_user_timeout(Some(crate::limits::TCP_UNACKNOWLEDGED_MAX));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::limits::{TCP_UNACKNOWLEDGED_MAX, UNSENT_BYTES_MAX};

    #[tokio::test]
    async fn a_socket_buffers_little_and_detects_a_dead_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        configure_socket(&stream);
        let socket = SockRef::from(&stream);
        assert!(stream.nodelay().unwrap());
        // The system doubles the value, for its own use.
        assert_eq!(socket.send_buffer_size().unwrap(), 2 * SEND_BUFFER_BYTES);
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT_BYTES_MAX);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(TCP_UNACKNOWLEDGED_MAX));
    }
}
