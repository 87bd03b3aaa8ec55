//! Reference data while the server runs: the files are read again, and only what differs is told to the engine.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bus::operations::ReferenceError;
use bus::{Catalogue, Inbox};
use domain::command::{Command, MarketDataSubscription, ReferenceChange};
use domain::{Caller, CommandEnvelope, ReferenceData, StrategyId};

use super::venues::ImportListeners;
use crate::config::ReferencePath;
use crate::reference;

pub(super) struct ReferenceImporter {
    configured: Option<ReferencePath>,
    inbox: Inbox,
    catalogue: Catalogue,
    venues: ImportListeners,
    /// Two that compared with the same picture would tell the engine the same things twice.
    one_at_a_time: Mutex<()>,
}

impl ReferenceImporter {
    /// The venues receive what is imported.
    pub(super) fn new(
        configured: Option<ReferencePath>,
        inbox: Inbox,
        catalogue: Catalogue,
        venues: ImportListeners,
    ) -> Self {
        Self { configured, inbox, catalogue, venues, one_at_a_time: Mutex::default() }
    }

    /// Without a folder and without a configured one there is nothing to read, and nothing differs.
    pub(super) fn read(&self, folder: Option<&Path>) -> Result<usize, ReferenceError> {
        let named = folder.map(|folder| ReferencePath::Folder(folder.to_owned()));
        let Some(path) = named.or_else(|| self.configured.clone()) else { return Ok(0) };
        let reference = reference::read(&path)
            .map_err(|problems| ReferenceError::Files(problems.to_string().lines().map(ToOwned::to_owned).collect()))?;
        // Nothing is kept under the lock.
        let _turn = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.catalogue.current();
        let changes = reference::differences(&current, &reference.data);
        let quotes = reference.opening_quotes();
        for venue in &self.venues {
            venue.on_import(&current, &reference.data, &quotes);
        }
        self.apply(&current, &changes)?;
        Ok(changes.len())
    }

    fn apply(&self, current: &ReferenceData, changes: &[ReferenceChange]) -> Result<(), ReferenceError> {
        for envelope in reference::commands(changes) {
            self.command(envelope)?;
        }
        for wish in new_subscriptions(current, changes) {
            self.command(CommandEnvelope { caller: Caller::platform(), command: Command::Subscribe(wish) })?;
        }
        Ok(())
    }

    fn command(&self, envelope: CommandEnvelope) -> Result<(), ReferenceError> {
        let ticket = self.inbox.command(envelope).map_err(|_| ReferenceError::Unanswered)?;
        let reply = ticket.recv_blocking().map_err(|_| ReferenceError::Unanswered)?;
        reply.outcome.map(drop).map_err(ReferenceError::Refused)
    }
}

/// The server itself wants the prices of every security, so also of those that are new.
fn new_subscriptions(
    current: &ReferenceData,
    changes: &[ReferenceChange],
) -> impl Iterator<Item = MarketDataSubscription> {
    changes.iter().filter_map(|change| match change {
        ReferenceChange::Security(security) if !current.securities.contains_key(&security.id) => {
            Some(MarketDataSubscription { strategy: StrategyId::SERVER, security: security.id })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bus::inbox::{InboxReceiver, inbox};
    use bus::{Reply, RequestPayload};
    use domain::{Answer, Refusal, SecurityId};

    use super::*;

    fn importer(current: ReferenceData) -> (ReferenceImporter, InboxReceiver) {
        let ((inbox, lanes), catalogue) = (inbox(), Catalogue::default());
        catalogue.replace(Arc::new(current));
        (ReferenceImporter::new(Some(ReferencePath::Demo), inbox, catalogue, ImportListeners::default()), lanes)
    }

    /// Answers whatever is asked, and tells what it was.
    fn answer(lanes: &InboxReceiver, outcome: impl Fn() -> Result<Answer, Refusal>) -> Vec<Command> {
        let mut heard = Vec::new();
        for request in &lanes.requests {
            request.reply_to.send(Reply { sequence: 1, outcome: outcome() });
            if let RequestPayload::Command(envelope) = request.payload {
                heard.push(envelope.command);
            }
        }
        heard
    }

    fn imported(current: ReferenceData) -> (Result<usize, ReferenceError>, Vec<Command>) {
        let (importer, lanes) = importer(current);
        let engine = std::thread::spawn(move || answer(&lanes, || Ok(Answer::Done)));
        let outcome = importer.read(None);
        drop(importer);
        (outcome, engine.join().unwrap())
    }

    #[test]
    fn what_does_not_differ_is_not_told() {
        assert_eq!(imported(reference::demo().data), (Ok(0), vec![]));
    }

    #[test]
    fn a_security_that_is_new_is_told_and_its_prices_are_wanted() {
        let mut known = reference::demo().data;
        let missing = known.securities.remove(&SecurityId(1)).unwrap();
        let wish = MarketDataSubscription { strategy: StrategyId::SERVER, security: SecurityId(1) };
        let change = ReferenceChange::Security(missing.as_ref().clone());
        assert_eq!(imported(known), (Ok(1), vec![Command::Reference(vec![change]), Command::Subscribe(wish)]));
    }

    #[test]
    fn a_folder_that_cannot_be_used_changes_nothing() {
        let (importer, lanes) = importer(ReferenceData::default());
        let Err(ReferenceError::Files(lines)) = importer.read(Some(Path::new("nowhere"))) else { panic!("refused") };
        assert_eq!(lines[0], "nowhere/exchanges.csv: cannot be read: No such file or directory (os error 2)");
        assert!(lanes.requests.is_empty());
    }

    #[test]
    fn an_engine_that_refuses_or_is_gone_is_told() {
        let (first, lanes) = importer(ReferenceData::default());
        let engine = std::thread::spawn(move || answer(&lanes, || Err(Refusal::AmountTooLarge)));
        assert_eq!(first.read(None), Err(ReferenceError::Refused(Refusal::AmountTooLarge)));
        drop(first);
        engine.join().unwrap();
        let (second, lanes) = importer(ReferenceData::default());
        drop(lanes);
        assert_eq!(second.read(None), Err(ReferenceError::Unanswered));
    }
}
