//! The socket below a connection, for what the connection becomes. Lists and pages want the large buffers that the system
//! gives by itself; a WebSocket may want it otherwise, and it must not have to wait until it owns the stream, because what
//! owns it then knows no sockets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A wish about the socket of a request that asks to become something else; such a request has it among its extensions.
#[derive(Debug, Clone, Default)]
pub struct Socket(Arc<Wish>);

#[derive(Debug, Default)]
struct Wish {
    treatment: OnceLock<fn(&TcpStream)>,
    is_upgraded: AtomicBool,
}

impl Socket {
    /// Done to the socket once, before anything of the answer is written.
    pub fn treat(&self, treatment: fn(&TcpStream)) {
        // Of two wishes the first counts.
        let _ = self.0.treatment.set(treatment);
    }

    pub(crate) fn wish(&self) -> Option<fn(&TcpStream)> {
        self.0.treatment.get().copied()
    }

    /// The answer turns the connection into something else, which counts its connections itself.
    pub(crate) fn upgrade(&self) {
        self.0.is_upgraded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_upgraded(&self) -> bool {
        self.0.is_upgraded.load(Ordering::Relaxed)
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
