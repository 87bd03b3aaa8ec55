//! Calls of the FIX adapter: it gets its end of a connection at once, and the simulated network finds the other end here.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix_net::{SessionStream, StreamDialer};

use crate::network::NetworkEnd;

#[derive(Clone, Default)]
pub(crate) struct Switchboard(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// The newest call that nobody has taken; the one before was given up by its caller.
    waiting: Option<NetworkEnd>,
    /// The venue is not there.
    is_down: bool,
}

impl Switchboard {
    pub(crate) fn dialer(&self) -> StreamDialer {
        let calls = self.clone();
        Arc::new(move |_, _| Box::pin(std::future::ready(calls.dial())))
    }

    fn dial(&self) -> io::Result<Box<dyn SessionStream>> {
        let mut calls = self.lock();
        if calls.is_down {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let end = NetworkEnd::default();
        let stream = end.platform_end();
        calls.waiting = Some(end);
        Ok(Box::new(stream))
    }

    pub(crate) fn take_call(&self) -> Option<NetworkEnd> {
        self.lock().waiting.take()
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        let mut calls = self.lock();
        calls.is_down = is_down;
        calls.waiting = None;
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
