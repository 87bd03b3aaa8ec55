//! Connections between clients and the platform: slow, cut, half-open, or with every request twice.

use domain::CommandEnvelope;

use super::SimulatedRun;
use crate::client::Intent;
use crate::schedule::LinkFault;

impl SimulatedRun {
    pub(super) fn send(&mut self, client: usize, intent: Intent, envelope: CommandEnvelope) {
        let now = self.now();
        match self.links.fault_of(client, now) {
            None => self.deliver(client, intent, envelope),
            Some(LinkFault::Duplicates) => {
                self.deliver(client, intent.clone(), envelope.clone());
                self.deliver(client, intent, envelope);
            }
            Some(LinkFault::Slow) => {
                self.trace.line(format_args!("{} sends over a slow line: {intent}", self.clients[client].name()));
                self.links.hold_back(now, client, intent, envelope);
            }
            Some(LinkFault::LosesRequests) => {
                self.trace.line(format_args!("{} sends into a dead line: {intent}", self.clients[client].name()));
                self.clients[client].note_unknown(intent);
            }
            Some(LinkFault::LosesReplies) => {
                self.trace.line(format_args!("{} asks and is cut off: {intent}", self.clients[client].name()));
                let platform = self.platform.as_ref().filter(|platform| platform.is_started());
                // The reply goes nowhere.
                let is_sent = platform.is_some_and(|platform| platform.inbox.command(envelope).is_ok());
                self.trace.line(if is_sent { "  it arrived" } else { "  it did not arrive" });
                self.clients[client].note_unknown(intent);
                self.wake_loop();
            }
        }
    }

    /// Requests that a slow connection has held back.
    pub(super) fn deliver_late(&mut self) {
        for request in self.links.take_due(self.now()) {
            self.deliver(request.client, request.intent, request.envelope);
        }
    }

    fn deliver(&mut self, client: usize, intent: Intent, envelope: CommandEnvelope) {
        let client = &mut self.clients[client];
        let sent = self.platform.as_ref().filter(|platform| platform.is_started());
        let sent = sent.and_then(|platform| platform.inbox.command(envelope).ok());
        let (name, hint) = (client.name(), if sent.is_some() { "asks" } else { "finds no platform" });
        self.trace.line(format_args!("{name} {hint}: {intent}"));
        client.note(intent, sent);
        self.wake_loop();
    }
}
