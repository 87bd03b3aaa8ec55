//! Watch over the view of the audit while a member follows: one that failed is completed from the journal, so that the member may lead. A new
//! leader that had to do it would be silent meanwhile.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use access::AuditView;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use storage::JournalLedger;
use tracing::{info, warn};

use super::audit_view;

/// Between two looks, and between two attempts.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Ends, after what it has begun, when it is dropped.
pub(crate) struct AuditWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl AuditWatch {
    pub(crate) fn start(folder: PathBuf, view: Arc<AuditView>, ledger: Arc<JournalLedger>) -> io::Result<Self> {
        let (stop, stopped) = bounded::<()>(0);
        let watch = move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                look(&folder, &view, &ledger);
            }
        };
        let thread = std::thread::Builder::new().name("audit-watch".into()).spawn(watch)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for AuditWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        // One that died has told why.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn look(folder: &Path, view: &Arc<AuditView>, ledger: &JournalLedger) {
    if !view.has_failed() {
        return;
    }
    match audit_view::complete(folder, view, ledger) {
        Ok(()) => info!("the view of the audit is complete again"),
        Err(error) => {
            warn!(%error, "the view of the audit can't be completed; this member does not lead before it is: look at its disk");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use storage::journal;

    use super::*;

    #[test]
    fn a_view_that_failed_follows_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(journal::FOLDER)).unwrap();
        let view = Arc::new(AuditView::open(folder.path()).unwrap());
        let ledger = JournalLedger::new(bus::inbox::inbox().0);
        let (sender, records) = channel();
        view.follow(records).unwrap();
        look(folder.path(), &view, &ledger);
        assert!(!view.has_failed());
        drop(sender);
        while !view.has_failed() {
            std::thread::yield_now();
        }
        look(folder.path(), &view, &ledger);
        assert!(!view.has_failed());
    }
}
