//! Relay between a client and a server that a test can cut, or whose way back it can block. Its own port stays the same
//! while servers come and go behind it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

pub(crate) struct Relay {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Where calls go; without it they are refused.
    target: Mutex<Option<SocketAddr>>,
    ends: Mutex<Vec<TcpStream>>,
    /// What the server says is lost, and kept here.
    is_deaf: AtomicBool,
    /// Resend Requests of the client are lost.
    swallows_requests: AtomicBool,
    lost: Mutex<Vec<u8>>,
}

impl Relay {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|call| shared.put_through(call)));
        Self { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Calls go to this server from now on.
    pub(crate) fn lead_to(&self, server: SocketAddr) {
        self.state.is_deaf.store(false, Ordering::SeqCst);
        *locked(&self.state.target) = Some(server);
    }

    /// From now on the client receives nothing.
    pub(crate) fn become_deaf(&self) {
        self.state.is_deaf.store(true, Ordering::SeqCst);
    }

    /// From now on no Resend Request (2) of the client gets through.
    pub(crate) fn swallow_resend_requests(&self) {
        self.state.swallows_requests.store(true, Ordering::SeqCst);
    }

    /// Whether a field such as `150=F` was among what the client did not receive.
    pub(crate) fn has_lost(&self, field: &str) -> bool {
        self.times_lost(field) > 0
    }

    /// How often it was.
    pub(crate) fn times_lost(&self, field: &str) -> usize {
        let field = format!("\x01{field}\x01");
        locked(&self.state.lost).windows(field.len()).filter(|window| *window == field.as_bytes()).count()
    }

    /// Cuts the line, and lets no call through until [`Self::lead_to`].
    pub(crate) fn cut(&self) {
        *locked(&self.state.target) = None;
        for end in locked(&self.state.ends).drain(..) {
            // The other side may have gone already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl State {
    /// A connection without a server behind it is closed.
    fn put_through(self: &Arc<Self>, client: TcpStream) {
        let target = *locked(&self.target);
        let Some(server) = target.and_then(|target| TcpStream::connect(target).ok()) else { return };
        let copies = [&client, &server].map(|end| end.try_clone().unwrap());
        locked(&self.ends).extend(copies);
        let (there, back) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let state = self.clone();
        thread::spawn(move || carry(there, server, |bytes| state.swallows(bytes)));
        let state = self.clone();
        thread::spawn(move || carry(back, client, |bytes| state.loses(bytes)));
    }

    /// QuickFIX writes each message by itself, and a Resend Request is short.
    fn swallows(&self, bytes: &[u8]) -> bool {
        let is_request = bytes.windows(6).any(|window| window == b"\x0135=2\x01");
        self.swallows_requests.load(Ordering::SeqCst) && is_request
    }

    fn loses(&self, bytes: &[u8]) -> bool {
        let is_deaf = self.is_deaf.load(Ordering::SeqCst);
        if is_deaf {
            locked(&self.lost).extend_from_slice(bytes);
        }
        is_deaf
    }
}

/// Carries bytes until one end closes; then the other is closed too.
fn carry(mut from: TcpStream, mut to: TcpStream, is_lost: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if !is_lost(&bytes[..length]) && to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    // Either may have gone already.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

fn locked<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
