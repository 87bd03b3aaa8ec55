//! The listening side. A caller is nobody until its first message names a session; then it is handed over, or the
//! socket is closed without a word.

use crate::limits::{HANDSHAKE_SECONDS, READ_BYTES, UNKNOWN_CALLER_BYTES_MAX, UNKNOWN_CALLERS_MAX};
use crate::mailbox::SessionHandle;
use crate::stream::{Secure, Stream, prepare};
use fix::{Decoder, DisconnectReason, Framer, Message, Role, SessionId, SessionSettings, tag};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// When the system has no more sockets for us, we ask again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Listens on one port for the sessions that share it.
pub struct Acceptor {
    listener: TcpListener,
    directory: Arc<Directory>,
    secure: Option<Secure>,
}

/// Who may call here.
#[derive(Default)]
struct Directory {
    sessions: BTreeMap<SessionId, Entry>,
}

struct Entry {
    handle: SessionHandle,
    allowed_addresses: Vec<IpAddr>,
}

impl Acceptor {
    pub fn new(
        listener: TcpListener,
        sessions: impl IntoIterator<Item = (Arc<SessionSettings>, SessionHandle)>,
        secure: Option<Secure>,
    ) -> Self {
        let mut directory = Directory::default();
        for (settings, handle) in sessions {
            if let Role::Acceptor { allowed_addresses, .. } = &settings.role {
                let entry = Entry { handle, allowed_addresses: allowed_addresses.clone() };
                directory.sessions.insert(settings.id.clone(), entry);
            }
        }
        Self { listener, directory: Arc::new(directory), secure }
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes calls until `shutdown` becomes true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let places = Arc::new(Semaphore::new(UNKNOWN_CALLERS_MAX));
        loop {
            let place = places.clone().acquire_owned().await;
            let accepted = tokio::select! {
                _ = shutdown.wait_for(|stop| *stop) => return,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, caller)) => {
                    let (directory, secure) = (self.directory.clone(), self.secure.clone());
                    tokio::spawn(async move {
                        let _place = place;
                        if let Err(reason) = directory.introduce(socket, caller.ip(), secure).await {
                            tracing::info!(%caller, %reason, "call refused");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl Directory {
    /// Listens to a caller until it has named its session, and hands it over.
    async fn introduce(
        &self,
        socket: TcpStream,
        caller: IpAddr,
        secure: Option<Secure>,
    ) -> Result<(), DisconnectReason> {
        let hearing = async {
            let mut stream = prepare(socket, secure.as_ref(), None).await.map_err(|error| failed(&error))?;
            let (id, bytes) = first_message(&mut stream).await?;
            Ok((stream, id, bytes))
        };
        let heard = timeout(Duration::from_secs(HANDSHAKE_SECONDS), hearing).await;
        let (stream, id, bytes) = heard.map_err(|_| DisconnectReason::LogonTimeout)??;
        let entry = self.sessions.get(&id).ok_or(DisconnectReason::UnknownSession)?;
        if !entry.allowed_addresses.is_empty() && !entry.allowed_addresses.contains(&caller.to_canonical()) {
            return Err(DisconnectReason::AddressNotAllowed);
        }
        let welcome = entry.handle.connect(stream, caller.to_canonical(), bytes).await;
        welcome.then_some(()).ok_or(DisconnectReason::AlreadyConnected)
    }
}

/// Reads up to the end of the first message; returns whom it is for and all that was read.
async fn first_message(stream: &mut Box<dyn Stream>) -> Result<(SessionId, Vec<u8>), DisconnectReason> {
    let mut bytes = Vec::with_capacity(READ_BYTES);
    loop {
        if bytes.len() >= UNKNOWN_CALLER_BYTES_MAX {
            return Err(DisconnectReason::MessageTooLong);
        }
        if stream.read_buf(&mut bytes).await.map_err(|error| failed(&error))? == 0 {
            return Err(DisconnectReason::PeerClosed);
        }
        let mut framer = Framer::new();
        framer.buffer().extend_from_slice(&bytes);
        match framer.next_frame() {
            Ok(None) => {}
            Ok(Some(frame)) => {
                let id = Decoder::new().decode(frame).ok().and_then(|message| addressee(&message));
                return Ok((id.ok_or(DisconnectReason::Garbled)?, bytes));
            }
            Err(_) => return Err(DisconnectReason::Garbled),
        }
    }
}

/// The session as we name it: the caller's target is our sender.
fn addressee(message: &Message<'_>) -> Option<SessionId> {
    Some(SessionId {
        begin_string: String::from_utf8(message.begin_string().to_vec()).ok()?,
        sender: message.text(tag::TARGET_COMP_ID)?.to_owned(),
        target: message.text(tag::SENDER_COMP_ID)?.to_owned(),
    })
}

fn failed(error: &io::Error) -> DisconnectReason {
    DisconnectReason::SocketFailed(error.to_string())
}
