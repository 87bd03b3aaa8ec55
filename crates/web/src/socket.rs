//! Socket of an upgraded connection: lets the upgrade handler set socket options before it owns the stream. Lists and
//! pages need the system's large buffers; a WebSocket may need others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Socket options requested by an upgrade handler; an upgrade request has it among its extensions.
#[derive(Debug, Clone, Default)]
pub struct Socket(Arc<Wish>);

#[derive(Debug, Default)]
struct Wish {
    treatment: OnceLock<fn(&TcpStream)>,
    is_upgraded: AtomicBool,
}

impl Socket {
    /// Applied to the socket once, before anything of the response is written.
    pub fn treat(&self, treatment: fn(&TcpStream)) {
        // Of two requests the first counts.
        let _ = self.0.treatment.set(treatment);
    }

    pub(crate) fn wish(&self) -> Option<fn(&TcpStream)> {
        self.0.treatment.get().copied()
    }

    /// The response upgrades the connection, which the upgrade handler counts itself.
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
