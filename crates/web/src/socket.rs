//! The socket below a connection, for what the connection becomes. Lists and pages want the large buffers that the system
//! gives by itself; a WebSocket may want it otherwise, and it must not have to wait until it owns the stream, because what
//! owns it then knows no sockets.

use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A wish about the socket of a request that asks to become something else; such a request has it among its extensions.
#[derive(Debug, Clone, Default)]
pub struct Socket(Arc<OnceLock<fn(&TcpStream)>>);

impl Socket {
    /// Done to the socket once, before anything of the answer is written.
    pub fn treat(&self, treatment: fn(&TcpStream)) {
        // Of two wishes the first counts.
        let _ = self.0.set(treatment);
    }

    pub(crate) fn wish(&self) -> Option<fn(&TcpStream)> {
        self.0.get().copied()
    }
}

/// A stream that lies on a socket.
pub(crate) trait OnSocket {
    fn socket(&self) -> &TcpStream;
}

impl OnSocket for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl OnSocket for TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}
