//! Gateway: sessions, listener, and the commands of operators.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use access::Access;
use bus::operations::{FixReloadError, FixSessionChanges, FixSessionCommand, FixSessionError, FixSessionStatus};
use bus::{Bus, FixSessionAdmin, Ledger};
use domain::Timestamp;
use fix::{Dictionary, UtcTimestamp};
use fix_net::{Acceptor, CallerStream, LogonAuthenticator, SessionClock, SessionStream, StreamAcceptor, TlsWrapper};
use rustls::server::ResolvesServerCert;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::limits::STOP_SECONDS;
use crate::session::{EventRouter, GatewayContext, LogonAttempt, LogonCredentials, PriceRouter};
use crate::session_table::SessionTable;
use crate::settings::FixSessionFile;
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
    /// How many sessions the open files of the process allow, also when the session file is read again.
    pub sessions_max: usize,
}

pub struct Gateway {
    table: Arc<SessionTable>,
}

impl Gateway {
    /// Restores every session from its store.
    pub fn open(parts: GatewayParts, sessions: &Arc<FixSessionFile>) -> Result<Self, String> {
        let GatewayParts { bus, ledger, access, instance, clock, wall, sessions_max } = parts;
        let clock = SessionClock::new(move || UtcTimestamp::from_nanos(clock().0))
            .with_wall(move || UtcTimestamp::from_nanos(wall().0));
        let context = GatewayContext {
            price_router: PriceRouter::new(bus.feed.clone()),
            bus,
            access,
            clock,
            exec_ids: ExecIds(instance),
            event_router: EventRouter::default(),
            dictionary: Dictionary::shared_fix44_with_extensions(),
        };
        let table = SessionTable::open(Arc::new(context), ledger, sessions, sessions_max)?;
        Ok(Self { table: Arc::new(table) })
    }

    pub fn operations(&self, runtime: Handle) -> FixOperations {
        FixOperations { table: self.table.clone(), runtime }
    }

    /// Serves until `shutdown` is ready; then every client is logged out.
    pub async fn serve(
        self,
        (listener, secure): (TcpListener, Option<TlsWrapper>),
        callers_max: usize,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let acceptor = Acceptor::for_directory(listener, self.table.directory.clone(), secure);
        let acceptor = acceptor.with_callers_max(callers_max).with_authenticator(self.authenticator());
        self.run(|stopping| acceptor.run(stopping), shutdown).await;
        Ok(())
    }

    /// As [`Self::serve`], with connections from a queue in place of a port.
    pub async fn serve_streams(self, streams: mpsc::Receiver<CallerStream>, shutdown: impl Future<Output = ()> + Send) {
        let acceptor = StreamAcceptor::for_directory(streams, self.table.directory.clone(), self.authenticator());
        self.run(|stopping| acceptor.run(stopping), shutdown).await;
    }

    fn authenticator(&self) -> LogonAuthenticator {
        logon_authenticator(self.table.clone())
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(
        self,
        accept: impl FnOnce(watch::Receiver<bool>) -> F,
        shutdown: impl Future<Output = ()> + Send,
    ) {
        let (stop, stopping) = watch::channel(false);
        let context = &self.table.context;
        let router =
            tokio::spawn(context.event_router.clone().run(context.bus.feed.clone(), context.bus.catalogue.clone()));
        let prices = tokio::spawn(context.price_router.clone().run());
        self.table.start();
        let accepting = tokio::spawn(accept(stopping));
        shutdown.await;
        stop.send_replace(true);
        let all_gone = async { tokio::join!(accepting, self.table.stop()) };
        if timeout(Duration::from_secs(STOP_SECONDS), all_gone).await.is_err() {
            tracing::warn!("FIX clients did not answer the Logout in time; connections are closed");
        }
        router.abort();
        prices.abort();
    }
}

/// A session accepts one connection: the logon is authenticated before the connection slot is taken.
fn logon_authenticator(table: Arc<SessionTable>) -> LogonAuthenticator {
    Arc::new(move |id, peer, message| {
        let status = table.status(id).filter(|_| message.msg_type() == b"A");
        let decision = status.map(|status| {
            let attempt = LogonAttempt::new_for(&status, table.context.access.clone(), Some(peer));
            attempt.decide(LogonCredentials::from_logon(message), status)
        });
        Box::pin(async move {
            match decision {
                Some(decision) => Some(decision.await),
                None => None,
            }
        })
    })
}

/// Sessions for operators: status and commands.
#[derive(Clone)]
pub struct FixOperations {
    table: Arc<SessionTable>,
    runtime: Handle,
}

impl FixSessionAdmin for FixOperations {
    fn sessions(&self) -> Vec<FixSessionStatus> {
        let now = self.table.context.clock.now();
        self.table.statuses().iter().map(|status| status.snapshot(now)).collect()
    }

    /// Must not be called by a thread of a runtime.
    fn command(&self, id: &str, act: FixSessionCommand) -> Result<(), FixSessionError> {
        self.table.find(id).ok_or(FixSessionError::UnknownSession)?.command(act, &self.runtime)
    }

    /// Must not be called by a thread of a runtime.
    fn reload(&self) -> Result<FixSessionChanges, FixReloadError> {
        self.table.reload(&self.runtime)
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
