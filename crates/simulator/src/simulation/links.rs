//! Connections between clients and the platform: slow, cut, half-open, or with every request twice.

use domain::CommandEnvelope;

use super::SimulatedRun;
use crate::client::PendingAnswer;
use crate::http_clients::HttpTicket;
use crate::request_log::Intent;
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
                // The reply goes nowhere.
                let is_sent = self.hand_in(client, envelope).is_some();
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
        let sent = self.hand_in(client, envelope);
        let client = &mut self.clients[client];
        let (name, hint) = (client.name(), if sent.is_some() { "asks" } else { "finds no platform" });
        self.trace.line(format_args!("{name} {hint}: {intent}"));
        client.note(intent, sent);
        self.wake_loop();
    }

    /// Over HTTP or by the inbox; none where the platform does not take it.
    fn hand_in(&mut self, client: usize, envelope: CommandEnvelope) -> Option<PendingAnswer> {
        let platform = self.platform.as_ref().filter(|platform| platform.is_started())?;
        let is_http = self.machine.traits.http_trader == Some(client);
        let over_http =
            platform.http.as_ref().filter(|_| is_http).zip(self.clients[client].over_http(&envelope.command));
        if let Some((port, request)) = over_http {
            let ticket = HttpTicket::arrived(port.send(request));
            self.http_at = self.now();
            return Some(PendingAnswer::Http(ticket));
        }
        platform.inbox.command(envelope).ok().map(PendingAnswer::Inbox)
    }
}
