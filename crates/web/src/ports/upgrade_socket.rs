//! Socket of an upgraded connection: lets the upgrade handler set socket options before it owns the stream. Lists and
//! pages need the system's large buffers; a WebSocket may need others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Socket options requested by an upgrade handler; an upgrade request has it among its extensions.
#[derive(Debug, Clone, Default)]
pub struct UpgradeSocket(Arc<UpgradeState>);

#[derive(Debug, Default)]
struct UpgradeState {
    configure: OnceLock<fn(&TcpStream)>,
    is_upgraded: AtomicBool,
}

impl UpgradeSocket {
    /// Applied to the socket once, before anything of the response is written.
    pub fn configure_with(&self, treatment: fn(&TcpStream)) {
        // Of two requests the first counts.
        let _ = self.0.configure.set(treatment);
    }

    pub(crate) fn configuration(&self) -> Option<fn(&TcpStream)> {
        self.0.configure.get().copied()
    }

    /// The response upgrades the connection, which the upgrade handler counts itself.
    pub(crate) fn mark_upgraded(&self) {
        self.0.is_upgraded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_upgraded(&self) -> bool {
        self.0.is_upgraded.load(Ordering::Relaxed)
    }
}

/// A stream that lies on a socket.
pub(crate) trait HasTcpStream {
    fn tcp_stream(&self) -> &TcpStream;
}

impl HasTcpStream for TcpStream {
    fn tcp_stream(&self) -> &TcpStream {
        self
    }
}

impl HasTcpStream for TlsStream<TcpStream> {
    fn tcp_stream(&self) -> &TcpStream {
        self.get_ref().0
    }
}
