//! Durability events: how the owner of a journal learns what counts.

use crossbeam_channel::{Receiver, Sender, TrySendError};

/// Durability event of the writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurabilityEvent {
    /// Everything up to and with this sequence is durable.
    Advanced { to: u64 },
    /// Nothing more will become durable. Always the last event.
    Failed { error: String },
}

/// A channel for the newest event: an unread older one is replaced, so a slow reader costs nothing.
#[derive(Clone)]
pub(crate) struct DurabilityNotifier {
    pub(crate) sender: Sender<DurabilityEvent>,
    pub(crate) unread: Receiver<DurabilityEvent>,
}

impl DurabilityNotifier {
    pub(crate) fn notify(&self, news: DurabilityEvent) {
        let mut news = news;
        while let Err(TrySendError::Full(again)) = self.sender.try_send(news) {
            let _ = self.unread.try_recv();
            news = again;
        }
    }
}
