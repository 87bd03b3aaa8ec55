//! Session task: one session over all its connections; an acceptor's waits for connections, an initiator's connects.

use crate::clock::SessionClock;
use crate::connection::{handle_request, run_connection};
use crate::durable_store::DurableStore;
use crate::limits::{FINAL_FLUSH_SECONDS, HANDSHAKE_SECONDS};
use crate::session_queue::{IncomingConnection, SessionQueue, SessionRequest};
use crate::stream::{SessionStream, StreamDialer, TlsWrapper, tcp_dialer};
use fix::{Application, ConnectionType, SessionEngine, SessionSettings};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// An idle session whose clock was set back does not spin.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// Runs a session until `shutdown` becomes true; a peer that is logged on then is logged out first.
pub async fn run_session<S: DurableStore, A: Application>(
    conversation: SessionEngine<S, A>,
    queue: SessionQueue,
    secure: Option<TlsWrapper>,
    clock: SessionClock,
    shutdown: watch::Receiver<bool>,
) {
    run_session_over(conversation, queue, tcp_dialer(secure), clock, shutdown).await;
}

/// As [`run_session`]; an initiator reaches its peer by that dialer, such as one of a simulated network.
pub async fn run_session_over<S: DurableStore, A: Application>(
    mut conversation: SessionEngine<S, A>,
    mut queue: SessionQueue,
    dialer: StreamDialer,
    clock: SessionClock,
    mut shutdown: watch::Receiver<bool>,
) {
    let settings = conversation.session().settings().clone();
    let mut pause = Duration::ZERO;
    loop {
        let line = connect_to_peer(settings.clone(), dialer.clone(), &clock, pause);
        let call = next_connection(&mut conversation, &mut queue, line, &clock, &mut shutdown).await;
        let Some(call) = call else { return drain(&mut conversation, &mut queue, &clock) };
        conversation.application_mut().on_connected(call.peer);
        let now = clock.tell(&mut conversation);
        conversation.connect(now);
        if let Some(introduction) = call.decision {
            conversation.set_logon_decision(introduction);
        }
        conversation.buffer().extend_from_slice(&call.bytes);
        let now = clock.tell(&mut conversation);
        conversation.process_input(now);
        let reason = run_connection(&mut conversation, call.stream, &mut queue, &clock, &mut shutdown).await;
        drop(call.slot);
        tracing::info!(session = %settings.id, %reason, "session disconnected");
        final_flush(&mut conversation).await;
        pause = reconnect_interval(&settings);
    }
}

/// What waits when the program stops is answered; messages did not leave, and the application is told so.
fn drain<S: DurableStore, A: Application>(
    conversation: &mut SessionEngine<S, A>,
    queue: &mut SessionQueue,
    clock: &SessionClock,
) {
    while let Ok(request) = queue.requests.try_recv() {
        handle_request(conversation, request, clock.now());
    }
}

/// The next connection; none when the program stops.
async fn next_connection<S: DurableStore, A: Application>(
    conversation: &mut SessionEngine<S, A>,
    queue: &mut SessionQueue,
    dialled: impl Future<Output = Box<dyn SessionStream>>,
    clock: &SessionClock,
    shutdown: &mut watch::Receiver<bool>,
) -> Option<IncomingConnection> {
    let mut dialled = pin!(dialled);
    loop {
        let idle = clock.until(conversation.session().deadline()).max(SHORTEST_SLEEP);
        tokio::select! {
            biased;
            _ = shutdown.wait_for(|stop| *stop) => return None,
            request = queue.requests.recv() => match request? {
                SessionRequest::Connected(call) => return Some(call),
                other => handle_request(conversation, other, clock.now()),
            },
            stream = &mut dialled => return Some(IncomingConnection { stream, peer: None, bytes: Vec::new(), decision: None, slot: None }),
            () = sleep(idle) => conversation.tick(clock.now()),
        }
    }
}

/// Waits until the last sequence numbers are durable. Where the store fails, the peer is only requested to resend its
/// last message.
async fn final_flush<S: DurableStore, A: Application>(conversation: &mut SessionEngine<S, A>) {
    let session = conversation.session().settings().id.clone();
    let resting = conversation.session_mut().store_mut().flush_on_disconnect();
    match timeout(Duration::from_secs(FINAL_FLUSH_SECONDS), resting).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%session, %error, "last sequence numbers not saved; peer may have to resend"),
        Err(_) => tracing::warn!(%session, "last sequence numbers not saved in time; peer may have to resend"),
    }
}

/// Connects, with retries. An acceptor never connects, and so waits for ever.
async fn connect_to_peer(
    settings: Arc<SessionSettings>,
    dialer: StreamDialer,
    clock: &SessionClock,
    mut pause: Duration,
) -> Box<dyn SessionStream> {
    let ConnectionType::Initiator { host, port, .. } = &settings.role else { return std::future::pending().await };
    loop {
        sleep(pause).await;
        while settings.schedule.period(clock.now()).is_none() {
            sleep(clock.until(settings.schedule.next_change(clock.now()))).await;
        }
        match timeout(Duration::from_secs(HANDSHAKE_SECONDS), dialer(host, *port)).await {
            Ok(Ok(stream)) => return stream,
            Ok(Err(error)) => tracing::info!(session = %settings.id, %error, "connect failed; retrying"),
            Err(_) => tracing::info!(session = %settings.id, "connect timed out; retrying"),
        }
        pause = reconnect_interval(&settings);
    }
}

fn reconnect_interval(settings: &SessionSettings) -> Duration {
    match settings.role {
        ConnectionType::Initiator { reconnect_seconds, .. } => Duration::from_secs(u64::from(reconnect_seconds)),
        ConnectionType::Acceptor { .. } => Duration::ZERO,
    }
}
