//! Session table: the sessions that the gateway serves, each with its task. A new reading of the session file adds, changes and
//! removes sessions; those that are the same keep their connections and numbers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bus::Ledger;
use bus::operations::{FixReloadError, FixSessionChanges};
use fix::{CancelOnDisconnect, Dictionary, FixSession, SessionEngine, SessionId, SessionSettings};
use fix_net::{SessionDirectory, SessionQueue, run_session, session_queue};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::limits::STOP_SECONDS;
use crate::session::{
    Absent, ClientConnection, GatewayApplication, GatewayContext, MarketDataApplication, MessageLog, SessionStatus,
    Waits, run, unknown_names,
};
use crate::settings::FixSessionFile;
use crate::store::{GatewayStore, LedgerStore, SessionStore, VolatileStore};

/// Text (58) of the Logout of a session that is no longer in the file.
const REMOVED_TEXT: &str = "the session was removed";
/// Text (58) of the Logout of a session whose settings are others now.
const CHANGED_TEXT: &str = "the settings of the session were changed: log on again";

pub(crate) struct SessionTable {
    pub(crate) context: Arc<GatewayContext>,
    /// Whose connections the port accepts.
    pub(crate) directory: SessionDirectory,
    ledger: Arc<dyn Ledger>,
    /// More sessions are refused: each needs files of the process.
    sessions_max: usize,
    state: Mutex<TableState>,
    /// One reading of the file at a time.
    reloading: Mutex<()>,
}

struct TableState {
    file: Arc<FixSessionFile>,
    /// In the order of the file.
    rows: Vec<TableRow>,
    /// Of every session since the start: one that is removed and added again goes on with its own.
    stores: BTreeMap<SessionId, SessionStore>,
    /// Of sessions that were removed: their orders are being cancelled.
    cancels: BTreeMap<SessionId, AbortHandle>,
    phase: TablePhase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TablePhase {
    Opened,
    Serving,
    Stopped,
}

struct TableRow {
    status: Arc<SessionStatus>,
    dictionary: Option<Arc<Dictionary>>,
    task: SessionTask,
}

enum SessionTask {
    Waiting(Box<OpenSession>),
    Running { stop: watch::Sender<bool>, task: JoinHandle<()> },
    Ended,
}

/// A session whose task is not started yet.
struct OpenSession {
    status: Arc<SessionStatus>,
    dictionary: Option<Arc<Dictionary>>,
    queue: SessionQueue,
    log: MessageLog,
}

/// A session that ends.
struct EndingSession {
    status: Arc<SessionStatus>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl SessionTable {
    /// Restores every session from its store.
    pub(crate) fn open(
        context: Arc<GatewayContext>,
        ledger: Arc<dyn Ledger>,
        file: &Arc<FixSessionFile>,
        sessions_max: usize,
    ) -> Result<Self, String> {
        let state = TableState {
            file: file.clone(),
            rows: Vec::new(),
            stores: BTreeMap::new(),
            cancels: BTreeMap::new(),
            phase: TablePhase::Opened,
        };
        let (directory, state) = (SessionDirectory::default(), Mutex::new(state));
        let table = Self { context, directory, ledger, sessions_max, state, reloading: Mutex::default() };
        for (settings, dictionary) in &file.sessions {
            let session = table.open_session(file, settings, dictionary.as_ref())?;
            table.state().rows.push(TableRow::waiting(session));
        }
        Ok(table)
    }

    /// Starts the tasks of all sessions, on the runtime of the caller.
    pub(crate) fn start(&self) {
        let mut state = self.state();
        state.phase = TablePhase::Serving;
        self.unknown_names(&state.file).iter().for_each(|warning| tracing::warn!("FIX session file: {warning}"));
        let rows = std::mem::take(&mut state.rows);
        state.rows = rows.into_iter().map(|row| self.start_row(row, &Handle::current())).collect();
    }

    /// Every client is logged out. Ready when all tasks have ended.
    pub(crate) async fn stop(&self) {
        let rows = {
            let mut state = self.state();
            state.phase = TablePhase::Stopped;
            state.rows.iter_mut().filter_map(TableRow::end).collect::<Vec<_>>()
        };
        for row in &rows {
            row.stop.send_replace(true);
        }
        for row in rows {
            // A task that failed has ended.
            let _ = row.task.await;
        }
    }

    pub(crate) fn statuses(&self) -> Vec<Arc<SessionStatus>> {
        self.state().rows.iter().map(|row| row.status.clone()).collect()
    }

    /// By the client's CompID.
    pub(crate) fn find(&self, comp_id: &str) -> Option<Arc<SessionStatus>> {
        self.state().rows.iter().find(|row| row.status.id() == comp_id).map(|row| row.status.clone())
    }

    /// By both CompIDs.
    pub(crate) fn status(&self, id: &SessionId) -> Option<Arc<SessionStatus>> {
        self.state().rows.iter().find(|row| row.status.settings.id == *id).map(|row| row.status.clone())
    }

    /// Reads the file again. Everything that can be refused is checked before anything is changed.
    pub(crate) fn reload(&self, runtime: &Handle) -> Result<FixSessionChanges, FixReloadError> {
        let _one = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, is_serving) = {
            let state = self.state();
            (state.file.clone(), state.phase == TablePhase::Serving)
        };
        if !is_serving {
            return Err(FixReloadError::Busy);
        }
        let newer = Arc::new(file.read_again().map_err(FixReloadError::Refused)?);
        self.check(&file, &newer).map_err(FixReloadError::Refused)?;
        let changes = self.compare(&newer);
        let opened = self.open_differing(&newer, &changes).map_err(|reason| FixReloadError::Refused(vec![reason]))?;
        self.end_differing(&changes, runtime);
        self.take_over(&newer, opened, runtime);
        log_changes(&changes);
        Ok(changes)
    }

    fn check(&self, file: &FixSessionFile, newer: &FixSessionFile) -> Result<(), Vec<String>> {
        let mut problems = file.difference_to_port(newer);
        let count = newer.sessions.len();
        if count > self.sessions_max.max(file.sessions.len()) {
            problems.push(format!(
                "{count} sessions are more than the open files of the process allow ({}): raise the limit (ulimit -n) and restart",
                self.sessions_max
            ));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn compare(&self, newer: &FixSessionFile) -> FixSessionChanges {
        let state = self.state();
        let warnings = newer.warnings.iter().cloned().chain(self.unknown_names(newer)).collect();
        let mut changes = FixSessionChanges { warnings, ..FixSessionChanges::default() };
        for (settings, dictionary) in &newer.sessions {
            let row = state.rows.iter().find(|row| row.status.settings.id == settings.id);
            let list = match row {
                None => &mut changes.added,
                Some(row) if row.is_same(settings, dictionary.as_deref()) => &mut changes.unchanged,
                Some(_) => &mut changes.changed,
            };
            list.push(settings.id.target.clone());
        }
        let is_gone = |row: &&TableRow| newer.sessions.iter().all(|(session, _)| session.id != row.status.settings.id);
        changes.removed = state.rows.iter().filter(is_gone).map(|row| row.status.id().to_owned()).collect();
        changes
    }

    /// Accounts and strategies of drop copies that there are not.
    fn unknown_names(&self, file: &FixSessionFile) -> Vec<String> {
        let reference = self.context.bus.catalogue.current();
        let rules =
            file.sessions.iter().filter_map(|(session, _)| Some((session, session.gateway.drop_copy.as_ref()?)));
        let unknown = rules.flat_map(|(session, rule)| {
            unknown_names(rule, &reference).into_iter().map(|text| format!("{}: {text}", session.id.target))
        });
        unknown.collect()
    }

    fn open_differing(
        &self,
        newer: &FixSessionFile,
        changes: &FixSessionChanges,
    ) -> Result<BTreeMap<SessionId, OpenSession>, String> {
        let is_other = |target: &String| !changes.unchanged.contains(target);
        let differing = newer.sessions.iter().filter(|(settings, _)| is_other(&settings.id.target));
        let open = |(settings, dictionary): &(Arc<SessionSettings>, Option<Arc<Dictionary>>)| {
            Ok((settings.id.clone(), self.open_session(newer, settings, dictionary.as_ref())?))
        };
        differing.map(open).collect()
    }

    /// Logs out the clients of sessions that are removed or changed, and waits until their tasks have ended.
    fn end_differing(&self, changes: &FixSessionChanges, runtime: &Handle) {
        let is_removed = |status: &SessionStatus| changes.removed.iter().any(|one| one == status.id());
        let ending: Vec<_> = {
            let mut state = self.state();
            let rows = state.rows.iter_mut().filter(|row| !changes.unchanged.iter().any(|one| one == row.status.id()));
            rows.filter_map(TableRow::end).collect()
        };
        ending.iter().for_each(|session| self.directory.remove(&session.status.settings.id));
        let removed: Vec<_> = ending.iter().map(|one| one.status.clone()).filter(|status| is_removed(status)).collect();
        let mut endings = JoinSet::new();
        for session in ending {
            let text = if is_removed(&session.status) { REMOVED_TEXT } else { CHANGED_TEXT };
            endings.spawn_on(session.end(text), runtime);
        }
        runtime.block_on(async { while endings.join_next().await.is_some() {} });
        removed.iter().for_each(|status| self.cancel_of_removed(status, runtime));
    }

    /// A client that is refused from now on cannot look after its orders: the session's CancelOnDisconnect applies, without a
    /// grace period, until the session is added again.
    fn cancel_of_removed(&self, status: &SessionStatus, runtime: &Handle) {
        let which = status.settings.gateway.cancel_on_disconnect;
        if which != CancelOnDisconnect::Off {
            let absent = self.absent(&status.settings, Waits::default());
            let (_, mut present) = watch::channel(false);
            let cancels = runtime.spawn(async move { absent.cancel_all(which, &mut present).await });
            self.state().cancels.insert(status.settings.id.clone(), cancels.abort_handle());
        }
    }

    fn take_over(&self, newer: &Arc<FixSessionFile>, mut opened: BTreeMap<SessionId, OpenSession>, runtime: &Handle) {
        let mut state = self.state();
        let mut before = std::mem::take(&mut state.rows);
        for (settings, _) in &newer.sessions {
            state.cancels.remove(&settings.id).iter().for_each(AbortHandle::abort);
            let row = match opened.remove(&settings.id) {
                Some(session) => Some(self.start_row(TableRow::waiting(session), runtime)),
                None => before.iter().position(|row| row.status.settings.id == settings.id).map(|at| before.remove(at)),
            };
            state.rows.extend(row);
        }
        state.file = newer.clone();
    }

    fn open_session(
        &self,
        file: &FixSessionFile,
        settings: &Arc<SessionSettings>,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<OpenSession, String> {
        let store = match settings.gateway.market_data {
            None => GatewayStore::Durable(self.store(&settings.id)?),
            Some(_) => GatewayStore::Volatile(VolatileStore::new(self.context.clock.now())),
        };
        let log = MessageLog::open(file.message_log_folder(settings).as_deref(), &settings.id);
        let log = log.map_err(|error| format!("the message log of {}: {error}", settings.id))?;
        let (handle, queue) = session_queue();
        let status = Arc::new(SessionStatus::new(settings.clone(), handle, store));
        Ok(OpenSession { status, dictionary: dictionary.cloned(), queue, log })
    }

    /// There is one for each session: two of them would not know of each other's numbers.
    fn store(&self, id: &SessionId) -> Result<SessionStore, String> {
        if let Some(known) = self.state().stores.get(id) {
            return Ok(known.clone());
        }
        let store = SessionStore::open(self.ledger.clone(), id, self.context.clock.now())?;
        self.state().stores.insert(id.clone(), store.clone());
        Ok(store)
    }

    fn start_row(&self, row: TableRow, runtime: &Handle) -> TableRow {
        let task = match row.task {
            SessionTask::Waiting(session) => {
                let (stop, stopping) = watch::channel(false);
                self.directory.insert(&row.status.settings, row.status.handle.clone());
                SessionTask::Running { stop, task: self.serve(*session, stopping, runtime) }
            }
            other @ (SessionTask::Running { .. } | SessionTask::Ended) => other,
        };
        TableRow { task, ..row }
    }

    fn serve(&self, session: OpenSession, stopping: watch::Receiver<bool>, runtime: &Handle) -> JoinHandle<()> {
        let OpenSession { status, dictionary, queue, log } = session;
        let (settings, clock) = (status.settings.clone(), self.context.clock.clone());
        let client = ClientConnection::new(self.context.clone(), status.clone(), log);
        match status.store.clone() {
            GatewayStore::Durable(store) => {
                let (waits, (here, present)) = (Waits::default(), watch::channel(false));
                if settings.gateway.cancel_on_disconnect != CancelOnDisconnect::Off {
                    runtime.spawn(run(self.absent(&settings, waits.clone()), settings.gateway.clone(), present));
                }
                let application = GatewayApplication::new(client, store.clone(), here, waits);
                let session = FixSession::new(settings, dictionary, LedgerStore(store));
                runtime.spawn(run_session(SessionEngine::new(session, application), queue, None, clock, stopping))
            }
            GatewayStore::Volatile(store) => {
                let session = FixSession::new(settings, dictionary, store);
                let engine = SessionEngine::new(session, MarketDataApplication::new(client));
                runtime.spawn(run_session(engine, queue, None, clock, stopping))
            }
        }
    }

    fn absent(&self, settings: &SessionSettings, waits: Waits) -> Absent {
        Absent { inbox: self.context.bus.inbox.clone(), comp_id: settings.id.target.as_str().into(), waits }
    }

    fn state(&self) -> MutexGuard<'_, TableState> {
        // Each row is consistent on its own.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableRow {
    fn waiting(session: OpenSession) -> Self {
        let (status, dictionary) = (session.status.clone(), session.dictionary.clone());
        Self { status, dictionary, task: SessionTask::Waiting(Box::new(session)) }
    }

    fn is_same(&self, settings: &SessionSettings, dictionary: Option<&Dictionary>) -> bool {
        *self.status.settings == *settings && self.dictionary.as_deref() == dictionary
    }

    /// The session, to be ended; none where its task does not run.
    fn end(&mut self) -> Option<EndingSession> {
        match std::mem::replace(&mut self.task, SessionTask::Ended) {
            SessionTask::Running { stop, task } => Some(EndingSession { status: self.status.clone(), stop, task }),
            SessionTask::Waiting(_) | SessionTask::Ended => None,
        }
    }
}

impl EndingSession {
    /// Logs the client out with this text, and waits until the task has ended.
    async fn end(mut self, text: &'static str) {
        let patience = Duration::from_secs(STOP_SECONDS);
        // A session that takes no requests is logged out by the stop.
        let _ = timeout(patience, self.status.handle.log_out_now(Some(text.to_owned()))).await;
        self.stop.send_replace(true);
        if timeout(patience, &mut self.task).await.is_err() {
            tracing::warn!(session = %self.status.settings.id, "FIX client did not answer the Logout in time; its connection is closed");
            self.task.abort();
        }
    }
}

fn log_changes(changes: &FixSessionChanges) {
    let FixSessionChanges { added, changed, removed, warnings, .. } = changes;
    tracing::info!(?added, ?changed, ?removed, "FIX sessions read again");
    warnings.iter().for_each(|warning| tracing::warn!("FIX session file: {warning}"));
}
