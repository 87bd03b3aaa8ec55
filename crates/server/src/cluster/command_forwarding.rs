//! Commands from followers to the leader, beside the log: a follower names the epoch, the leader's process, a number and a deadline, so that
//! a command is carried out by that leader, in time, and once, or not at all.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bus::CommandForwarder;
use bus::forwarding::{ForwardedCall, ForwardedRequest, ForwardedResponse, ForwardingError, ForwardingFuture};
use domain::Timestamp;
use minicbor::{Decode, Encode};
use replication_nats::{MemberRequestError, MemberRequests, MemberService};
use storage::replication::{CandidateId, Epoch};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::cluster_state::ClusterState;
use crate::exit_failure::{Exit, ExitFailure};

/// The method of a kill by signal or file at a follower.
pub(crate) const FORWARDED_KILL: &str = "KILL";
/// The clock that deadlines are compared by.
type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Commands that wait for the leader's HTTP server; one more is refused and had no effect.
const WAITING_MAX: usize = 1_024;
/// Numbers of commands that the leader remembers, so that none is carried out twice.
const REMEMBERED_MAX: usize = 65_536;
/// The leader's own answer that it does not know comes first.
const ANSWER_GRACE: Duration = Duration::from_secs(2);
/// Between two looks whether the leader is another one.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A command between two members.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct ForwardingEnvelope {
    /// The epoch whose leader shall carry it out.
    #[n(0)]
    epoch: u64,
    /// Unix time in nanoseconds, by the follower's clock. Later than this nobody begins with it.
    #[n(1)]
    deadline: i64,
    /// The follower's process, and its number there.
    #[n(2)]
    id: RequestNumber,
    #[n(3)]
    request: ForwardedRequest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
struct RequestNumber {
    #[cbor(n(0), with = "minicbor::bytes")]
    process: [u8; 16],
    #[n(1)]
    number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
enum ForwardingReply {
    #[n(0)]
    Answered(#[n(0)] ForwardedResponse),
    /// It had no effect, for this reason.
    #[n(1)]
    Refused(#[n(0)] String),
}

/// The follower's end.
pub(crate) struct LeaderLink {
    cluster: Arc<ClusterState>,
    requests: MemberRequests,
    clock: WallClock,
    sent: AtomicU64,
}

impl CommandForwarder for LeaderLink {
    fn forward(&self, request: ForwardedRequest, patience: Duration) -> ForwardingFuture<'_> {
        Box::pin(self.forward_once(request, patience))
    }
}

impl LeaderLink {
    pub(crate) fn new(cluster: &Arc<ClusterState>, requests: &MemberRequests, clock: WallClock) -> Self {
        Self { cluster: cluster.clone(), requests: requests.clone(), clock, sent: AtomicU64::default() }
    }

    async fn forward_once(
        &self,
        request: ForwardedRequest,
        patience: Duration,
    ) -> Result<ForwardedResponse, ForwardingError> {
        let (epoch, leader) =
            self.cluster.leader().ok_or_else(|| ForwardingError::NotTaken("no member leads yet".to_owned()))?;
        let envelope = self.envelope(epoch, request, patience);
        let message = minicbor::to_vec(&envelope).map_err(|error| ForwardingError::NotTaken(error.to_string()))?;
        let name = service_name(leader);
        let answered = tokio::select! {
            answered = self.requests.send(&name, message, patience + ANSWER_GRACE) => answered,
            () = self.until_replaced(epoch) => Err(MemberRequestError::Unanswered),
        };
        let reply = answered.map_err(forwarding_error)?;
        match minicbor::decode(&reply) {
            Ok(ForwardingReply::Answered(response)) => Ok(response),
            Ok(ForwardingReply::Refused(reason)) => Err(ForwardingError::NotTaken(reason)),
            Err(_) => Err(ForwardingError::Unanswered),
        }
    }

    fn envelope(&self, epoch: Epoch, request: ForwardedRequest, patience: Duration) -> ForwardingEnvelope {
        let CandidateId(process) = self.cluster.candidate;
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let patience = i64::try_from(patience.as_nanos()).unwrap_or(i64::MAX);
        let deadline = (self.clock)().0.saturating_add(patience);
        ForwardingEnvelope { epoch: epoch.0, deadline, id: RequestNumber { process, number }, request }
    }

    /// A leader that was replaced acknowledges nothing any more. An answer that is on its way gets a moment.
    async fn until_replaced(&self, epoch: Epoch) {
        while self.cluster.leader().is_some_and(|(newest, _)| newest == epoch) {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
}

fn forwarding_error(error: MemberRequestError) -> ForwardingError {
    match error {
        MemberRequestError::NotSent { reason } => ForwardingError::NotTaken(reason),
        MemberRequestError::Unanswered => ForwardingError::Unanswered,
    }
}

/// One process serves it, so no other one gets what was meant for it.
fn service_name(CandidateId(process): CandidateId) -> String {
    format!("{:032x}", u128::from_be_bytes(process))
}

/// The leader's end: commands in the order of arrival, until it is dropped.
pub(crate) struct ForwardedCommands {
    /// Requests over HTTP.
    pub(crate) calls: Receiver<ForwardedCall>,
    /// Messages to topics, until somebody takes them.
    pub(crate) events: Option<Receiver<ForwardedCall>>,
    /// Kills by signal or file, until somebody takes them.
    pub(crate) kills: Option<Receiver<ForwardedCall>>,
    pub(crate) service: MemberService,
}

impl ForwardedCommands {
    pub(crate) fn serve(
        cluster: &ClusterState,
        requests: &MemberRequests,
        clock: WallClock,
    ) -> Result<Self, ExitFailure> {
        let ((sender, calls), (event_sender, events)) = (channel(WAITING_MAX), channel(WAITING_MAX));
        let (kill_sender, kills) = channel(WAITING_MAX);
        let epoch = cluster.view().epoch;
        let inlet = Arc::new(CommandInlet { epoch, clock, sender, event_sender, kill_sender, seen: Mutex::default() });
        let answer = move |message: Vec<u8>| {
            let inlet = inlet.clone();
            async move { inlet.answer(&message).await }
        };
        let service = requests.serve(&service_name(cluster.candidate), answer);
        let failed = |reason| ExitFailure::new(Exit::Failed, format!("can't take commands of followers: {reason}"));
        Ok(Self { calls, events: Some(events), kills: Some(kills), service: service.map_err(failed)? })
    }
}

struct CommandInlet {
    epoch: u64,
    clock: WallClock,
    sender: Sender<ForwardedCall>,
    event_sender: Sender<ForwardedCall>,
    kill_sender: Sender<ForwardedCall>,
    seen: Mutex<SeenNumbers>,
}

impl CommandInlet {
    /// None where the outcome is not known.
    async fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        let reply = match self.hand_over(message) {
            Ok(answered) => ForwardingReply::Answered(answered.await.ok()?),
            Err(reason) => ForwardingReply::Refused(reason),
        };
        minicbor::to_vec(&reply).ok()
    }

    /// Why it had no effect, else where its answer comes.
    fn hand_over(&self, message: &[u8]) -> Result<oneshot::Receiver<ForwardedResponse>, String> {
        let envelope: ForwardingEnvelope =
            minicbor::decode(message).map_err(|_| "the leader can't read what this version forwards".to_owned())?;
        if envelope.epoch != self.epoch {
            return Err(format!("epoch {} is not the leader's, which is {}", envelope.epoch, self.epoch));
        }
        if envelope.deadline < (self.clock)().0 {
            return Err("it reached the leader after its deadline, or the clocks of the members differ".to_owned());
        }
        if !self.seen.lock().unwrap_or_else(PoisonError::into_inner).is_new(envelope.id) {
            return Err("the leader has it already".to_owned());
        }
        let (answer, answered) = oneshot::channel();
        let sender = match envelope.request.method.as_str() {
            broker::FORWARDED_SEND => &self.event_sender,
            FORWARDED_KILL => &self.kill_sender,
            _ => &self.sender,
        };
        let call = ForwardedCall { request: envelope.request, answer };
        sender.try_send(call).map_err(|_| "too many forwarded commands wait at the leader".to_owned())?;
        Ok(answered)
    }
}

/// The newest numbers of forwarded commands.
#[derive(Default)]
struct SeenNumbers {
    known: HashSet<RequestNumber>,
    oldest_first: VecDeque<RequestNumber>,
}

impl SeenNumbers {
    fn is_new(&mut self, id: RequestNumber) -> bool {
        if !self.known.insert(id) {
            return false;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > REMEMBERED_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000;

    fn inlet() -> (CommandInlet, Receiver<ForwardedCall>) {
        let (inlet, [calls, ..]) = inlet_with_all();
        (inlet, calls)
    }

    /// With requests, messages to topics, and kills.
    fn inlet_with_all() -> (CommandInlet, [Receiver<ForwardedCall>; 3]) {
        let [(sender, calls), (event_sender, events), (kill_sender, kills)] = [(); 3].map(|()| channel(1));
        let clock: WallClock = Arc::new(|| Timestamp(NOW));
        let inlet = CommandInlet { epoch: 3, clock, sender, event_sender, kill_sender, seen: Mutex::default() };
        (inlet, [calls, events, kills])
    }

    fn message(epoch: u64, deadline: i64, number: u64) -> Vec<u8> {
        message_by("POST", epoch, deadline, number)
    }

    fn message_by(method: &str, epoch: u64, deadline: i64, number: u64) -> Vec<u8> {
        let request = ForwardedRequest { method: method.into(), body: b"{}".to_vec(), ..ForwardedRequest::default() };
        let id = RequestNumber { process: [7; 16], number };
        minicbor::to_vec(ForwardingEnvelope { epoch, deadline, id, request }).unwrap()
    }

    fn refusal(inlet: &CommandInlet, message: &[u8]) -> String {
        inlet.hand_over(message).unwrap_err()
    }

    #[test]
    fn a_leader_takes_a_command_of_its_epoch_once_and_in_time() {
        let (inlet, mut calls) = inlet();
        assert!(inlet.hand_over(&message(3, NOW, 1)).is_ok());
        assert_eq!(calls.try_recv().unwrap().request.body, b"{}");
        assert_eq!(refusal(&inlet, &message(3, NOW, 1)), "the leader has it already");
        assert_eq!(refusal(&inlet, &message(2, NOW, 2)), "epoch 2 is not the leader's, which is 3");
        assert!(refusal(&inlet, &message(3, NOW - 1, 2)).starts_with("it reached the leader after its deadline"));
        assert_eq!(refusal(&inlet, b"not ours"), "the leader can't read what this version forwards");
        assert!(calls.try_recv().is_err(), "nothing of that was carried out");
    }

    #[test]
    fn a_message_to_a_topic_goes_to_the_broker_and_is_taken_once() {
        let (inlet, [mut calls, mut events, _]) = inlet_with_all();
        assert!(inlet.hand_over(&message_by("SEND", 3, NOW, 1)).is_ok());
        assert_eq!(refusal(&inlet, &message_by("SEND", 3, NOW, 1)), "the leader has it already");
        assert!(events.try_recv().is_ok() && events.try_recv().is_err() && calls.try_recv().is_err());
    }

    #[test]
    fn a_kill_goes_to_the_kill_switch_and_is_taken_once() {
        let (inlet, [mut calls, mut events, mut kills]) = inlet_with_all();
        assert!(inlet.hand_over(&message_by("KILL", 3, NOW, 1)).is_ok());
        assert_eq!(refusal(&inlet, &message_by("KILL", 3, NOW, 1)), "the leader has it already");
        assert!(kills.try_recv().is_ok() && events.try_recv().is_err() && calls.try_recv().is_err());
    }

    #[test]
    fn a_leader_with_no_room_refuses_and_nothing_waits_unseen() {
        let (inlet, mut calls) = inlet();
        assert!(inlet.hand_over(&message(3, NOW, 1)).is_ok());
        assert_eq!(refusal(&inlet, &message(3, NOW, 2)), "too many forwarded commands wait at the leader");
        assert!(calls.try_recv().is_ok() && calls.try_recv().is_err());
    }

    #[test]
    fn the_numbers_that_are_remembered_are_bounded() {
        let mut seen = SeenNumbers::default();
        let id = |number| RequestNumber { process: [7; 16], number };
        (0..=REMEMBERED_MAX as u64).for_each(|number| assert!(seen.is_new(id(number))));
        assert_eq!((seen.known.len(), seen.is_new(id(1)), seen.is_new(id(0))), (REMEMBERED_MAX, false, true));
    }
}
