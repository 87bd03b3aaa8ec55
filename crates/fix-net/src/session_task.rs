//! Session task: one session over all its connections; an acceptor's waits for connections, an initiator's connects.

use crate::clock::Clock;
use crate::connection::{converse, serve};
use crate::durable::Durable;
use crate::limits::{HANDSHAKE_SECONDS, REST_SECONDS};
use crate::mailbox::{Call, Mailbox, Request};
use crate::stream::{Secure, Stream, prepare};
use fix::{Application, Conversation, Role, SessionSettings};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// An idle session whose clock was set back does not spin.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// Runs a session until `shutdown` becomes true; a peer that is logged on then is logged out first.
pub async fn run_session<S: Durable, A: Application>(
    mut conversation: Conversation<S, A>,
    mut mailbox: Mailbox,
    secure: Option<Secure>,
    clock: Clock,
    mut shutdown: watch::Receiver<bool>,
) {
    let settings = conversation.session().settings().clone();
    let mut pause = Duration::ZERO;
    loop {
        let line = dial(settings.clone(), secure.clone(), &clock, pause);
        let call = next_call(&mut conversation, &mut mailbox, line, &clock, &mut shutdown).await;
        let Some(call) = call else { return };
        conversation.application_mut().connected(call.peer);
        conversation.connect(clock.now());
        if let Some(introduction) = call.introduction {
            conversation.introduce(introduction);
        }
        conversation.buffer().extend_from_slice(&call.bytes);
        conversation.pump(clock.now());
        let reason = converse(&mut conversation, call.stream, &mut mailbox, &clock, &mut shutdown).await;
        drop(call.chair);
        tracing::info!(session = %settings.id, %reason, "session disconnected");
        rest(&mut conversation).await;
        pause = reconnect_interval(&settings);
    }
}

/// The next connection; none when the program stops.
async fn next_call<S: Durable, A: Application>(
    conversation: &mut Conversation<S, A>,
    mailbox: &mut Mailbox,
    dialled: impl Future<Output = Box<dyn Stream>>,
    clock: &Clock,
    shutdown: &mut watch::Receiver<bool>,
) -> Option<Call> {
    let mut dialled = pin!(dialled);
    loop {
        let idle = clock.until(conversation.session().deadline()).max(SHORTEST_SLEEP);
        tokio::select! {
            biased;
            _ = shutdown.wait_for(|stop| *stop) => return None,
            request = mailbox.requests.recv() => match request? {
                Request::Connected(call) => return Some(call),
                other => serve(conversation, other, clock.now()),
            },
            stream = &mut dialled => return Some(Call { stream, peer: None, bytes: Vec::new(), introduction: None, chair: None }),
            () = sleep(idle) => conversation.tick(clock.now()),
        }
    }
}

/// Waits until the last sequence numbers are durable. Where the store fails, the peer is only requested to resend its
/// last message.
async fn rest<S: Durable, A: Application>(conversation: &mut Conversation<S, A>) {
    let session = conversation.session().settings().id.clone();
    let resting = conversation.session_mut().store_mut().at_rest();
    match timeout(Duration::from_secs(REST_SECONDS), resting).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%session, %error, "last sequence numbers not saved; peer may have to resend"),
        Err(_) => tracing::warn!(%session, "last sequence numbers not saved in time; peer may have to resend"),
    }
}

/// Connects, with retries. An acceptor never connects, and so waits for ever.
async fn dial(
    settings: Arc<SessionSettings>,
    secure: Option<Secure>,
    clock: &Clock,
    mut pause: Duration,
) -> Box<dyn Stream> {
    let Role::Initiator { host, port, .. } = &settings.role else { return std::future::pending().await };
    loop {
        sleep(pause).await;
        while settings.schedule.period(clock.now()).is_none() {
            sleep(clock.until(settings.schedule.next_change(clock.now()))).await;
        }
        let call = async {
            let socket = TcpStream::connect((host.as_str(), *port)).await?;
            prepare(socket, secure.as_ref(), Some(host)).await
        };
        match timeout(Duration::from_secs(HANDSHAKE_SECONDS), call).await {
            Ok(Ok(stream)) => return stream,
            Ok(Err(error)) => tracing::info!(session = %settings.id, %error, "connect failed; retrying"),
            Err(_) => tracing::info!(session = %settings.id, "connect timed out; retrying"),
        }
        pause = reconnect_interval(&settings);
    }
}

fn reconnect_interval(settings: &SessionSettings) -> Duration {
    match settings.role {
        Role::Initiator { reconnect_seconds, .. } => Duration::from_secs(u64::from(reconnect_seconds)),
        Role::Acceptor { .. } => Duration::ZERO,
    }
}
