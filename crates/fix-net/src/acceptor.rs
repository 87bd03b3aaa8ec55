//! Acceptor: reads the first message of a connection, finds its session, authenticates the Logon and hands the
//! connection over; otherwise the socket is closed without an answer.

use crate::limits::{
    AUTHENTICATION_SECONDS, HANDSHAKE_SECONDS, READ_BYTES, UNAUTHENTICATED_BYTES_MAX, UNAUTHENTICATED_CONNECTIONS_MAX,
    UNAUTHENTICATED_PER_ADDRESS_MAX,
};
use crate::session_directory::{SessionDirectory, SessionEntry};
use crate::session_queue::{IncomingConnection, SessionHandle};
use crate::stream::{SessionStream, TlsWrapper, configure_stream};
use fix::{DisconnectReason, FixDecoder, FixMessage, Framer, PreparedDecision, SessionId, SessionSettings, tag};
use net::{ConnectionLimiter, ConnectionLimits, ConnectionPermit};
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::yield_now;
use tokio::time::timeout;

/// Authenticates a connection by its first message. Meanwhile the connection does not take the session's slot, so an
/// unauthenticated peer cannot lock out the client.
pub type LogonAuthenticator = Arc<dyn Fn(&SessionId, IpAddr, &FixMessage<'_>) -> AuthFuture + Send + Sync>;

/// The pending decision; `None` for a session that the authenticator does not know.
pub type AuthFuture = Pin<Box<dyn Future<Output = Option<PreparedDecision>> + Send>>;

/// A connection from elsewhere than a port, and the address of its caller.
pub type CallerStream = (Box<dyn SessionStream>, IpAddr);

/// Accepts connections from a queue, by the rules of the port: for a network of the caller's own, such as a simulated one.
pub struct StreamAcceptor {
    streams: mpsc::Receiver<CallerStream>,
    admission: Admission,
}

impl StreamAcceptor {
    pub fn new(
        streams: mpsc::Receiver<CallerStream>,
        sessions: impl IntoIterator<Item = (Arc<SessionSettings>, SessionHandle)>,
        authenticator: LogonAuthenticator,
    ) -> Self {
        Self::for_directory(streams, sessions.into_iter().collect(), authenticator)
    }

    /// For sessions that come and go.
    pub fn for_directory(
        streams: mpsc::Receiver<CallerStream>,
        directory: SessionDirectory,
        authenticator: LogonAuthenticator,
    ) -> Self {
        Self { streams, admission: Admission { directory, authenticator: Some(authenticator) } }
    }

    /// Until `shutdown` becomes true, or no connection can come any more.
    pub async fn run(mut self, mut shutdown: watch::Receiver<bool>) {
        let callers = ConnectionLimiter::new(unauthenticated_limits(UNAUTHENTICATED_CONNECTIONS_MAX));
        let admission = Arc::new(self.admission);
        loop {
            let next = tokio::select! {
                biased;
                _ = shutdown.wait_for(|stop| *stop) => return,
                next = self.streams.recv() => next,
            };
            let Some((stream, caller)) = next else { return };
            let admitted = admission.allows(caller).then(|| callers.acquire(Some(caller)).ok()).flatten();
            let Some(permit) = admitted else { continue };
            let admission = admission.clone();
            tokio::spawn(async move {
                let accepted = admission.accept_connection(read_opening(stream), caller, permit).await;
                log_rejection(&caller, accepted);
            });
        }
    }
}

/// Listens on one port for the sessions that share it.
pub struct Acceptor {
    listener: TcpListener,
    admission: Admission,
    secure: Option<TlsWrapper>,
    callers_max: usize,
}

/// Who is let in: a caller whose Logon names a session and passes the authenticator.
struct Admission {
    directory: SessionDirectory,
    authenticator: Option<LogonAuthenticator>,
}

impl Acceptor {
    pub fn new(
        listener: TcpListener,
        sessions: impl IntoIterator<Item = (Arc<SessionSettings>, SessionHandle)>,
        secure: Option<TlsWrapper>,
    ) -> Self {
        Self::for_directory(listener, sessions.into_iter().collect(), secure)
    }

    /// For sessions that come and go.
    pub fn for_directory(listener: TcpListener, directory: SessionDirectory, secure: Option<TlsWrapper>) -> Self {
        let admission = Admission { directory, authenticator: None };
        Self { listener, admission, secure, callers_max: UNAUTHENTICATED_CONNECTIONS_MAX }
    }

    /// So many callers before their Logon, where that is fewer than usual.
    #[must_use]
    pub fn with_callers_max(mut self, callers_max: usize) -> Self {
        self.callers_max = callers_max.min(UNAUTHENTICATED_CONNECTIONS_MAX);
        self
    }

    /// Connections are authenticated before they are handed over.
    #[must_use]
    pub fn with_authenticator(mut self, authenticator: LogonAuthenticator) -> Self {
        self.admission.authenticator = Some(authenticator);
        self
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts connections until `shutdown` becomes true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let callers = ConnectionLimiter::new(unauthenticated_limits(self.callers_max));
        let admission = Arc::new(self.admission);
        loop {
            let (socket, caller) = tokio::select! {
                // After the stop no connection of the backlog is accepted any more.
                biased;
                _ = shutdown.wait_for(|stop| *stop) => return,
                accepted = net::accept(&self.listener) => accepted,
            };
            // A dropped socket is closed: such a connection costs nothing more.
            let admitted = admission.allows(caller.ip()).then(|| callers.acquire(Some(caller.ip())).ok()).flatten();
            let Some(permit) = admitted else { continue };
            let (admission, secure) = (admission.clone(), self.secure.clone());
            tokio::spawn(async move {
                let accepted = admission.accept_connection(read_logon(socket, secure), caller.ip(), permit).await;
                log_rejection(&caller, accepted);
            });
            // A connection that has sent bytes is read before the next one can evict it.
            yield_now().await;
        }
    }
}

impl Admission {
    /// Whether any session allows this address.
    fn allows(&self, caller: IpAddr) -> bool {
        self.directory.allows(caller.to_canonical())
    }

    /// Reads until the session is known, and hands the connection over.
    async fn accept_connection(
        &self,
        heard: impl Future<Output = Opening>,
        caller: IpAddr,
        permit: ConnectionPermit,
    ) -> Result<(), DisconnectReason> {
        let mut eviction = permit.eviction();
        let heard = tokio::select! {
            biased;
            heard = timeout(Duration::from_secs(HANDSHAKE_SECONDS), heard) => heard,
            () = eviction.wait() => return Err(DisconnectReason::Evicted),
        };
        let (stream, bytes) = heard.map_err(|_| DisconnectReason::LogonTimeout)??;
        if !permit.mark_authenticated() {
            return Err(DisconnectReason::Evicted);
        }
        let (entry, introduction) = self.authenticate_logon(caller.to_canonical(), &bytes).await?;
        let call =
            IncomingConnection { stream, peer: Some(caller.to_canonical()), bytes, decision: introduction, slot: None };
        entry.handle.connect(call).await.then_some(()).ok_or(DisconnectReason::AlreadyConnected)
    }

    /// The session of a connection, and the decision of the authenticator. A session that is connected accepts no
    /// second connection, so none is authenticated.
    async fn authenticate_logon(
        &self,
        caller: IpAddr,
        bytes: &[u8],
    ) -> Result<(SessionEntry, Option<PreparedDecision>), DisconnectReason> {
        let mut framer = Framer::new();
        framer.buffer().extend_from_slice(bytes);
        let frame = framer.next_frame().ok().flatten().ok_or(DisconnectReason::Garbled)?;
        let mut decoder = FixDecoder::new();
        let message = decoder.decode(frame).map_err(|_| DisconnectReason::Garbled)?;
        let id = session_id_of(&message).ok_or(DisconnectReason::Garbled)?;
        let entry = self.directory.get(&id).ok_or(DisconnectReason::UnknownSession)?;
        if !entry.allows(caller) {
            return Err(DisconnectReason::AddressNotAllowed);
        }
        let Some(authenticator) = &self.authenticator else { return Ok((entry, None)) };
        let deliberation = authenticator(&id, caller, &message);
        if !entry.handle.is_slot_free().await {
            return Err(DisconnectReason::AlreadyConnected);
        }
        let thought = timeout(Duration::from_secs(AUTHENTICATION_SECONDS), deliberation).await;
        Ok((entry, thought.map_err(|_| DisconnectReason::LogonTimeout)?))
    }
}

/// Of callers before their Logon: those that have sent one count as well until it is judged, and are not evicted.
fn unauthenticated_limits(all: usize) -> ConnectionLimits {
    let per_address = UNAUTHENTICATED_PER_ADDRESS_MAX;
    ConnectionLimits { all, unauthenticated: all, per_address, per_local_address: per_address }
}

fn log_rejection(peer: &dyn Display, accepted: Result<(), DisconnectReason>) {
    if let Err(reason) = accepted {
        tracing::info!(%peer, %reason, "connection rejected before Logon");
    }
}

/// A connection with its first message and all that was read with it.
type Opening = Result<(Box<dyn SessionStream>, Vec<u8>), DisconnectReason>;

async fn read_logon(socket: TcpStream, secure: Option<TlsWrapper>) -> Opening {
    let stream = configure_stream(socket, secure.as_ref(), None).await.map_err(|error| socket_error(&error))?;
    read_opening(stream).await
}

async fn read_opening(mut stream: Box<dyn SessionStream>) -> Opening {
    let bytes = first_message(&mut stream).await?;
    Ok((stream, bytes))
}

/// Reads up to the end of the first message; returns all that was read.
async fn first_message(stream: &mut Box<dyn SessionStream>) -> Result<Vec<u8>, DisconnectReason> {
    let mut bytes = Vec::with_capacity(READ_BYTES);
    // It remembers how far it has looked: a caller that sends byte by byte is not looked through again for each.
    let mut framer = Framer::new();
    loop {
        if bytes.len() >= UNAUTHENTICATED_BYTES_MAX {
            return Err(DisconnectReason::MessageTooLong);
        }
        let count = stream.read_buf(&mut bytes).await.map_err(|error| socket_error(&error))?;
        if count == 0 {
            return Err(DisconnectReason::PeerClosed);
        }
        framer.buffer().extend_from_slice(&bytes[bytes.len() - count..]);
        match framer.next_frame() {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(bytes),
            Err(_) => return Err(DisconnectReason::Garbled),
        }
    }
}

/// The session from our side: the peer's target is our sender.
fn session_id_of(message: &FixMessage<'_>) -> Option<SessionId> {
    Some(SessionId {
        begin_string: String::from_utf8(message.begin_string().to_vec()).ok()?,
        sender: message.text(tag::TARGET_COMP_ID)?.to_owned(),
        target: message.text(tag::SENDER_COMP_ID)?.to_owned(),
    })
}

fn socket_error(error: &io::Error) -> DisconnectReason {
    DisconnectReason::SocketFailed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, duplex};

    /// A caller that sends this, byte by byte, and then waits.
    async fn heard(bytes: Vec<u8>) -> Result<Vec<u8>, DisconnectReason> {
        let (mut caller, stream) = duplex(1);
        let calling = tokio::spawn(async move {
            // A rejected connection need not be read to its end.
            let _ = caller.write_all(&bytes).await;
            std::future::pending::<()>().await;
        });
        let mut stream: Box<dyn SessionStream> = Box::new(stream);
        let heard = first_message(&mut stream).await;
        calling.abort();
        heard
    }

    #[tokio::test]
    async fn a_first_message_may_come_byte_by_byte_and_ends_in_time() {
        let logon = b"8=FIX.4.4\x019=5\x0135=A\x0110=161\x01";
        assert_eq!(heard(logon.to_vec()).await, Ok(logon.to_vec()));
        let endless = [b"8=FIX.4.4\x019=99999\x0135=A\x0158=".as_slice(), &[b'x'; UNAUTHENTICATED_BYTES_MAX]].concat();
        assert_eq!(heard(endless).await, Err(DisconnectReason::MessageTooLong));
        assert_eq!(heard(b"8=FIX.4.4\x019=x\x0135=A\x01".to_vec()).await, Err(DisconnectReason::Garbled));
    }
}
