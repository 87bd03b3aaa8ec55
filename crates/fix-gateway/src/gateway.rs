//! Gateway: sessions, listener, and the commands of operators.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use access::Access;
use bus::operations::{FixSessionCommand, FixSessionError, FixSessionStatus};
use bus::{Bus, FixSessionAdmin, Ledger};
use domain::Timestamp;
use fix::{CancelOnDisconnect, Dictionary, FixSession, SessionEngine, SessionSettings, UtcTimestamp};
use fix_net::{
    Acceptor, CallerStream, LogonAuthenticator, SessionClock, SessionHandle, SessionQueue, SessionStream,
    StreamAcceptor, TlsWrapper, run_session, session_queue,
};
use rustls::server::ResolvesServerCert;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::limits::STOP_SECONDS;
use crate::session::{
    Absent, EventRouter, GatewayApplication, GatewayContext, LogonAttempt, LogonCredentials, MessageLog, SessionStatus,
    Waits, run,
};
use crate::settings::FixSessionFile;
use crate::store::{LedgerStore, SessionStore};
use crate::translate::ExecIds;

/// The dependencies of the gateway.
pub struct GatewayParts {
    pub bus: Bus,
    pub ledger: Arc<dyn Ledger>,
    pub access: Arc<Access>,
    /// Of the data folder; ids of reports are made with it.
    pub instance: u64,
    /// The platform's clock: heart-beats, limits and hours go by it, as everything else does.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The wall's: SendingTime (52) is by it, because clients compare it with theirs.
    pub wall: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

pub struct Gateway {
    context: Arc<GatewayContext>,
    sessions: Vec<OpenSession>,
    statuses: Arc<Vec<Arc<SessionStatus>>>,
}

/// A session whose task is not started yet.
struct OpenSession {
    status: Arc<SessionStatus>,
    dictionary: Option<Arc<Dictionary>>,
    mailbox: SessionQueue,
    log: MessageLog,
}

impl Gateway {
    /// Restores every session from its store.
    pub fn open(parts: GatewayParts, sessions: &FixSessionFile) -> Result<Self, String> {
        let GatewayParts { bus, ledger, access, instance, clock, wall } = parts;
        let shapes = Dictionary::shared_fix44_with_extensions();
        let clock = SessionClock::new(move || UtcTimestamp::from_nanos(clock().0))
            .with_wall(move || UtcTimestamp::from_nanos(wall().0));
        let house = GatewayContext {
            bus,
            access,
            clock,
            exec_ids: ExecIds(instance),
            event_router: EventRouter::default(),
            dictionary: shapes,
        };
        let open = |(settings, dictionary): &(Arc<SessionSettings>, Option<Arc<Dictionary>>)| {
            let store = SessionStore::open(ledger.clone(), &settings.id, house.clock.now())?;
            let log = MessageLog::open(sessions.message_log_folder(settings).as_deref(), &settings.id);
            let log = log.map_err(|error| format!("the message log of {}: {error}", settings.id))?;
            let (handle, queue) = session_queue();
            let board = Arc::new(SessionStatus::new(settings.clone(), handle, store));
            Ok(OpenSession { status: board, dictionary: dictionary.clone(), mailbox: queue, log })
        };
        let opened: Result<Vec<_>, String> = sessions.sessions.iter().map(open).collect();
        let opened = opened?;
        let boards = Arc::new(opened.iter().map(|session| session.status.clone()).collect());
        Ok(Self { context: Arc::new(house), sessions: opened, statuses: boards })
    }

    pub fn operations(&self, runtime: Handle) -> FixOperations {
        FixOperations { statuses: self.statuses.clone(), clock: self.context.clock.clone(), runtime }
    }

    /// Serves until `shutdown` is ready; then every client is logged out.
    pub async fn serve(
        self,
        (listener, secure): (TcpListener, Option<TlsWrapper>),
        callers_max: usize,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let acceptor = Acceptor::new(listener, self.handles(), secure);
        let acceptor = acceptor.with_callers_max(callers_max).with_authenticator(self.authenticator());
        self.run(|stopping| acceptor.run(stopping), shutdown).await;
        Ok(())
    }

    /// As [`Self::serve`], with connections from a queue in place of a port.
    pub async fn serve_streams(self, streams: mpsc::Receiver<CallerStream>, shutdown: impl Future<Output = ()> + Send) {
        let acceptor = StreamAcceptor::new(streams, self.handles(), self.authenticator());
        self.run(|stopping| acceptor.run(stopping), shutdown).await;
    }

    fn handles(&self) -> Vec<(Arc<SessionSettings>, SessionHandle)> {
        let handle = |session: &OpenSession| (session.status.settings.clone(), session.status.handle.clone());
        self.sessions.iter().map(handle).collect()
    }

    fn authenticator(&self) -> LogonAuthenticator {
        logon_authenticator(self.context.clone(), self.statuses.clone())
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(
        self,
        accept: impl FnOnce(watch::Receiver<bool>) -> F,
        shutdown: impl Future<Output = ()> + Send,
    ) {
        let (stop, stopping) = watch::channel(false);
        let ears = tokio::spawn(self.context.event_router.clone().run(self.context.bus.feed.clone()));
        let mut tasks = JoinSet::new();
        for session in self.sessions {
            tasks.spawn(session.serve(self.context.clone(), stopping.clone()));
        }
        tasks.spawn(accept(stopping));
        shutdown.await;
        stop.send_replace(true);
        let all_gone = timeout(Duration::from_secs(STOP_SECONDS), async { while tasks.join_next().await.is_some() {} });
        if all_gone.await.is_err() {
            tracing::warn!("FIX clients did not answer the Logout in time; connections are closed");
        }
        ears.abort();
    }
}

/// A session accepts one connection: the logon is authenticated before the connection slot is taken.
fn logon_authenticator(context: Arc<GatewayContext>, boards: Arc<Vec<Arc<SessionStatus>>>) -> LogonAuthenticator {
    Arc::new(move |id, peer, message| {
        let status = boards.iter().find(|status| status.settings.id == *id).filter(|_| message.msg_type() == b"A");
        let knocking = status.map(|status| {
            let attempt = LogonAttempt::new_for(status, context.access.clone(), Some(peer));
            attempt.decide(LogonCredentials::from_logon(message), status.clone())
        });
        Box::pin(async move {
            match knocking {
                Some(knocking) => Some(knocking.await),
                None => None,
            }
        })
    })
}

impl OpenSession {
    async fn serve(self, context: Arc<GatewayContext>, stopping: watch::Receiver<bool>) {
        let Self { status: board, dictionary, mailbox: queue, log } = self;
        let settings = board.settings.clone();
        let (here, present) = watch::channel(false);
        let waits = Waits::default();
        if settings.gateway.cancel_on_disconnect != CancelOnDisconnect::Off {
            let comp_id = settings.id.target.as_str().into();
            let absent = Absent { inbox: context.bus.inbox.clone(), comp_id, waits: waits.clone() };
            tokio::spawn(run(absent, settings.gateway.clone(), present));
        }
        let session = FixSession::new(settings, dictionary, LedgerStore(board.store.clone()));
        let clock = context.clock.clone();
        let application = GatewayApplication::new(context, board, log, here, waits);
        run_session(SessionEngine::new(session, application), queue, None, clock, stopping).await;
    }
}

/// Sessions for operators: status and commands.
#[derive(Clone)]
pub struct FixOperations {
    statuses: Arc<Vec<Arc<SessionStatus>>>,
    clock: SessionClock,
    runtime: Handle,
}

impl FixSessionAdmin for FixOperations {
    fn sessions(&self) -> Vec<FixSessionStatus> {
        self.statuses.iter().map(|status| status.snapshot(self.clock.now())).collect()
    }

    /// Must not be called by a thread of a runtime.
    fn command(&self, id: &str, act: FixSessionCommand) -> Result<(), FixSessionError> {
        let status = self.statuses.iter().find(|status| status.id() == id).ok_or(FixSessionError::UnknownSession)?;
        status.command(act, &self.runtime)
    }
}

/// TLS of the FIX port, with the server's certificate.
pub fn tls_acceptor(certificates: Arc<dyn ResolvesServerCert>) -> Result<TlsWrapper, rustls::Error> {
    let acceptor = TlsAcceptor::from(net::server_config(certificates, &[])?);
    Ok(Arc::new(move |socket, _| {
        let handshake = acceptor.accept(socket);
        Box::pin(async move {
            let stream: Box<dyn SessionStream> = Box::new(handshake.await?);
            Ok(stream)
        })
    }))
}
