//! Servers of the benchmark: REST as the server opens it, and bare handlers beside it, on as many threads.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use access::Access;
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use bus::operations::{BrokerEndpoints, HealthCheck, LogLine, ReferenceError, StrategyError};
use bus::past::{PastError, PastPoint};
use bus::{HealthChecks, PastStates, ServerAdmin, StrategyAdmin};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use web::{HttpLimits, WebServices, WebSettings};

use crate::Outcome;
use crate::bench_engine::{BenchEngine, now};

/// The threads of our door, and those of the bare one.
pub(crate) const SERVER: &str = "door";
pub(crate) const BARE: &str = "bare";
/// As many as the server gives its door.
const THREADS: usize = 2;
/// More than any machine sends.
const REQUESTS_PER_SECOND: u32 = 1_000_000_000;

pub(crate) struct BenchServers {
    pub(crate) ours: SocketAddr,
    ours_on: Runtime,
    bare_on: Runtime,
}

impl BenchServers {
    pub(crate) fn open(context: &BenchEngine, folder: &Path) -> Outcome<Self> {
        let (ours_on, bare_on) = (runtime(SERVER)?, runtime(BARE)?);
        let access = Arc::new(Access::open(
            Arc::new(access::UserStore::in_memory(folder)?),
            access::AccessSettings::default(),
            Arc::new(now),
        )?);
        let limits = HttpLimits { requests_per_second: REQUESTS_PER_SECOND, ..HttpLimits::default() };
        let (ours, listener) = listen(&ours_on)?;
        let settings = WebSettings { limits, ..WebSettings::default() };
        let services = services(folder);
        ours_on.spawn(web::serve(listener, context.bus.clone(), services, access, settings, std::future::pending()));
        Ok(Self { ours, ours_on, bare_on })
    }

    /// A handler that has the answer in memory, and nothing else around it.
    pub(crate) fn open_bare(&self, path: &str, body: Vec<u8>) -> Outcome<SocketAddr> {
        let body = Bytes::from(body);
        let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], body) };
        let (bare, listener) = listen(&self.bare_on)?;
        let router = Router::new().route(path, get(answer));
        self.bare_on.spawn(async { axum::serve(listener, router).await });
        Ok(bare)
    }

    pub(crate) fn close(self) {
        self.ours_on.shutdown_background();
        self.bare_on.shutdown_background();
    }
}

/// Nothing around the engine is measured, so nothing is there.
struct NoServices;

fn services(folder: &Path) -> WebServices {
    let none = Arc::new(NoServices);
    WebServices {
        health: none.clone(),
        admin: none.clone(),
        past: none.clone(),
        bars: Arc::new(storage::BarFiles::open(folder.join("bars"), 0)),
        fix_sessions: None,
        strategies: none,
        broker: BrokerEndpoints::default(),
        forwarder: None,
    }
}

impl PastStates for NoServices {
    fn answer(&self, _: PastPoint, _: &domain::Query) -> Result<bus::Reply, PastError> {
        Err(PastError::Failed("no past is kept".to_owned()))
    }
}

impl HealthChecks for NoServices {
    fn checks(&self) -> Vec<HealthCheck> {
        vec![]
    }
}

impl ServerAdmin for NoServices {
    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shutdown(&self) {}

    fn load_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceError> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        vec![]
    }
}

impl StrategyAdmin for NoServices {
    fn start(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }

    fn stop(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }
}

fn runtime(name: &'static str) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(THREADS).thread_name(name).enable_all().build()
}

fn listen(runtime: &Runtime) -> std::io::Result<(SocketAddr, TcpListener)> {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    Ok((listener.local_addr()?, listener))
}
