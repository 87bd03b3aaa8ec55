//! Composition of the lab: data folder, ledger, exchange, keys and faces; and its end.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use rustls::ServerConfig;
use serde_json::{Map, Value};
use storage::StorageError;
use storage::lock::DataDirLock;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle as Task;
use tokio_rustls::TlsAcceptor;

use crate::admin::AdminState;
use crate::binance::fix::{BinanceFixState, FixService};
use crate::binance::{self, BinanceState};
use crate::config::config_error::LabConfigError;
use crate::config::{LabConfig, TlsUse};
use crate::faults::LabFaults;
use crate::faults::fault_request::FaultRequest;
use crate::fix_face::{self, FixFaceConfig, FixFaceState};
use crate::lab_clock::LabClock;
use crate::ledger::{LedgerError, SpotLedger};
use crate::listener::tls;
use crate::listener::tls_listener::{PeerAddress, TlsListener};
use crate::sequencer::{self, ExchangeHandle};
use crate::sessions::Sessions;
use crate::{admin, keys};

pub(crate) const LEDGER_FILE: &str = "ledger";
/// The folder of the generic FIX sessions.
pub(crate) const FIX_FOLDER: &str = "fix";
/// How long requests in progress may take after a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// After a failed accept, as when no file is left to open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why the lab does not start, or ended by itself.
#[derive(Debug)]
pub enum LabError {
    Config(LabConfigError),
    Ledger(LedgerError),
    Storage(StorageError),
    Io(String, io::Error),
    /// The exchange's thread ended without an error of the disk.
    Exchange,
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "the configuration can't be used: {error}"),
            Self::Ledger(error) => error.fmt(f),
            Self::Storage(error) => error.fmt(f),
            Self::Io(doing, error) => write!(f, "cannot {doing}: {error}"),
            Self::Exchange => f.write_str("the thread of the exchange ended"),
        }
    }
}

impl std::error::Error for LabError {}

/// A lab that serves.
pub struct RunningLab {
    runtime: Runtime,
    thread: JoinHandle<Result<(), StorageError>>,
    has_ended: oneshot::Receiver<()>,
    addresses: Map<String, Value>,
    exchange: ExchangeHandle,
    faults: Arc<LabFaults>,
    /// Where all faces are encrypted.
    tls: Option<Arc<ServerConfig>>,
    stop_sessions: watch::Sender<bool>,
    session_tasks: Vec<Task<()>>,
    _lock: DataDirLock,
}

impl RunningLab {
    pub fn start(config: LabConfig, folder: &Path) -> Result<Self, LabError> {
        let lock = DataDirLock::acquire(folder).map_err(LabError::Storage)?;
        let path = folder.join(LEDGER_FILE);
        let now = sequencer::now_micros();
        let (ledger, exchange) =
            SpotLedger::open(&path, &config.setup, &config.genesis, now).map_err(LabError::Ledger)?;
        let mut keys = keys::configured(&config.keys).map_err(LabError::Config)?;
        let mut addresses = Map::from_iter([("ready".to_owned(), Value::Bool(true))]);
        if config.makes_demo_keys {
            let made = keys::demo(folder, &config.setup.accounts);
            let (demo_keys, path) = made.map_err(|error| LabError::Io("use the key file".to_owned(), error))?;
            keys.extend(demo_keys);
            addresses.insert("keys".to_owned(), path.display().to_string().into());
        }
        let tls_config = match config.tls {
            TlsUse::Fix | TlsUse::All => {
                let made = tls::server_config(folder);
                Some(made.map_err(|error| LabError::Io("use the certificate in tls".to_owned(), error))?)
            }
            TlsUse::Off => None,
        };
        let tls_of_all = tls_config.clone().filter(|_| config.tls == TlsUse::All);
        let runtime = Runtime::new().map_err(|error| LabError::Io("start threads".to_owned(), error))?;
        let (exchange, thread, has_ended) = sequencer::start(exchange, ledger);
        let faults = Arc::new(LabFaults::default());
        let mut lab = Self {
            runtime,
            thread,
            has_ended,
            addresses,
            exchange: exchange.clone(),
            faults: faults.clone(),
            tls: tls_of_all.clone(),
            stop_sessions: watch::Sender::new(false),
            session_tasks: Vec::new(),
            _lock: lock,
        };
        let rates = binance::RateLimits::new(config.limits);
        faults.add_script(config.faults.clone()).map_err(|reason| LabError::Config(LabConfigError(reason)))?;
        let sessions = Arc::new(Sessions::default());
        let state = BinanceState {
            exchange: exchange.clone(),
            keys,
            rates,
            faults: faults.clone(),
            sessions: sessions.clone(),
            listen_keys: config.switches.has_listen_keys.then(Arc::default),
            has_sapi: config.switches.has_sapi,
            tls: tls_of_all,
        };
        let state = Arc::new(state);
        lab.serve_binance(&config, &state, tls_config)?;
        let symbols = market_indexes(&config);
        let fix_state = FixFaceState {
            exchange: exchange.clone(),
            faults: faults.clone(),
            sessions: sessions.clone(),
            markets: symbols,
            clock: LabClock::default(),
            reported: None,
        };
        let fix_folder = folder.join(FIX_FOLDER);
        fs::create_dir_all(&fix_folder).map_err(|error| LabError::Io("make the folder fix".to_owned(), error))?;
        for face in &config.fix_faces {
            lab.serve_fix(config.bind, face, &fix_state, &fix_folder)?;
        }
        let admin_state = AdminState { exchange, faults, sessions };
        lab.serve("admin", (config.bind, config.ports.admin), admin::router(admin_state), None)?;
        Ok(lab)
    }

    /// Opens the faces of Binance.
    fn serve_binance(
        &mut self,
        config: &LabConfig,
        state: &Arc<BinanceState>,
        tls_config: Option<Arc<ServerConfig>>,
    ) -> Result<(), LabError> {
        let ports = config.ports;
        let router = binance::rest::router(state.clone());
        self.serve("binanceRest", (config.bind, ports.rest), router, self.tls.clone())?;
        self.serve_sockets(
            ("binanceWsApi", binance::ws_api::PATH),
            (config.bind, ports.ws_api),
            state,
            binance::ws_api::serve,
        )?;
        self.serve_sockets(
            ("binanceStreams", ""),
            (config.bind, ports.streams),
            state,
            binance::market::streams::serve,
        )?;
        let fix_state =
            BinanceFixState { api: state.clone(), comp_ids: Arc::default(), markets: market_indexes(config) };
        let acceptor = tls_config.map(TlsAcceptor::from);
        for (service, port) in FixService::ALL.into_iter().zip(ports.binance_fix) {
            self.serve_binance_fix(service, (config.bind, port), &fix_state, acceptor.as_ref())?;
        }
        Ok(())
    }

    /// Serves one of Binance's FIX faces: a task for each connection.
    fn serve_binance_fix(
        &mut self,
        service: FixService,
        port: (IpAddr, Option<u16>),
        state: &BinanceFixState,
        acceptor: Option<&TlsAcceptor>,
    ) -> Result<(), LabError> {
        let scheme = if acceptor.is_some() { "tcp+tls" } else { "tcp" };
        let Some((listener, _)) = self.open((service.face(), scheme, ""), port)? else { return Ok(()) };
        let (state, acceptor) = (state.clone(), acceptor.cloned());
        self.runtime.spawn(accept_connections(listener, move |socket, peer| {
            let (state, acceptor) = (state.clone(), acceptor.clone());
            async move {
                socket.set_nodelay(true)?;
                let stream = tls::wrap(socket, acceptor.as_ref()).await?;
                binance::fix::serve(state, service, stream, peer).await
            }
        }));
        Ok(())
    }

    /// Opens a port for a face; none where the face is off.
    fn open(
        &mut self,
        (name, scheme, path): (&str, &str, &str),
        (bind, port): (IpAddr, Option<u16>),
    ) -> Result<Option<(TcpListener, SocketAddr)>, LabError> {
        let Some(port) = port else { return Ok(None) };
        let error = |error| LabError::Io(format!("open {bind}:{port} for {name}"), error);
        let listener = self.runtime.block_on(TcpListener::bind((bind, port))).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        self.addresses.insert(name.to_owned(), format!("{scheme}://{address}{path}").into());
        Ok(Some((listener, address)))
    }

    /// Serves an HTTP face.
    fn serve(
        &mut self,
        name: &str,
        port: (IpAddr, Option<u16>),
        router: Router,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<(), LabError> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let Some((listener, address)) = self.open((name, scheme, ""), port)? else { return Ok(()) };
        let service = router.into_make_service_with_connect_info::<PeerAddress>();
        self.runtime.spawn(async move {
            let served = match tls {
                None => axum::serve(listener, service).await,
                Some(config) => axum::serve(TlsListener::new(listener, address, config.into()), service).await,
            };
            if let Err(error) = served {
                tracing::error!(%error, %address, "the port is not served any more");
            }
        });
        Ok(())
    }

    /// Serves a face of WebSockets: a task for each connection.
    fn serve_sockets<F: Future<Output = io::Result<()>> + Send + 'static>(
        &mut self,
        (name, path): (&str, &str),
        port: (IpAddr, Option<u16>),
        state: &Arc<BinanceState>,
        serve: fn(Arc<BinanceState>, TcpStream, SocketAddr) -> F,
    ) -> Result<(), LabError> {
        let Some((listener, _)) = self.open((name, if self.tls.is_some() { "wss" } else { "ws" }, path), port)? else {
            return Ok(());
        };
        let state = state.clone();
        self.runtime.spawn(accept_connections(listener, move |stream, peer| serve(state.clone(), stream, peer)));
        Ok(())
    }

    /// Serves a generic FIX face.
    fn serve_fix(
        &mut self,
        bind: IpAddr,
        face: &FixFaceConfig,
        state: &FixFaceState,
        folder: &Path,
    ) -> Result<(), LabError> {
        let port = (bind, face.port);
        let Some((listener, _)) = self.open((face.version.face(), "tcp", ""), port)? else { return Ok(()) };
        let _entered = self.runtime.enter();
        let served = fix_face::serve(face, state, folder, listener, &self.stop_sessions.subscribe());
        self.session_tasks.extend(served.map_err(LabError::Storage)?);
        Ok(())
    }

    /// One line of JSON with the addresses of all faces.
    #[must_use]
    pub fn ready_line(&self) -> String {
        Value::Object(self.addresses.clone()).to_string()
    }

    pub(crate) fn arm(&self, request: &FaultRequest) -> Result<(), String> {
        self.faults.arm(request)
    }

    /// How many faults were injected so far.
    pub(crate) fn injections(&self) -> usize {
        self.faults.list()["injected"].as_array().map_or(0, Vec::len)
    }

    pub(crate) fn ledger(&self) -> Result<Value, LabError> {
        self.runtime.block_on(self.exchange.query(admin::encode_ledger)).map_err(|_| LabError::Exchange)
    }

    /// Ends in order.
    pub(crate) fn stop(self) -> Result<(), LabError> {
        let (_, stop) = oneshot::channel();
        self.run_until(stop)
    }

    /// Serves until `stop` gets a message or its sender is dropped, then ends in order.
    pub fn run_until(self, stop: oneshot::Receiver<()>) -> Result<(), LabError> {
        let Self { runtime, thread, has_ended, exchange, stop_sessions, session_tasks, _lock, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                _ = stop => {}
                _ = has_ended => {}
            }
            stop_sessions.send_replace(true);
            let parting = futures_util::future::join_all(session_tasks);
            // A client that does not answer its Logout is left.
            let _ = tokio::time::timeout(STOP_TIMEOUT, parting).await;
        });
        drop(exchange);
        runtime.shutdown_timeout(STOP_TIMEOUT);
        match thread.join() {
            Ok(ended) => ended.map_err(LabError::Storage),
            Err(_) => Err(LabError::Exchange),
        }
    }
}

/// Accepts connections for ever, each in a task of its own.
async fn accept_connections<F: Future<Output = io::Result<()>> + Send + 'static>(
    listener: TcpListener,
    serve: impl Fn(TcpStream, SocketAddr) -> F,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let connection = serve(stream, peer);
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, %peer, "a connection ended");
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted; the next attempt is in a moment");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Every symbol and its market.
pub(crate) fn market_indexes(config: &LabConfig) -> Arc<BTreeMap<String, usize>> {
    Arc::new(config.setup.symbols.iter().zip(0..).map(|(rules, market)| (rules.name.clone(), market)).collect())
}
