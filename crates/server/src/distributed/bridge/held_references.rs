//! Changes of reference data for a process that reconnects. Its welcome has the data of an instant, and its replay has events of
//! its own alone, so a change between the two would be lost: from its hello on they are held until the replay begins.

use domain::EventClass;
use runtime::strategies::protocol::ServerMessage;

use super::send_window::{WAITING_MAX, WindowFull};

#[derive(Debug, Default)]
pub(crate) struct HeldReferences {
    /// Hellos that are not answered.
    hellos: usize,
    awaits_replay: bool,
    /// A change that the welcome has too is harmless: it says the same again.
    held: Vec<ServerMessage>,
}

impl HeldReferences {
    pub(crate) fn on_hello(&mut self) {
        self.hellos += 1;
    }

    pub(crate) fn on_rejected(&mut self) {
        self.hellos = self.hellos.saturating_sub(1);
        if !self.is_holding() {
            self.held.clear();
        }
    }

    pub(crate) fn on_resumed(&mut self) {
        self.hellos = self.hellos.saturating_sub(1);
        self.awaits_replay = true;
    }

    /// Until then events are dropped: the replay contains those of its own.
    pub(crate) fn awaits_replay(&self) -> bool {
        self.awaits_replay
    }

    /// Keeps a message where it is a change of reference data that could be lost. As many as may wait for a process.
    pub(crate) fn hold(&mut self, message: &ServerMessage) -> Result<(), WindowFull> {
        let is_change = matches!(message, ServerMessage::Event { class, .. } if *class == EventClass::Reference as u8);
        if !is_change || !self.is_holding() {
            return Ok(());
        }
        if self.held.len() >= WAITING_MAX {
            return Err(WindowFull);
        }
        self.held.push(message.clone());
        Ok(())
    }

    /// The replay begins: what is to be sent now. Another hello may have been written since, and needs it too.
    pub(crate) fn on_replay(&mut self) -> Vec<ServerMessage> {
        self.awaits_replay = false;
        if self.is_holding() { self.held.clone() } else { std::mem::take(&mut self.held) }
    }

    fn is_holding(&self) -> bool {
        self.awaits_replay || self.hellos > 0
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    fn event(class: EventClass, sequence: u64) -> ServerMessage {
        ServerMessage::Event { sequence, at: Timestamp(0), class: class as u8, payload: vec![] }
    }

    fn hold(held: &mut HeldReferences, sequence: u64) {
        assert!(held.hold(&event(EventClass::Reference, sequence)).is_ok());
    }

    fn sent(held: &mut HeldReferences) -> Vec<u64> {
        let sequence = |message: ServerMessage| match message {
            ServerMessage::Event { sequence, .. } => sequence,
            other => panic!("not an event: {other:?}"),
        };
        held.on_replay().into_iter().map(sequence).collect()
    }

    #[test]
    fn changes_from_the_hello_to_the_replay_are_sent_with_it() {
        let mut held = HeldReferences::default();
        hold(&mut held, 1);
        held.on_hello();
        hold(&mut held, 2);
        assert!(held.hold(&event(EventClass::Transaction, 3)).is_ok());
        held.on_resumed();
        hold(&mut held, 4);
        assert!(held.awaits_replay());
        assert_eq!((sent(&mut held), held.awaits_replay()), (vec![2, 4], false));
        hold(&mut held, 5);
        assert_eq!(sent(&mut held), [0; 0]);
    }

    #[test]
    fn a_hello_that_is_refused_takes_nothing_from_one_that_awaits_its_replay() {
        let mut held = HeldReferences::default();
        held.on_hello();
        held.on_resumed();
        hold(&mut held, 1);
        held.on_hello();
        hold(&mut held, 2);
        held.on_rejected();
        assert_eq!(sent(&mut held), [1, 2]);
        held.on_hello();
        hold(&mut held, 3);
        held.on_rejected();
        assert_eq!(sent(&mut held), [0; 0]);
    }

    #[test]
    fn a_second_hello_during_a_replay_gets_what_was_held_once_more() {
        let mut held = HeldReferences::default();
        held.on_hello();
        held.on_resumed();
        held.on_hello();
        hold(&mut held, 1);
        assert_eq!(sent(&mut held), [1]);
        held.on_resumed();
        assert_eq!(sent(&mut held), [1]);
    }

    #[test]
    fn more_than_may_wait_for_a_process_are_not_held() {
        let mut held = HeldReferences::default();
        held.on_hello();
        (0..WAITING_MAX as u64).for_each(|sequence| hold(&mut held, sequence));
        assert!(held.hold(&event(EventClass::Reference, 0)).is_err());
    }
}
