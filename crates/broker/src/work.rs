//! Actions of a STOMP session, executed in order. While one waits (login, journal), no further frame of this client is
//! processed, so a RECEIPT confirms its frame and all before it.

use std::future::ready;
use std::mem;

use access::{Actor, Credentials, Door, Identity, Role, Visit};
use bus::{Client, Inbox, Ticket};
use domain::{Caller, Command, Envelope, Source};
use stomp::session::{self, Publication, Work};
use stomp::{Action, Kind, Time};

use crate::connection::{Answered, Connection, Pending, Shown};
use crate::ending::End;
use crate::places::Taken;
use crate::rights::rights;
use crate::translate;
use crate::transport::Transport;

/// Header of a strategy's message to a queue: the strategy that its credentials are bound to.
const STRATEGY_HEADER: &str = "strategy";

/// A part of the server acts with all permissions.
const INSIDER: Identity = Identity { name: None, role: Role::Admin };

/// Why an action failed, and the receipt of its frame.
type Refused = (String, Option<String>);

impl<T: Transport> Connection<T> {
    /// Executes what can be executed now.
    pub(super) fn perform(&mut self, now: Time) {
        while self.pending.is_none()
            && let Some(action) = self.actions.pop_front()
        {
            if let Err((text, receipt)) = self.perform_one(now, action) {
                self.refuse(&text, receipt.as_deref());
            }
        }
    }

    /// The session ends; its pending actions are dropped.
    pub(super) fn refuse(&mut self, text: &str, receipt: Option<&str>) {
        let mut last_words = Vec::new();
        self.session.refuse(text, receipt, &mut last_words);
        if !last_words.is_empty() {
            self.actions.clear();
        }
        self.follow(last_words);
    }

    pub(super) fn perform_one(&mut self, now: Time, action: Action) -> Result<(), Refused> {
        match action {
            // A full control lane still accepts the final frame.
            Action::Send(frame) => {
                self.lanes.control(frame).map_err(|slow| {
                    self.place.mailbox.end(End::Slow(slow));
                    (slow.to_string(), None)
                })?;
            }
            Action::Authenticate(credentials) => self.pending = Some(self.authenticate(credentials)),
            Action::Subscribe(subscription) => {
                if let Some(after) = subscription.after {
                    self.begin_replay(subscription, after);
                    return Ok(());
                }
                self.takes_from_queues |= subscription.patterns.iter().any(|pattern| pattern.kind() == Kind::Queue);
                let (key, no_local) = (subscription.key, subscription.no_local);
                let begun = self.place.subscribe(subscription).map_err(|full| (full, None))?;
                self.session.subscriptions().hear(key, begun.since, no_local);
                self.snapshots.extend(begun.snapshots);
            }
            Action::Unsubscribe(key) => {
                self.snapshots.retain(|snapshot| snapshot.subscription != key);
                self.end_replay(key);
                self.place.unsubscribe(key);
                self.lanes.forget(key);
            }
            Action::Perform { work, receipt } => self.commit(now, vec![work], receipt)?,
            Action::Commit { work, receipt } => self.commit(now, work, receipt)?,
            Action::Forbidden { command, destination } => {
                self.pending = Some(self.audit(format!("{} {destination}", command.name())));
            }
            Action::Close(closing) => self.close(&closing),
        }
        Ok(())
    }

    /// Credentials in CONNECT win over those of the WebSocket upgrade.
    fn authenticate(&mut self, shown: session::Credentials) -> Pending {
        let (login, passcode) = (shown.login.unwrap_or_default(), shown.passcode.unwrap_or_default());
        let before = mem::replace(&mut self.visitor.shown, Shown::Nothing);
        let credentials = match before {
            Shown::Insider => return Box::pin(ready(Answered::Admitted(INSIDER, None))),
            Shown::Credentials(before) if login.is_empty() && passcode.is_empty() => before,
            Shown::Nothing if login.is_empty() && passcode.is_empty() => Credentials::Anonymous,
            _ => self.login(login, passcode),
        };
        let (access, visit) = (self.house.access.clone(), self.visit("CONNECT"));
        Box::pin(async move {
            match access.admit(credentials, &visit).await {
                Ok((identity, pass)) => Answered::Admitted(identity, Some(pass)),
                Err(denied) => Answered::Refused(denied.to_string(), None),
            }
        })
    }

    /// Many clients send a default login (guest/guest). While no users are configured it is treated as anonymous; a
    /// token is checked always.
    fn login(&self, login: String, passcode: String) -> Credentials {
        match Credentials::login(login, passcode.into()) {
            Credentials::Password { .. } if self.house.access.has_users().is_ok_and(|has| !has) => {
                Credentials::Anonymous
            }
            shown => shown,
        }
    }

    fn visit(&self, action: &'static str) -> Visit {
        Visit { door: Door::Broker, peer: self.visitor.peer, action: action.into() }
    }

    /// The refusal is audited before it is sent.
    fn audit(&self, detail: String) -> Pending {
        let user = self.identity.as_ref().and_then(|identity| identity.name.clone());
        let (access, actor) = (self.house.access.clone(), Actor { user, visit: self.visit("STOMP") });
        Box::pin(async move {
            access.refused(&actor, "forbidden-destination", &detail).await;
            Answered::Done
        })
    }

    pub(super) fn answered(&mut self, now: Time, answered: Answered) {
        match answered {
            Answered::Done => {}
            Answered::Refused(text, receipt) => self.refuse(&text, receipt.as_deref()),
            Answered::Admitted(identity, pass) => {
                pass.into_iter().for_each(|pass| self.place.admit(pass));
                self.taken.iter_mut().for_each(Taken::keep);
                self.transport.admit();
                let rights = rights(&identity.role, &self.house.client_destinations, self.house.distributed);
                self.identity = Some(identity);
                let mut actions = Vec::new();
                self.session.admit(now, rights.into(), &mut actions);
                self.follow(actions);
            }
        }
    }

    /// A transaction is atomic: everything that can be refused is checked before anything is executed.
    fn commit(&mut self, now: Time, work: Vec<Work>, receipt: Option<String>) -> Result<(), Refused> {
        let refused = |text: String| (text, receipt.clone());
        let for_queues = work.iter().filter_map(|work| match work {
            Work::Publish(sent) if sent.destination.kind() == Kind::Queue => {
                Some((sent.destination.name(), sent.body.len()))
            }
            _ => None,
        });
        self.place.check_queues(for_queues).map_err(refused)?;
        let mut envelopes = Vec::new();
        for work in &work {
            if let Some(sent) = for_the_engine(work) {
                envelopes.push(self.envelope(sent).map_err(refused)?);
            }
        }
        for work in work {
            self.do_work(now, work).map_err(refused)?;
        }
        self.command(envelopes, receipt);
        Ok(())
    }

    fn envelope(&self, sent: &Publication) -> Result<Envelope, String> {
        let event = translate::to_domain(sent, &self.house.bus.catalogue.now())?;
        let user = self.identity.as_ref().and_then(|identity: &Identity| identity.name.clone());
        // A generic event has the source strategy, whatever client sends it.
        let caller = Caller { source: Source::Strategy, user, origin: None };
        Ok(Envelope { caller, command: Command::Publish(event) })
    }

    fn do_work(&mut self, now: Time, work: Work) -> Result<(), String> {
        match work {
            Work::Publish(sent) if translate::is_generic_event(&sent.destination) => {}
            Work::Publish(sent) if sent.destination.kind() == Kind::Topic => self.place.send_to_topic(now, &sent),
            Work::Publish(sent) => return self.place.send_to_queue(&self.signed(sent)),
            Work::Settle { subscription, tokens } => self.place.settle(subscription, &tokens),
            Work::Return { subscription, tokens } => self.place.give_back(subscription, &tokens),
        }
        Ok(())
    }

    /// The consumer of a strategy's requests identifies the strategy by this header, which a client cannot forge.
    fn signed(&self, mut sent: Publication) -> Publication {
        let role = self.identity.as_ref().map(|identity| &identity.role);
        if let Some(strategy) = role.and_then(Role::strategy) {
            sent.headers = sent.headers.first_of_each(|name| name != STRATEGY_HEADER);
            sent.headers.push(STRATEGY_HEADER, strategy);
        }
        sent
    }

    /// Waits until the engine's journal has them; then they are published. While a limit is reached they wait, and
    /// nothing more is read from the client.
    fn command(&mut self, envelopes: Vec<Envelope>, receipt: Option<String>) {
        if envelopes.is_empty() {
            return;
        }
        for envelope in &envelopes {
            if let Command::Publish(event) = &envelope.command {
                self.place.expect(event.clone());
            }
        }
        let user = self.identity.as_ref().and_then(|identity| identity.name.as_ref());
        let inbox = self.house.bus.inbox.clone();
        let client = inbox.quotas().session(user, self.visitor.peer);
        self.pending = Some(Box::pin(async move { hand_over(&inbox, &client, envelopes, receipt).await }));
    }
}

fn for_the_engine(work: &Work) -> Option<&Publication> {
    match work {
        Work::Publish(sent) if translate::is_generic_event(&sent.destination) => Some(sent),
        _ => None,
    }
}

/// All of them in their order, then all answers.
async fn hand_over(inbox: &Inbox, client: &Client, envelopes: Vec<Envelope>, receipt: Option<String>) -> Answered {
    let mut answers = Vec::new();
    for envelope in envelopes {
        let allowance = client.admit(&envelope.command).await;
        match inbox.command_when_free(envelope, allowance).await {
            Ok(ticket) => answers.push(ticket),
            Err(_) => return Answered::Refused("the server stops".to_owned(), receipt),
        }
    }
    for ticket in answers {
        if let Err(text) = published(ticket).await {
            return Answered::Refused(text, receipt);
        }
    }
    Answered::Done
}

async fn published(ticket: Ticket) -> Result<(), String> {
    match ticket.reply().await.map(|reply| reply.outcome) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(refusal)) => Err(refusal.to_string()),
        Err(_) => Err("the server stops; whether it was published is not known".to_owned()),
    }
}
