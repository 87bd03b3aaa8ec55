//! Messages between members beside the log, over core NATS: the leader announces entries, followers report how far their journals are.
//!
//! Both may be lost, late or repeated: a follower concludes no more from an announcement than that it is worth a look, and a report can
//! only say too little. Of several that wait for the connection, the newest is sent.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use storage::replication::LogPosition;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The end of a member that follows.
pub struct MemberLink {
    reports: NewestMessage,
    announced: Arc<AnnouncedEntry>,
}

/// The last entry that a leader announced.
#[derive(Default)]
struct AnnouncedEntry {
    state: Mutex<(LogPosition, IsNew)>,
    changed: Condvar,
}

type IsNew = bool;

/// A message of which only the newest matters. It never makes its sender wait.
#[derive(Debug)]
pub(crate) struct NewestMessage(watch::Sender<Vec<u8>>);

impl NewestMessage {
    /// For as long as the runtime is there.
    pub(crate) fn start(runtime: &Handle, client: Client, subject: String) -> Self {
        let (sender, mut newest) = watch::channel(Vec::new());
        runtime.spawn(async move {
            while newest.changed().await.is_ok() {
                let message = newest.borrow_and_update().clone();
                if let Err(error) = client.publish(subject.clone(), message.into()).await {
                    tracing::debug!(%error, subject, "a message to the other members was not sent");
                }
            }
        });
        Self(sender)
    }

    pub(crate) fn send(&self, message: Vec<u8>) {
        self.0.send_replace(message);
    }
}

pub(crate) fn announcement_subject(stream: &str) -> String {
    format!("{stream}.accepted")
}

fn report_subject(stream: &str) -> String {
    format!("{stream}.standby")
}

pub(crate) fn announcement(position: LogPosition) -> Vec<u8> {
    position.0.to_le_bytes().to_vec()
}

impl MemberLink {
    /// `on_report` gets what the other members report, and what this one does.
    pub(crate) async fn open(
        (runtime, client): (&Handle, &Client),
        stream: &str,
        on_report: impl Fn(&[u8]) + Send + 'static,
    ) -> Result<Self, String> {
        let subscribe =
            |subject: String| async move { client.subscribe(subject).await.map_err(|error| error.to_string()) };
        let (reports, announcements) =
            (subscribe(report_subject(stream)).await?, subscribe(announcement_subject(stream)).await?);
        runtime.spawn(deliver(reports, on_report));
        let announced = Arc::<AnnouncedEntry>::default();
        let heard = announced.clone();
        runtime.spawn(deliver(announcements, move |message| heard.set(message)));
        Ok(Self { reports: NewestMessage::start(runtime, client.clone(), report_subject(stream)), announced })
    }

    pub fn report(&self, report: Vec<u8>) {
        self.reports.send(report);
    }

    /// The last entry that was announced; it may be old, and it may be wrong.
    pub fn announced(&self) -> LogPosition {
        self.announced.lock().0
    }

    /// Waits for an announcement, or for this long.
    pub fn wait_for_announcement(&self, at_most: Duration) {
        let state = self.announced.lock();
        let waited = self.announced.changed.wait_timeout_while(state, at_most, |(_, is_new)| !*is_new);
        waited.unwrap_or_else(PoisonError::into_inner).0.1 = false;
    }
}

pub(crate) async fn deliver(mut messages: Subscriber, receive: impl Fn(&[u8])) {
    while let Some(message) = messages.next().await {
        receive(&message.payload);
    }
}

impl AnnouncedEntry {
    fn set(&self, message: &[u8]) {
        if let Ok(position) = message.try_into().map(u64::from_le_bytes) {
            *self.lock() = (LogPosition(position), true);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, (LogPosition, IsNew)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
