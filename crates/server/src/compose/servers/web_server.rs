//! Web server: HTTP and HTTPS, on a runtime of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::{fmt, io};

use access::Access;
use bus::Bus;
use replication_nats::MemberService;
use storage::journal::InstanceId;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, oneshot};
use web::{HttpLimits, HttpListeners, HttpsListener, UiFiles, WebServices, WebSettings};

use super::broker_server::BrokerServer;
use crate::cluster::command_forwarding::ForwardedCommands;
use crate::compose::servers::{bind, bind_failure};
use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use crate::signals;
use crate::tls::Certificate;

/// Threads that serve connections; the engine and the journal want the rest of the machine.
const WEB_THREADS: usize = 2;

pub(crate) struct WebServer {
    pub(crate) http: Option<SocketAddr>,
    pub(crate) https: Option<SocketAddr>,
    runtime: Runtime,
    close: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<io::Result<()>>,
    /// Commands that followers forward.
    service: Option<MemberService>,
}

impl WebServer {
    pub(crate) fn open(
        config: &Config,
        connections: usize,
        (bus, services, journal): (&Bus, WebServices, InstanceId),
        access: Arc<Access>,
        certificate: Option<&Arc<Certificate>>,
        topics: &BrokerServer,
        forwarded: Option<ForwardedCommands>,
    ) -> Result<Self, ExitFailure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WEB_THREADS)
            .enable_all()
            .build()
            .map_err(|error| bind_failure("start the web threads", &error))?;
        let http = config.http_address().map(|wanted| bind(&runtime, wanted, "http.port")).transpose()?;
        let https = config.https_address().zip(certificate.cloned());
        let https = https.map(|(wanted, certificate)| open_https(&runtime, wanted, certificate)).transpose()?;
        if let Some(certificate) = certificate {
            watch_certificate(&runtime, certificate)?;
        }
        let ((http, http_listener), (https, https_listener)) = (http.unzip(), https.unzip());
        let (forwarded, service) = forwarded.map(|ForwardedCommands { calls, service, .. }| (calls, service)).unzip();
        let listeners = HttpListeners { http: http_listener, https: https_listener, forwarded };
        let (close, closed) = oneshot::channel::<()>();
        let settings = settings(config, connections, topics, ui_files(config)?);
        let settings = WebSettings { journal: format!("{:032x}", u128::from_be_bytes(journal.0)), ..settings };
        let serving = web::serve(listeners, bus.clone(), services, access, settings, async { drop(closed.await) });
        let served = runtime.spawn(serving);
        Ok(Self { http, https, runtime, close, served, service })
    }

    /// Finishes what has begun.
    pub(crate) fn close(self) {
        drop(self.service);
        // A port that closed by itself no longer listens.
        self.close.send(()).unwrap_or(());
        drop(self.runtime.block_on(self.served));
    }
}

impl fmt::Display for WebServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = |scheme, port: Option<SocketAddr>| port.map(|address| format!("{scheme}://{address}"));
        let urls: Vec<_> = [url("http", self.http), url("https", self.https)].into_iter().flatten().collect();
        f.write_str(&urls.join(" and "))
    }
}

fn settings(config: &Config, connections: usize, topics: &BrokerServer, screen: UiFiles) -> WebSettings {
    let requests_per_second = u32::try_from(config.http_requests_per_second.0).expect("the key's type has a range");
    WebSettings {
        limits: HttpLimits { requests_per_second, connections, ..HttpLimits::default() },
        hosts: config.hosts(),
        ports: topics.ws.iter().map(SocketAddr::port).collect(),
        allowed_origins: config.http_allowed_origins.iter().map(|origin| origin.0.clone()).collect(),
        venues: config.venue_facts(),
        journal: String::new(),
        others: topics.route().merge(screen.router()),
    }
}

fn ui_files(config: &Config) -> Result<UiFiles, ExitFailure> {
    let Some(folder) = &config.ui_dir else { return Ok(UiFiles::BuiltIn) };
    UiFiles::from_folder(folder.clone()).map_err(|reason| ExitFailure::new(Exit::Refused, format!("ui.dir: {reason}")))
}

fn open_https(
    runtime: &Runtime,
    wanted: SocketAddr,
    certificates: Arc<Certificate>,
) -> Result<(SocketAddr, HttpsListener), ExitFailure> {
    let (address, listener) = bind(runtime, wanted, "https.port")?;
    Ok((address, HttpsListener { listener, certificates }))
}

/// The certificate is looked at now and then, and on a hang-up signal; for every port that shows it.
fn watch_certificate(runtime: &Runtime, certificate: &Arc<Certificate>) -> Result<(), ExitFailure> {
    let asked = Arc::new(Notify::new());
    let ask = asked.clone();
    signals::on_hangup(move || ask.notify_one()).map_err(|error| bind_failure("listen for signals", &error))?;
    runtime.spawn(certificate.clone().watch_files(asked));
    Ok(())
}
