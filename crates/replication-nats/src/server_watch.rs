//! Watch of the servers of the log: whether each of them syncs every write, for as long as a member runs.

use crate::durability;
use crate::nats_client::NatsClient;
use crate::settings::{JetStreamSettings, LogOpenError};
use crate::stream;

pub struct ServerWatch {
    settings: JetStreamSettings,
    /// None before the first check.
    client: Option<NatsClient>,
    /// Monitoring addresses that did not say when they were asked last.
    silent: Vec<String>,
}

impl ServerWatch {
    pub(crate) fn new(settings: JetStreamSettings, silent: Vec<String>) -> Self {
        Self { settings, client: None, silent }
    }

    /// Monitoring addresses of servers that were silent when they were asked last; a minority.
    pub fn silent(&self) -> &[String] {
        &self.silent
    }

    /// Asks every server: one that answered before may have been replaced, and one that was silent may be back. One that does not sync every
    /// write is refused, and so is a holder of the stream whose address is not known: whoever leads must end, because with it a majority
    /// may acknowledge what no disk has.
    pub fn check(&mut self) -> Result<(), LogOpenError> {
        let checked = durability::check(&self.settings, &self.silent)?;
        stream::check_holders(connected(&mut self.client, &self.settings)?, &self.settings, &checked)?;
        if checked.silent.is_empty() && !self.silent.is_empty() {
            tracing::info!("every server of the replicated log says that it syncs every write");
        }
        self.silent = checked.silent;
        Ok(())
    }
}

fn connected<'a>(
    client: &'a mut Option<NatsClient>,
    settings: &JetStreamSettings,
) -> Result<&'a NatsClient, LogOpenError> {
    match client {
        Some(client) => Ok(client),
        none => Ok(none.insert(NatsClient::connect(settings)?)),
    }
}
