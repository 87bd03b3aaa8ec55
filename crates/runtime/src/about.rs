//! Classification of requests and inputs.

use bus::Wanted;
use domain::{Input, Origin, SecurityId};

/// A request that is recorded and not answered yet.
pub(crate) enum Asked {
    Command,
    Query(Box<domain::Query>),
    Remember(u64, Vec<u8>),
    Nothing,
}

/// The session message of an input.
pub(crate) fn origin_of(input: Input) -> Option<Box<Origin>> {
    match input {
        Input::Command(envelope) => envelope.caller.origin,
        Input::Report(_) | Input::Marks(_) | Input::Clock | Input::Market(_) => None,
    }
}

/// A delivery log record needs no marks.
pub(crate) fn has_effect(wanted: &Wanted) -> bool {
    !matches!(wanted, Wanted::Diary(_))
}

/// The security whose newest price must be applied first.
pub(crate) fn subject(wanted: &Wanted) -> Option<SecurityId> {
    match wanted {
        Wanted::Command(envelope) => engine::subject(&envelope.command),
        Wanted::Query(query) => match &**query {
            domain::Query::Check(ask, _) => Some(ask.security),
            _ => None,
        },
        Wanted::Remember(_) | Wanted::Diary(_) => None,
    }
}
