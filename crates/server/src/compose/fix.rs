//! The FIX door on its own runtime.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use access::Access;
use fix_gateway::{DEMO_SETTINGS, Gateway, Operators, Parts, Secure, Sessions, secured};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use super::engine::Engine;
use super::listening::{failed, listen};
use crate::config::{Config, SessionFile};
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::open_files::Connections;
use crate::tls::Certificate;

/// Threads that serve sessions; the engine and the journal want the rest of the machine.
const FIX_THREADS: usize = 2;

/// Where the operators' end of the door is told, once it is open.
pub(super) type OperatorsSlot = Arc<OnceLock<Operators>>;

pub(super) struct Fix {
    pub(super) address: SocketAddr,
    pub(super) uses_tls: bool,
    runtime: Runtime,
    close: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Fix {
    /// None where the configuration names no sessions, or the port is off.
    pub(super) fn open(
        config: &Config,
        sessions: Option<Sessions>,
        certificate: Option<&Arc<Certificate>>,
        ground: &Ground,
        engine: &Engine,
        access: &Arc<Access>,
        (operators, connections): (&OperatorsSlot, Connections),
    ) -> Result<Option<Self>, Failure> {
        let Some(sessions) = sessions else { return Ok(None) };
        let Some(port) = port(config, &sessions)? else { return Ok(None) };
        may_stand_open(config, &sessions)?;
        let wanted = SocketAddr::new(config.bind.0, port);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(FIX_THREADS)
            .thread_name("fix")
            .enable_all()
            .build()
            .map_err(|error| failed("start the FIX threads", &error))?;
        let (address, listener) = listen(&runtime, wanted, "fix.port")?;
        let secure = certificate.filter(|_| sessions.use_tls()).map(secure).transpose()?;
        let parts = Parts {
            bus: engine.bus.clone(),
            ledger: engine.ledger.clone(),
            access: access.clone(),
            instance: ground.instance.number(),
            clock: ground.clock.shared(),
        };
        let gateway = Gateway::open(parts, &sessions).map_err(|reason| Failure::new(Exit::Failed, reason))?;
        // Only this start tells it.
        let _ = operators.set(gateway.operators(runtime.handle().clone()));
        let (close, closed) = oneshot::channel::<()>();
        let uses_tls = secure.is_some();
        let served =
            runtime.spawn(gateway.serve((listener, secure), connections.fix_callers, async { drop(closed.await) }));
        Ok(Some(Self { address, uses_tls, runtime, close, served }))
    }

    /// Every client is logged out.
    pub(super) fn close(self) {
        // A door that closed by itself no longer listens.
        self.close.send(()).unwrap_or(());
        drop(self.runtime.block_on(self.served));
    }
}

/// `fix.port`, where it is set, wins over the file's own; none where it is off.
fn port(config: &Config, sessions: &Sessions) -> Result<Option<u16>, Failure> {
    let missing = || refused("SocketAcceptPort is missing in the session file, and fix.port is not set");
    match config.fix_port {
        Some(port) => Ok(port.0),
        None => sessions.port().map(Some).ok_or_else(missing),
    }
}

fn refused(reason: &str) -> Failure {
    Failure::new(Exit::Refused, format!("the FIX sessions can't be used:\n  {reason}"))
}

/// As for every door: passwords and orders don't cross a network in plain text unless it is said.
fn may_stand_open(config: &Config, sessions: &Sessions) -> Result<(), Failure> {
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
pub(crate) fn check(config: &Config) -> Result<Option<String>, Failure> {
    let path = match &config.fix_settings {
        None => return Ok(None),
        Some(SessionFile::File(path)) => path.clone(),
        Some(SessionFile::Own) => own_path(&config.data_dir),
    };
    if matches!(config.fix_settings, Some(SessionFile::Own)) && !path.exists() {
        return Ok(Some(format!("FIX sessions: the demo's, which the first start writes to {}\n", path.display())));
    }
    let sessions = read(&path)?;
    if port(config, &sessions)?.is_some() {
        may_stand_open(config, &sessions)?;
    }
    let notes = sessions.warnings.iter().map(|warning| format!("note: {}: {warning}\n", path.display()));
    Ok(Some(notes.collect::<String>() + &format!("FIX sessions: {}\n", sessions.names().join(", "))))
}

fn read(path: &Path) -> Result<Sessions, Failure> {
    Sessions::read(path).map_err(|problems| refused(&problems.join("\n  ")))
}

pub(super) fn sessions(config: &Config) -> Result<Option<Sessions>, Failure> {
    let path = match &config.fix_settings {
        None => return Ok(None),
        Some(SessionFile::File(path)) => path.clone(),
        Some(SessionFile::Own) => own_file(&config.data_dir)?,
    };
    let sessions = read(&path)?;
    for warning in &sessions.warnings {
        warn!("{}: {warning}", path.display());
    }
    info!(file = %path.display(), "FIX sessions");
    Ok(Some(sessions))
}

/// The file in the data folder; at first start the demo's is written there.
fn own_file(data_dir: &Path) -> Result<PathBuf, Failure> {
    let path = own_path(data_dir);
    if !path.exists() {
        let written = fs::create_dir_all(data_dir.join("fix")).and_then(|()| fs::write(&path, DEMO_SETTINGS));
        written.map_err(|error| Failure::io("write", &path, &error))?;
    }
    Ok(path)
}

fn own_path(data_dir: &Path) -> PathBuf {
    data_dir.join("fix").join("sessions.cfg")
}

/// The certificate of the other doors, renewed with theirs.
fn secure(certificate: &Arc<Certificate>) -> Result<Secure, Failure> {
    secured(certificate.clone()).map_err(|error| Failure::new(Exit::Failed, format!("TLS for FIX: {error}")))
}
