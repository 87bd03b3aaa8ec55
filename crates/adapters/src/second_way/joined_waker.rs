//! One waker for two adapters.

use crossbeam_channel::{Receiver, Select, Sender};

/// Wakes `wake` for either of them, until `stopped` is closed.
pub(super) fn join(wakers: [Receiver<()>; 2], stopped: Receiver<()>, wake: Sender<()>) {
    std::thread::spawn(move || {
        let all = [&wakers[0], &wakers[1], &stopped];
        loop {
            let mut select = Select::new();
            for receiver in all {
                select.recv(receiver);
            }
            let ready = select.ready();
            // The stop, or an adapter that has gone.
            if all[ready].recv().is_err() {
                return;
            }
            // A full waker wakes already.
            let _ = wake.try_send(());
        }
    });
}
