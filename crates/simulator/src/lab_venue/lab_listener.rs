//! The listening socket of the lab: the FIX adapter gets its end of a connection at once, and the simulated network takes the other end
//! here.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix_net::{SessionStream, StreamDialer};

use crate::network::NetworkEnd;

#[derive(Clone, Default)]
pub(crate) struct LabListener(Arc<Mutex<ListenerState>>);

#[derive(Default)]
struct ListenerState {
    /// The newest connection that was not accepted yet; the one before was given up by its caller.
    waiting: Option<NetworkEnd>,
    /// The venue is not there.
    is_down: bool,
}

impl LabListener {
    pub(crate) fn dialer(&self) -> StreamDialer {
        let listener = self.clone();
        Arc::new(move |_, _| Box::pin(std::future::ready(listener.connect())))
    }

    fn connect(&self) -> io::Result<Box<dyn SessionStream>> {
        let mut state = self.lock();
        if state.is_down {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let end = NetworkEnd::default();
        let stream = end.platform_end();
        state.waiting = Some(end);
        Ok(Box::new(stream))
    }

    pub(crate) fn accept(&self) -> Option<NetworkEnd> {
        self.lock().waiting.take()
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        let mut state = self.lock();
        state.is_down = is_down;
        state.waiting = None;
    }

    fn lock(&self) -> MutexGuard<'_, ListenerState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
