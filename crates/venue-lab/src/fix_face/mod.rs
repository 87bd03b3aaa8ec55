//! Generic FIX 4.4 and 4.2: sessions of accounts for orders and market data, and drop copies.

mod application;
mod faults;
mod fields;
mod inbox;
mod market_data;
mod orders;
mod reported_trades;
mod reports;
mod scope;
mod security_list;
mod session_file;
mod tags;
mod version;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fix::{Dictionary, FixSession, FixSettings, MemoryStore, SessionEngine, SessionId, SessionSettings};
use fix_net::{
    Acceptor, CallerStream, DurableStore, LogonAuthenticator, SessionHandle, SessionStream, StreamAcceptor,
    run_session, session_queue,
};
use storage::StorageError;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::exchange::AccountIndex;
use crate::faults::LabFaults;
use crate::lab_clock::LabClock;
use crate::sequencer::ExchangeHandle;
use crate::sessions::Sessions;
use application::FixApplication;
use faults::fault_stream;
use inbox::SessionInbox;
pub use reported_trades::ReportedTrade;
pub(crate) use reported_trades::ReportedTrades;
use reports::ReportScope;
use scope::SessionScope;
use session_file::SessionFile;
pub(crate) use version::FixVersion;

/// SenderCompID (49) of the lab.
pub(crate) const LAB_COMP_ID: &str = "LAB";

/// Session settings that every face has. CompIDs and version are set for each session.
const SETTINGS: &str = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=LAB\n\
     TargetCompID=CLIENT\nNonStopSession=Y\n";

/// A session of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FixSessionConfig {
    /// SenderCompID (49) of the client.
    pub(crate) comp_id: String,
    pub(crate) account: AccountIndex,
    pub(crate) account_name: String,
    pub(crate) is_drop_copy: bool,
}

/// A face of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FixFaceConfig {
    pub(crate) version: FixVersion,
    pub(crate) port: Option<u16>,
    /// Whether missed messages come again; otherwise numbers begin at 1 with each Logon.
    pub(crate) resends: bool,
    pub(crate) sessions: Vec<FixSessionConfig>,
}

/// What the sessions of all faces share.
#[derive(Clone)]
pub(crate) struct FixFaceState {
    pub(crate) exchange: ExchangeHandle,
    pub(crate) faults: Arc<LabFaults>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) markets: Arc<BTreeMap<String, usize>>,
    pub(crate) clock: LabClock,
    /// Where somebody asks which trades were reported.
    pub(crate) reported: Option<ReportedTrades>,
}

/// Starts the sessions of a face and accepts their clients until `stop` becomes true. Sessions whose messages come again keep them in
/// the folder.
pub(crate) fn serve(
    config: &FixFaceConfig,
    state: &FixFaceState,
    folder: &Path,
    listener: TcpListener,
    stop: &watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, StorageError> {
    let (accepted, mut tasks) = start_sessions(config, state, folder, stop)?;
    tasks.push(tokio::spawn(
        Acceptor::new(listener, accepted, Some(fault_stream::wrapper(&state.faults))).run(stop.clone()),
    ));
    Ok(tasks)
}

/// The same for connections that come from elsewhere than a port.
pub(crate) fn serve_streams(
    config: &FixFaceConfig,
    state: &FixFaceState,
    folder: &Path,
    streams: mpsc::Receiver<CallerStream>,
    stop: &watch::Receiver<bool>,
) -> Result<(), StorageError> {
    let (accepted, _) = start_sessions(config, state, folder, stop)?;
    // As on the ports everybody may log on.
    let everybody: LogonAuthenticator = Arc::new(|_, _, _| Box::pin(std::future::ready(None)));
    tokio::spawn(StreamAcceptor::new(streams, accepted, everybody).run(stop.clone()));
    Ok(())
}

/// A stream that the faults can reach.
pub(crate) fn faulty(stream: Box<dyn SessionStream>, faults: &Arc<LabFaults>) -> Box<dyn SessionStream> {
    fault_stream::wrap(stream, faults.clone())
}

/// Each session with its settings and handle, and the tasks of all.
type StartedSessions = (Vec<(Arc<SessionSettings>, SessionHandle)>, Vec<JoinHandle<()>>);

fn start_sessions(
    config: &FixFaceConfig,
    state: &FixFaceState,
    folder: &Path,
    stop: &watch::Receiver<bool>,
) -> Result<StartedSessions, StorageError> {
    let dictionary = config.version.dictionary();
    // A reject of this run has no number of one before.
    let rejects = Arc::new(AtomicU64::new(state.clock.micros().unsigned_abs()));
    let mut tasks = Vec::new();
    let mut accepted = Vec::new();
    for session in &config.sessions {
        let settings = Arc::new(settings(config, session));
        let shared = (&dictionary, &rejects);
        let now = state.clock.sessions().now();
        let (handle, task) = if config.resends {
            let path = SessionFile::path_of(folder, config.version.face(), &session.comp_id);
            let file = SessionFile::open(path, now)?.telling(state.reported.clone(), &session.comp_id);
            let file = file.map_err(|error| StorageError::Failed { reason: error.to_string() })?;
            start_session(&settings, session, state, shared, file, stop)
        } else {
            start_session(&settings, session, state, shared, MemoryStore::new(now), stop)
        };
        accepted.push((settings, handle));
        tasks.push(task);
    }
    Ok((accepted, tasks))
}

fn start_session<S: DurableStore + Send + 'static>(
    settings: &Arc<SessionSettings>,
    session: &FixSessionConfig,
    state: &FixFaceState,
    (dictionary, rejects): (&Arc<Dictionary>, &Arc<AtomicU64>),
    store: S,
    stop: &watch::Receiver<bool>,
) -> (SessionHandle, JoinHandle<()>) {
    let (handle, queue) = session_queue();
    let version = if settings.id.begin_string == FixVersion::Fix42.begin_string() {
        FixVersion::Fix42
    } else {
        FixVersion::Fix44
    };
    let scope = SessionScope {
        report: ReportScope { version, account: session.account_name.clone(), is_drop_copy: session.is_drop_copy },
        account: session.account,
        exchange: state.exchange.clone(),
        faults: state.faults.clone(),
        inbox: Arc::new(SessionInbox::new(handle.clone(), settings.persist_messages)),
        markets: state.markets.clone(),
        rejects: rejects.clone(),
        keeps_reports: settings.persist_messages,
        pending: Arc::default(),
    };
    let clock = state.clock.sessions();
    let engine = SessionEngine::new(
        FixSession::new(settings.clone(), Some(dictionary.clone()), store),
        FixApplication::new(Arc::new(scope), state.sessions.clone()),
    );
    (handle, tokio::spawn(run_session(engine, queue, None, clock, stop.clone())))
}

fn settings(config: &FixFaceConfig, session: &FixSessionConfig) -> SessionSettings {
    let mut parsed = FixSettings::parse(SETTINGS).expect("the settings of the faces are right");
    let mut settings = parsed.sessions.remove(0);
    settings.id = SessionId {
        begin_string: config.version.begin_string().to_owned(),
        sender: LAB_COMP_ID.to_owned(),
        target: session.comp_id.clone(),
    };
    settings.persist_messages = config.resends;
    settings.reset_on_logon = !config.resends;
    settings
}
