//! FIX server: the acceptor and its sessions, on a runtime of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use access::Access;
use fix_gateway::{DEMO_SETTINGS, FixOperations, FixSessionFile, Gateway, GatewayParts, TlsWrapper, tls_acceptor};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::compose::engine_thread::EngineThread;
use crate::compose::servers::{bind, bind_failure};
use crate::config::{Config, SessionFile};
use crate::data_dir::DataDir;
use crate::exit_failure::{Exit, ExitFailure};
use crate::open_files::Connections;
use crate::tls::Certificate;

/// Threads that serve sessions; the engine and the journal want the rest of the machine.
const FIX_THREADS: usize = 2;

pub(crate) struct FixServer {
    pub(crate) address: SocketAddr,
    pub(crate) uses_tls: bool,
    /// What operators may do with its sessions.
    pub(crate) operations: FixOperations,
    runtime: Runtime,
    /// Since when clients can call.
    pub(crate) opened: Instant,
    begin: Option<oneshot::Sender<()>>,
    close: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl FixServer {
    /// None where the configuration names no sessions, or the port is off. Clients that call are answered from [`Self::begin`] on.
    pub(crate) fn open(
        config: &Config,
        sessions: Option<FixSessionFile>,
        certificate: Option<&Arc<Certificate>>,
        data_dir: &DataDir,
        engine: &EngineThread,
        access: &Arc<Access>,
        connections: Connections,
    ) -> Result<Option<Self>, ExitFailure> {
        let Some(sessions) = sessions else { return Ok(None) };
        let Some(port) = port(config, &sessions)? else { return Ok(None) };
        check_exposure(config, &sessions)?;
        let wanted = SocketAddr::new(config.bind.0, port);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(FIX_THREADS)
            .thread_name("fix")
            .enable_all()
            .build()
            .map_err(|error| bind_failure("start the FIX threads", &error))?;
        let (address, listener) = bind(&runtime, wanted, "fix.port")?;
        let opened = Instant::now();
        let secure = certificate.filter(|_| sessions.use_tls()).map(tls_wrapper).transpose()?;
        let parts = GatewayParts {
            bus: engine.bus.clone(),
            ledger: engine.ledger.clone(),
            access: access.clone(),
            instance: data_dir.instance.number(),
            clock: data_dir.clock.shared(),
            wall: data_dir.clock.wall(),
            sessions_max: connections.fix_sessions,
        };
        let gateway =
            Gateway::open(parts, &Arc::new(sessions)).map_err(|reason| ExitFailure::new(Exit::Failed, reason))?;
        let operations = gateway.operations(runtime.handle().clone());
        let ((begin, begun), (close, closed)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
        let uses_tls = secure.is_some();
        let serving = gateway.serve((listener, secure), connections.fix_callers, async { drop(closed.await) });
        let served = runtime.spawn(async {
            // One that is closed before serves and ends at once.
            drop(begun.await);
            serving.await
        });
        Ok(Some(Self { address, uses_tls, operations, runtime, opened, begin: Some(begin), close, served }))
    }

    /// Answers those who have called.
    pub(crate) fn begin(&mut self) {
        // It is there once, and heard while the port listens.
        self.begin.take().into_iter().for_each(|begin| begin.send(()).unwrap_or(()));
    }

    /// For operators over REST; those on the machine find it in the port.
    pub(crate) fn publish(&self, port: &OnceLock<FixOperations>) -> Arc<FixOperations> {
        // It is set once.
        port.set(self.operations.clone()).unwrap_or(());
        Arc::new(self.operations.clone())
    }

    /// Every client is logged out.
    pub(crate) fn close(mut self) {
        // Those who wait for an answer get none.
        let begin = self.begin.take();
        // A port that closed by itself no longer listens.
        self.close.send(()).unwrap_or(());
        drop(begin);
        drop(self.runtime.block_on(self.served));
    }
}

/// `fix.port`, where it is set, wins over the file's own; none where it is off.
fn port(config: &Config, sessions: &FixSessionFile) -> Result<Option<u16>, ExitFailure> {
    let missing = || refused("SocketAcceptPort is missing in the session file, and fix.port is not set");
    match config.fix_port {
        Some(port) => Ok(port.0),
        None => sessions.port().map(Some).ok_or_else(missing),
    }
}

fn refused(reason: &str) -> ExitFailure {
    ExitFailure::new(Exit::Refused, format!("the FIX sessions can't be used:\n  {reason}"))
}

/// As for every port: passwords and orders don't cross a network in plain text unless it is said.
fn check_exposure(config: &Config, sessions: &FixSessionFile) -> Result<(), ExitFailure> {
    if config.bind.0.is_loopback() || sessions.use_tls() || config.auth_allow_plaintext {
        return Ok(());
    }
    let text = format!(
        "passwords and orders would cross the network to {} in plain text; set \
         SocketUseSSL=Y in the session file, fix.port=off, or auth.allowPlaintext=true if that is what you want",
        config.bind.0
    );
    Err(refused(&text))
}

/// What a start would say about the session file, without writing one.
pub(crate) fn check(config: &Config) -> Result<Option<String>, ExitFailure> {
    let path = match &config.fix_settings {
        None => return Ok(None),
        Some(SessionFile::File(path)) => path.clone(),
        Some(SessionFile::Own) => default_path(&config.data_dir),
    };
    if matches!(config.fix_settings, Some(SessionFile::Own)) && !path.exists() {
        return Ok(Some(format!("FIX sessions: the demo's, which the first start writes to {}\n", path.display())));
    }
    let sessions = read(&path)?;
    if port(config, &sessions)?.is_some() {
        check_exposure(config, &sessions)?;
    }
    let notes = sessions.warnings.iter().map(|warning| format!("note: {}: {warning}\n", path.display()));
    Ok(Some(notes.collect::<String>() + &format!("FIX sessions: {}\n", sessions.names().join(", "))))
}

fn read(path: &Path) -> Result<FixSessionFile, ExitFailure> {
    FixSessionFile::read(path).map_err(|problems| refused(&problems.join("\n  ")))
}

pub(crate) fn sessions(config: &Config) -> Result<Option<FixSessionFile>, ExitFailure> {
    let path = match &config.fix_settings {
        None => return Ok(None),
        Some(SessionFile::File(path)) => path.clone(),
        Some(SessionFile::Own) => default_file(&config.data_dir)?,
    };
    let sessions = read(&path)?;
    for warning in &sessions.warnings {
        warn!("{}: {warning}", path.display());
    }
    info!(file = %path.display(), "FIX sessions");
    Ok(Some(sessions))
}

/// The file in the data folder; at first start the demo's is written there.
fn default_file(data_dir: &Path) -> Result<PathBuf, ExitFailure> {
    let path = default_path(data_dir);
    if !path.exists() {
        let written = fs::create_dir_all(data_dir.join("fix")).and_then(|()| fs::write(&path, DEMO_SETTINGS));
        written.map_err(|error| ExitFailure::io("write", &path, &error))?;
    }
    Ok(path)
}

fn default_path(data_dir: &Path) -> PathBuf {
    data_dir.join("fix").join("sessions.cfg")
}

/// The certificate of the other ports, renewed with theirs.
fn tls_wrapper(certificate: &Arc<Certificate>) -> Result<TlsWrapper, ExitFailure> {
    tls_acceptor(certificate.clone()).map_err(|error| ExitFailure::new(Exit::Failed, format!("TLS for FIX: {error}")))
}
