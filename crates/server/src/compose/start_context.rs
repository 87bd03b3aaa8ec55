//! What a server has before its engine: folder, signals, users that an older version left; and what it says when it serves.

use std::sync::Arc;

use access::OldFileSummary;
use crossbeam_channel::{Receiver, Sender, bounded};
use fix_gateway::FixSessionFile;

use super::administration;
use super::servers::broker_server::BrokerServer;
use super::servers::fix::FixServer;
use super::servers::web_server::WebServer;
use crate::cluster::cluster_state::ClusterState;
use crate::config::Config;
use crate::control;
use crate::data_dir::DataDir;
use crate::data_dir::server_file::ServerFile;
use crate::exit_failure::{Exit, ExitFailure};
use crate::ready_line::Endpoints;
use crate::signals;
use crate::tls::{Certificate, CertificateSource};

pub(super) struct StartContext {
    pub(super) data_dir: DataDir,
    pub(super) old_users: OldFileSummary,
    pub(super) stop: Sender<()>,
    pub(super) stopped: Receiver<()>,
    pub(super) kill_signals: control::Signals,
}

impl StartContext {
    pub(super) fn open(config: &Config) -> Result<Self, ExitFailure> {
        CertificateSource::of(config)?.check()?;
        let data_dir = DataDir::open(config)?;
        ServerFile::clear(data_dir.lock.folder())?;
        let old_users = administration::check(config, data_dir.lock.folder())?;
        let (stop, stopped) = stop_requests()?;
        Ok(Self { data_dir, old_users, stop, stopped, kill_signals: kill_signals()? })
    }
}

pub(super) fn print_ready_line(endpoints: &Endpoints) -> Result<(), ExitFailure> {
    let failed = |error| ExitFailure::new(Exit::Failed, format!("can't print the ready line: {error}"));
    endpoints.print().map_err(failed)
}

/// Where a stop is asked for, by a signal too, and where it is read.
fn stop_requests() -> Result<(Sender<()>, Receiver<()>), ExitFailure> {
    let (stop, stopped) = bounded(1);
    let ask_to_stop = stop.clone();
    // A stop that was asked for already is as good.
    signals::on_stop(move || ask_to_stop.try_send(()).unwrap_or(()))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    Ok((stop, stopped))
}

/// Taken before the engine runs, so that none is lost; one that waits already is as good.
fn kill_signals() -> Result<control::Signals, ExitFailure> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    signals::on_kill(move || sender.try_send(()).unwrap_or(()))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    Ok(receiver)
}

/// One certificate for every port that speaks TLS; none where no port does.
pub(super) fn certificate(
    config: &Config,
    fix: Option<&FixSessionFile>,
) -> Result<Option<Arc<Certificate>>, ExitFailure> {
    let [tcp, tls, _] = config.broker_addresses();
    let is_wanted = config.https_address().or(tcp).or(tls).is_some() || fix.is_some_and(FixSessionFile::use_tls);
    is_wanted.then(|| Certificate::open(CertificateSource::of(config)?)).transpose()
}

pub(super) fn endpoints(
    web: &WebServer,
    topics: &BrokerServer,
    fix: Option<&FixServer>,
    cluster: Option<&ClusterState>,
) -> Endpoints {
    Endpoints {
        http: web.http,
        https: web.https,
        broker_tcp: topics.tcp,
        broker_tls: topics.tls,
        broker_ws: topics.ws,
        fix: fix.map(|fix| fix.address),
        fix_uses_tls: fix.is_some_and(|fix| fix.uses_tls),
        cluster: cluster.map(ClusterState::view).map(|view| (view.role.name(), view.epoch)),
    }
}
