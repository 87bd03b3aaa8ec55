//! The bus, as handlers use it: ask or tell, and wait for the reply no longer than is reasonable.

use std::sync::Arc;

use bus::{Bus, Closed, Reply, Ticket};
use domain::{Answer, Caller, Command, Envelope, Query, ReferenceData};

use crate::Settings;
use crate::problem::Problem;

#[derive(Clone)]
pub(crate) struct Doors(Arc<Inner>);

struct Inner {
    bus: Bus,
    settings: Settings,
}

/// An answer with the sequence up to which it is true.
pub(crate) struct Told {
    pub(crate) sequence: u64,
    pub(crate) answer: Answer,
}

impl Doors {
    pub(crate) fn new(bus: Bus, settings: Settings) -> Self {
        Self(Arc::new(Inner { bus, settings }))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn reference(&self) -> Arc<ReferenceData> {
        self.0.bus.catalogue.now()
    }

    pub(crate) fn operations(&self) -> &dyn bus::Operations {
        &*self.0.bus.operations
    }

    /// A question: when nobody answers, nothing has happened.
    pub(crate) async fn ask(&self, query: Query) -> Result<Told, Problem> {
        let ticket = self.0.bus.inbox.query(query).map_err(not_taken)?;
        let reply = self.reply(ticket).await.ok_or_else(|| Problem::new("stopping", "the engine gave no answer"))?;
        told(reply)
    }

    /// A command: the reply means that it is durable. Without a reply nobody knows, and the answer says so.
    pub(crate) async fn tell(&self, caller: Caller, command: Command) -> Result<Told, Problem> {
        let ticket = self.0.bus.inbox.command(Envelope { caller, command }).map_err(not_taken)?;
        let reply = self.reply(ticket).await.ok_or_else(|| {
            Problem::new(
                "outcome-unknown",
                "no answer came, so it is not known whether this took effect; look an order up by its intId before \
                 sending it again, or send it again with the same intId",
            )
        })?;
        told(reply)
    }

    async fn reply(&self, ticket: Ticket) -> Option<Reply> {
        let patience = self.settings().limits.request_timeout;
        tokio::time::timeout(patience, ticket.reply()).await.ok()?.ok()
    }
}

fn told(reply: Reply) -> Result<Told, Problem> {
    let answer = reply.outcome.map_err(Problem::from)?;
    Ok(Told { sequence: reply.sequence, answer })
}

fn not_taken(closed: Closed) -> Problem {
    match closed {
        Closed::Busy => Problem::new("busy", "too many requests wait; this one had no effect, try again"),
        Closed::Stopped => Problem::new("stopping", "the server is stopping; this request had no effect"),
    }
}
