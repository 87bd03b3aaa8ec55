//! Submission of generic events to the engine: they are published when its journal has them.

use std::time::Duration;

use bus::{Bus, Inbox, JournalStatus, QuotaClient, ReplyReceiver};
use domain::CommandEnvelope;

/// How often a message that is not durable yet looks whether the journal's disk has stalled.
const STALL_LOOK_EVERY: Duration = Duration::from_millis(100);
const JOURNAL_STALLED: &str =
    "journal-stalled: the journal's disk does not answer; whether this is published is known when it answers again";

/// All of them in their order, or why they are not published. While a limit of the client is reached they wait.
pub(crate) async fn submit(bus: &Bus, client: &QuotaClient, envelopes: Vec<CommandEnvelope>) -> Result<(), String> {
    tokio::select! {
        biased;
        outcome = submit_all(&bus.inbox, client, envelopes) => outcome,
        () = stalled(&*bus.journal) => Err(JOURNAL_STALLED.to_owned()),
    }
}

/// Ready when the journal's disk does not answer.
async fn stalled(journal: &dyn JournalStatus) {
    loop {
        tokio::time::sleep(STALL_LOOK_EVERY).await;
        if journal.is_stalled() {
            return;
        }
    }
}

/// All of them in their order, then all answers.
async fn submit_all(inbox: &Inbox, client: &QuotaClient, envelopes: Vec<CommandEnvelope>) -> Result<(), String> {
    let mut answers = Vec::new();
    for envelope in envelopes {
        let allowance = client.acquire(&envelope.command).await;
        let ticket = inbox.command_when_free(envelope, allowance).await;
        answers.push(ticket.map_err(|_| "the server stops".to_owned())?);
    }
    for ticket in answers {
        await_published(ticket).await?;
    }
    Ok(())
}

async fn await_published(ticket: ReplyReceiver) -> Result<(), String> {
    match ticket.recv().await.map(|reply| reply.outcome) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(refusal)) => Err(refusal.to_string()),
        Err(_) => Err("the server stops; whether it was published is not known".to_owned()),
    }
}
