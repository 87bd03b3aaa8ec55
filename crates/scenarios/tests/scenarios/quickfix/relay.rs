//! A line between a client and a server that a story can cut, or make deaf on the way back. Its own port stays the same
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

    /// From now on the client hears nothing.
    pub(crate) fn become_deaf(&self) {
        self.state.is_deaf.store(true, Ordering::SeqCst);
    }

    /// Whether a field such as `150=F` was among what the client did not hear.
    pub(crate) fn has_lost(&self, field: &str) -> bool {
        let field = format!("\x01{field}\x01");
        locked(&self.state.lost).windows(field.len()).any(|window| window == field.as_bytes())
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
    /// A call that nobody takes is hung up.
    fn put_through(self: &Arc<Self>, client: TcpStream) {
        let target = *locked(&self.target);
        let Some(server) = target.and_then(|target| TcpStream::connect(target).ok()) else { return };
        let copies = [&client, &server].map(|end| end.try_clone().unwrap());
        locked(&self.ends).extend(copies);
        let (there, back) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || carry(there, server, |_| false));
        let state = self.clone();
        thread::spawn(move || carry(back, client, |bytes| state.loses(bytes)));
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
