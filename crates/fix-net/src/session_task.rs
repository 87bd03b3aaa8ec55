//! A session over all its connections: an acceptor's waits for callers, an initiator's calls.

use crate::clock::{now, until};
use crate::connection::{converse, serve};
use crate::durable::Durable;
use crate::limits::HANDSHAKE_SECONDS;
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
    mut shutdown: watch::Receiver<bool>,
) {
    let settings = conversation.session().settings().clone();
    let mut pause = Duration::ZERO;
    loop {
        let line = dial(settings.clone(), secure.clone(), pause);
        let Some(call) = next_call(&mut conversation, &mut mailbox, line, &mut shutdown).await else { return };
        conversation.application_mut().connected(call.peer);
        conversation.connect(now());
        if let Some(introduction) = call.introduction {
            conversation.introduce(introduction);
        }
        conversation.buffer().extend_from_slice(&call.bytes);
        conversation.pump(now());
        let reason = converse(&mut conversation, call.stream, &mut mailbox, &mut shutdown).await;
        drop(call.chair);
        tracing::info!(session = %settings.id, %reason, "disconnected");
        pause = reconnect_interval(&settings);
    }
}

/// The next connection; none when the program stops.
async fn next_call<S: Durable, A: Application>(
    conversation: &mut Conversation<S, A>,
    mailbox: &mut Mailbox,
    dialled: impl Future<Output = Box<dyn Stream>>,
    shutdown: &mut watch::Receiver<bool>,
) -> Option<Call> {
    let mut dialled = pin!(dialled);
    loop {
        let idle = until(conversation.session().deadline()).max(SHORTEST_SLEEP);
        tokio::select! {
            biased;
            _ = shutdown.wait_for(|stop| *stop) => return None,
            request = mailbox.requests.recv() => match request? {
                Request::Connected(call) => return Some(call),
                other => serve(conversation, other),
            },
            stream = &mut dialled => return Some(Call { stream, peer: None, bytes: Vec::new(), introduction: None, chair: None }),
            () = sleep(idle) => conversation.tick(now()),
        }
    }
}

/// Calls until somebody answers. An acceptor never calls, and so waits for ever.
async fn dial(settings: Arc<SessionSettings>, secure: Option<Secure>, mut pause: Duration) -> Box<dyn Stream> {
    let Role::Initiator { host, port, .. } = &settings.role else { return std::future::pending().await };
    loop {
        sleep(pause).await;
        while settings.schedule.period(now()).is_none() {
            sleep(until(settings.schedule.next_change(now()))).await;
        }
        let call = async {
            let socket = TcpStream::connect((host.as_str(), *port)).await?;
            prepare(socket, secure.as_ref(), Some(host)).await
        };
        match timeout(Duration::from_secs(HANDSHAKE_SECONDS), call).await {
            Ok(Ok(stream)) => return stream,
            Ok(Err(error)) => tracing::info!(session = %settings.id, %error, "could not connect"),
            Err(_) => tracing::info!(session = %settings.id, "nobody answered in time"),
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
