//! Input and output of one step: sequence and time of the input that is being applied, and the events and instructions that it
//! causes. The runtime holds these until the input is durable.

use std::sync::Arc;

use domain::event::{Alarm, AlarmLevel};
use domain::{AdapterName, Event, Instruction, Sequenced, Timestamp};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    pub events: Vec<Event>,
    pub instructions: Vec<(AdapterName, Instruction)>,
}

impl Outbox {
    pub fn publish(&mut self, event: Event) {
        self.events.push(event);
    }

    pub fn instruct(&mut self, adapter: &AdapterName, instruction: Instruction) {
        self.instructions.push((adapter.clone(), instruction));
    }

    pub fn warn(&mut self, code: &'static str, text: String) {
        self.alarm(AlarmLevel::Warn, code, text);
    }

    pub fn error(&mut self, code: &'static str, text: String) {
        self.alarm(AlarmLevel::Error, code, text);
    }

    fn alarm(&mut self, level: AlarmLevel, code: &'static str, text: String) {
        self.publish(Event::Alarm(Arc::new(Alarm { level, code: code.into(), text: text.into() })));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
}

impl<T> From<&Sequenced<T>> for Moment {
    fn from(stamped: &Sequenced<T>) -> Self {
        Self { sequence: stamped.sequence, at: stamped.at }
    }
}
