//! Broker settings: rates of topics, and destinations to which clients may send.

use broker::{DestinationPattern, Rate};

use super::setting::{Literal, Setting};

/// Events per second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRate {
    pub rate: Rate,
    text: String,
}

impl Setting for EventRate {
    const LITERAL: Literal = Literal::Bare;

    fn shape() -> String {
        "a decimal above 0, up to 1000000, with at most six digits behind the point".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let rate = text.parse().map_err(|_| format!("'{text}' is not {}", Self::shape()))?;
        Ok(Self { rate, text: text.to_owned() })
    }

    fn show(&self) -> String {
        self.text.clone()
    }
}

/// Topics or queues that clients may send to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientDestination(pub DestinationPattern);

impl Setting for ClientDestination {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a pattern of topics or queues, such as /topic/generic-event.> or /queue/tasks.*".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        DestinationPattern::parse(text).map(Self).map_err(|_| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        self.0.text().to_owned()
    }
}
