//! Generic events that clients send to a follower of a cluster: the follower forwards each to the leader, which decides about it by its own
//! users and rights, publishes it once, and answers. Every member publishes it when it has read it from the log.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use access::{AccessChannel, AccessRequest, Actor, Identity};
use bus::forwarding::{ForwardedCall, ForwardedRequest, ForwardedResponse, ForwardingError};
use bus::{CommandForwarder, JournalStatus};
use domain::{Caller, Command, CommandEnvelope, Source};
use stomp::session::Publication;
use stomp::{Destination, Headers};
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::connection::permissions::rights;
use crate::event_submission::submit;
use crate::limits::FORWARDED_EVENTS_MAX;
use crate::state::BrokerState;
use crate::translate;

/// The method of a forwarded request that is a message to a topic.
pub const FORWARDED_SEND: &str = "SEND";

/// After this the leader does not begin with it any more: as long as an HTTP request may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A client that has its receipt finds the event at the same follower, unless that is further behind.
const APPLIED_WAIT: Duration = Duration::from_secs(2);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(2);

const PUBLISHED: u16 = 200;
const UNAUTHORIZED: u16 = 401;
const FORBIDDEN: u16 = 403;
const REFUSED: u16 = 422;

/// A message as a follower sends it to the leader.
pub(crate) fn forwarded_request(
    identity: Option<&Identity>,
    peer: Option<IpAddr>,
    sent: &Publication,
) -> ForwardedRequest {
    ForwardedRequest {
        user: identity.and_then(|identity| identity.name.as_ref()).map(ToString::to_string),
        peer: peer.map(|peer| peer.to_string()),
        method: FORWARDED_SEND.to_owned(),
        path: sent.destination.to_string(),
        headers: vec![],
        body: sent.body.clone(),
    }
}

/// One after the other, so that they keep their order; or why one was not published.
pub(crate) async fn forward_all(
    forwarder: &dyn CommandForwarder,
    journal: &dyn JournalStatus,
    requests: Vec<ForwardedRequest>,
) -> Result<(), String> {
    let mut last = 0;
    for request in requests {
        let response = forwarder.forward(request, PATIENCE).await.map_err(forwarding_error)?;
        if response.status != PUBLISHED {
            return Err(String::from_utf8_lossy(&response.body).into_owned());
        }
        last = response.sequence;
    }
    let applied = async {
        while journal.durable() < last {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
    };
    // It is published, also where this follower is behind.
    timeout(APPLIED_WAIT, applied).await.unwrap_or(());
    Ok(())
}

fn forwarding_error(error: ForwardingError) -> String {
    match error {
        ForwardingError::NotTaken(reason) => {
            format!("not-leader: this server follows, and {reason}; it was not published, send it again")
        }
        ForwardingError::Unanswered => {
            "outcome-unknown: the leader gave no answer, so it is not known whether this was published".to_owned()
        }
    }
}

/// Publishes what followers forward, until none of them is there any more.
pub(crate) async fn serve(broker: Arc<BrokerState>, mut calls: Receiver<ForwardedCall>) {
    let mut running = JoinSet::new();
    while let Some(ForwardedCall { request, answer }) = calls.recv().await {
        while running.len() >= FORWARDED_EVENTS_MAX && running.join_next().await.is_some() {}
        while running.try_join_next().is_some() {}
        let broker = broker.clone();
        running.spawn(async move {
            let (status, text) = match publish(&broker, request).await {
                Ok(()) => (PUBLISHED, String::new()),
                Err(refused) => refused,
            };
            let sequence = broker.bus.journal.durable();
            // A follower that has ended asks no more.
            answer.send(ForwardedResponse { status, headers: vec![], body: text.into_bytes(), sequence }).unwrap_or(());
        });
    }
    while running.join_next().await.is_some() {}
}

/// As for a client of this server: its user, what that user may send to, the form of the event, its quota.
async fn publish(broker: &BrokerState, request: ForwardedRequest) -> Result<(), (u16, String)> {
    let refused = |text: String| (REFUSED, text);
    let destination = Destination::parse(&request.path).map_err(|error| refused(error.to_string()))?;
    let peer = request.peer.as_deref().and_then(|peer| peer.parse().ok());
    let identity = authorize(broker, (request.user.as_deref(), peer), &destination).await?;
    let sent = Publication { destination, headers: Headers::default(), body: request.body };
    let event = translate::to_domain(&sent, &broker.bus.catalogue.current()).map_err(refused)?;
    let client = broker.bus.inbox.quotas().session(identity.name.as_ref(), peer);
    let caller = Caller::new(Source::Strategy, identity.name);
    let envelope = CommandEnvelope { caller, command: Command::Publish(event) };
    submit(&broker.bus, &client, vec![envelope]).await.map_err(refused)
}

async fn authorize(
    broker: &BrokerState,
    (user, peer): (Option<&str>, Option<IpAddr>),
    destination: &Destination,
) -> Result<Identity, (u16, String)> {
    let request = AccessRequest { channel: AccessChannel::Broker, peer, action: "STOMP".into() };
    let identified = broker.access.identify_forwarded(user, &request).await;
    let identity = identified.map_err(|denied| (UNAUTHORIZED, denied.to_string()))?;
    let permissions = rights(&identity.role, &broker.client_destinations, false);
    if translate::is_generic_event(destination) && permissions.may_send(destination) {
        return Ok(identity);
    }
    let actor = Actor { user: identity.name.clone(), request };
    let detail = format!("{FORWARDED_SEND} {destination}");
    broker.access.audit_refusal(&actor, "forbidden-destination", &detail).await;
    Err((FORBIDDEN, "you may not send to this destination".to_owned()))
}
