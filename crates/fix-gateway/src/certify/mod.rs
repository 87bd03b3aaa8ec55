//! Certification of a client: we are the counterparty of its session for one run of a documented plan, and report what the client did right.

mod application;
mod counterparty;
mod report;
mod skipping_store;
mod watch;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fix::{Dictionary, FixSession, FixSettings, SessionEngine, SessionSettings};
use fix_net::{Acceptor, SessionClock, TlsWrapper, run_session, session_queue};
use tokio::net::TcpListener;
use tokio::sync::watch as signal;

pub use fix::FixCredentials;
pub use report::{CertificationReport, CertificationStep, CertificationVerdict};

use application::CertifyApplication;
use skipping_store::SkippingStore;

/// Which client is certified, and where it connects to.
#[derive(Debug, Clone)]
pub struct ClientCertification {
    pub bind: IpAddr,
    /// 0 is any free one.
    pub port: u16,
    /// Our CompID.
    pub server_comp_id: String,
    /// That of the client.
    pub client_comp_id: String,
    /// After it the run ends with what was seen.
    pub time_max: Duration,
    /// What the client's Logon must have; none: anything is accepted.
    pub credentials: Option<FixCredentials>,
}

/// Waits for the client and runs the plan with it, until the client has gone or the time is over. Lines are for the operator.
pub fn certify_client(
    request: &ClientCertification,
    tls: Option<TlsWrapper>,
    tell: impl Fn(&str) + Send + 'static,
) -> io::Result<CertificationReport> {
    let settings = Arc::new(settings(request)?);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(request, tls, settings, tell))
}

async fn run(
    request: &ClientCertification,
    tls: Option<TlsWrapper>,
    settings: Arc<SessionSettings>,
    tell: impl Fn(&str) + Send + 'static,
) -> io::Result<CertificationReport> {
    let listener = TcpListener::bind(SocketAddr::new(request.bind, request.port)).await?;
    tell(&opening(request, listener.local_addr()?));
    let (stop, stopped) = signal::channel(false);
    let (handle, queue) = session_queue();
    let store = SkippingStore::new(fix_net::now());
    let (application, outcome) =
        CertifyApplication::new(store.clone(), handle.clone(), request.credentials.clone(), tell);
    let session = FixSession::new(settings.clone(), Some(Dictionary::shared_fix44_with_extensions()), store);
    let engine = SessionEngine::new(session, application);
    let session = tokio::spawn(run_session(engine, queue, None, SessionClock::system(), stopped.clone()));
    let acceptor = tokio::spawn(Acceptor::new(listener, [(settings, handle)], tls).run(stopped));
    // Whether the client has gone or the time is over: the report is what was seen.
    let _ = tokio::time::timeout(request.time_max, outcome.wait()).await;
    stop.send_replace(true);
    let _ = tokio::join!(session, acceptor);
    Ok(outcome.finish())
}

fn opening(request: &ClientCertification, address: SocketAddr) -> String {
    let steps = CertificationStep::ALL.map(|step| format!("  {:16} {}\n", step.name(), step.expects())).concat();
    format!(
        "waiting on {address} for SenderCompID {}, TargetCompID {}\n{steps}",
        request.client_comp_id, request.server_comp_id
    )
}

/// As for a client of the platform: FIX 4.4, every message is checked against the dictionary.
fn settings(request: &ClientCertification) -> io::Result<SessionSettings> {
    let bad = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    for id in [&request.server_comp_id, &request.client_comp_id] {
        if id.is_empty() || id.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return Err(bad(format!("'{}' is no CompID", id.escape_debug())));
        }
    }
    let text = format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort={}\nBeginString=FIX.4.4\nSenderCompID={}\nTargetCompID={}\n\
         NonStopSession=Y\nUseDataDictionary=Y\nValidateIncomingMessage=Y\n",
        request.port, request.server_comp_id, request.client_comp_id
    );
    let parsed = FixSettings::parse(&text);
    let parsed = parsed.map_err(|errors| bad(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    parsed.sessions.into_iter().next().ok_or_else(|| bad("no session".to_owned()))
}
