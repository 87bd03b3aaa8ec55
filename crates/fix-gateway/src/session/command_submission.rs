//! Command submission: a command waits while a limit is reached, and nothing more is read from its client meanwhile; a
//! received message is never dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bus::{InboxError, QuotaClient};
use domain::CommandEnvelope;
use fix::GatewaySettings;
use tokio::time::sleep;

use crate::limits::BUSY_PAUSE_MILLISECONDS;
use crate::session::GatewayContext;
use crate::store::{PendingSubmission, SessionStore};
use crate::translate::MessageReject;

pub(crate) struct CommandSubmission {
    pub(crate) context: Arc<GatewayContext>,
    pub(crate) store: SessionStore,
    pub(crate) quota: Arc<QuotaClient>,
    pub(crate) envelope: CommandEnvelope,
}

/// Whether a command of a session has no room yet: until it is handed over nothing more is taken from the client, and its
/// orders are not all in the engine.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<AtomicBool>);

impl Waits {
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What became of a try.
pub(crate) enum SubmissionResult {
    Submitted,
    /// A limit is reached.
    Blocked(Box<CommandSubmission>),
    EngineStopped,
}

impl CommandSubmission {
    pub(crate) fn try_submit(self) -> SubmissionResult {
        let command = &self.envelope.command;
        let Ok(allowance) = self.quota.try_acquire(command) else { return SubmissionResult::Blocked(Box::new(self)) };
        let place = match self.context.bus.inbox.try_reserve(command) {
            Ok(place) => place,
            Err(InboxError::Busy) => return SubmissionResult::Blocked(Box::new(self)),
            Err(InboxError::Stopped) => return SubmissionResult::EngineStopped,
        };
        let Self { context: house, store: pen, quota: client, envelope } = self;
        let mut handing = Some(PendingSubmission { lane_place: place, envelope, allowance });
        match (pen.submit_held(&house.bus.inbox, &mut handing), handing) {
            (Ok(()), _) => SubmissionResult::Submitted,
            (Err(InboxError::Busy), Some(PendingSubmission { envelope, .. })) => {
                SubmissionResult::Blocked(Box::new(Self { context: house, store: pen, quota: client, envelope }))
            }
            (Err(_), _) => SubmissionResult::EngineStopped,
        }
    }

    /// Waits as long as it takes; only a stopped engine refuses.
    pub(crate) async fn submit_when_free(self) -> Result<(), InboxError> {
        let Self { context: house, store: pen, quota: client, envelope } = self;
        let inbox = &house.bus.inbox;
        let allowance = client.acquire(&envelope.command).await;
        let place = inbox.reserve(&envelope.command).await?;
        let mut handing = Some(PendingSubmission { lane_place: place, envelope, allowance });
        while let Err(InboxError::Busy) = pen.submit_held(inbox, &mut handing) {
            sleep(Duration::from_millis(BUSY_PAUSE_MILLISECONDS)).await;
        }
        if handing.is_some() { Err(InboxError::Stopped) } else { Ok(()) }
    }
}

pub(super) fn engine_unavailable(closed: &InboxError) -> MessageReject {
    match closed {
        InboxError::Busy => MessageReject::other("busy", "the platform has too much to do, try again"),
        InboxError::Stopped => MessageReject::other("stopped", "the platform is stopping"),
    }
}

pub(super) fn order_rate_exceeded(rules: &GatewaySettings) -> MessageReject {
    let most = rules.max_orders_per_second.unwrap_or_default();
    MessageReject::other("too-many-orders", &format!("more than {most} orders a second"))
}

pub(super) fn cancel_rate_exceeded(rules: &GatewaySettings) -> MessageReject {
    let most = rules.max_cancels_per_second.unwrap_or_default();
    MessageReject::other("too-many-cancels", &format!("more than {most} cancels a second"))
}

/// Nothing new is begun on a disk that does not answer; cancels are.
pub(super) fn journal_stalled() -> MessageReject {
    MessageReject::other("journal-stalled", "the journal's disk does not answer; this had no effect")
}
