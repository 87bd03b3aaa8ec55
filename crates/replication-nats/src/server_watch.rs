//! Watch of the servers of the log: whether each of them syncs every write, for as long as a member runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::durability;
use crate::nats_client::NatsClient;
use crate::settings::{JetStreamSettings, LogOpenError};
use crate::stream;

/// A server that is restarted, or replaced, answers before.
const UNVERIFIED_AFTER: Duration = Duration::from_secs(60);

pub struct ServerWatch {
    settings: JetStreamSettings,
    /// None before the first check.
    client: Option<NatsClient>,
    /// Monitoring addresses that did not say when they were asked last.
    silent: Vec<String>,
    /// Servers that acknowledge entries and did not say whether they sync, and since when.
    unverified: BTreeMap<String, Instant>,
}

impl ServerWatch {
    pub(crate) fn new(settings: JetStreamSettings, silent: Vec<String>) -> Self {
        Self { settings, client: None, silent, unverified: BTreeMap::new() }
    }

    /// Monitoring addresses of servers that were silent when they were asked last; a minority.
    pub fn silent(&self) -> &[String] {
        &self.silent
    }

    /// Names of servers that acknowledge entries and have not said for a minute whether they sync every write; at most a minority.
    pub fn unverified(&self, now: Instant) -> Vec<String> {
        let is_long = |since: Instant| now.saturating_duration_since(since) >= UNVERIFIED_AFTER;
        self.unverified.iter().filter(|(_, since)| is_long(**since)).map(|(name, _)| name.clone()).collect()
    }

    fn note_unverified(&mut self, found: BTreeSet<String>, now: Instant) {
        self.unverified.retain(|name, _| found.contains(name));
        for name in found {
            self.unverified.entry(name).or_insert(now);
        }
    }

    /// Asks every server: one that answered before may have been replaced, and one that was silent may be back. One that does not sync every
    /// write is refused, and so is a holder of the stream whose address is not known: whoever leads must end, because with it a majority
    /// may acknowledge what no disk has.
    pub fn check(&mut self) -> Result<(), LogOpenError> {
        let checked = durability::check(&self.settings, &self.silent)?;
        let client = connected(&mut self.client, &self.settings)?;
        let unverified = stream::check_holders(client, &self.settings, &checked)?;
        self.note_unverified(unverified, Instant::now());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_unverified_when_it_did_not_say_for_a_minute_whether_it_syncs() {
        let settings = JetStreamSettings::new(vec![], vec![], "log");
        let (mut watch, begin) = (ServerWatch::new(settings, vec![]), Instant::now());
        let named = |name: &str| BTreeSet::from([name.to_owned()]);
        let after = |seconds| begin + Duration::from_secs(seconds);
        watch.note_unverified(named("n2"), begin);
        watch.note_unverified(named("n2"), after(45));
        assert_eq!(watch.unverified(after(59)), Vec::<String>::new(), "it may be restarted");
        assert_eq!(watch.unverified(after(60)), ["n2"]);
        watch.note_unverified(BTreeSet::new(), after(75));
        assert_eq!(watch.unverified(after(75)), Vec::<String>::new(), "it has said so");
        watch.note_unverified(named("n2"), after(90));
        assert_eq!(watch.unverified(after(100)), Vec::<String>::new(), "a minute counts from when it fell silent");
    }
}
