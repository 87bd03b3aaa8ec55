//! Classification of requests and inputs.

use bus::RequestPayload;
use domain::{Command, Input, MessageOrigin, RiskScope, SecurityId, Sequenced};

/// A request that is recorded and not answered yet.
pub(crate) enum UnansweredRequest {
    Command(Sequenced<Input>),
    Query(Box<domain::Query>),
    LedgerRecord(u64, Vec<u8>),
    NoReply,
}

/// The scope of a kill, or of a trading state: once it is released, the engine itself decides what may leave.
pub(crate) fn gate_scope_of(input: &Input) -> Option<RiskScope> {
    match input {
        Input::Command(envelope) => match envelope.command {
            Command::Kill { scope, .. } | Command::SetTradingState { scope, .. } => Some(scope),
            _ => None,
        },
        _ => None,
    }
}

/// The session message of an input.
pub(crate) fn origin_of(input: Input) -> Option<Box<MessageOrigin>> {
    match input {
        Input::Command(envelope) => envelope.caller.origin,
        Input::Report(_) | Input::Marks(_) | Input::Clock | Input::Market(_) | Input::RetiredOrders(_) => None,
    }
}

/// A delivery log record needs no marks.
pub(crate) fn needs_marks(wanted: &RequestPayload) -> bool {
    !matches!(wanted, RequestPayload::DeliveryLog(_))
}

/// The security whose newest price must be applied first.
pub(crate) fn security_of(wanted: &RequestPayload) -> Option<SecurityId> {
    match wanted {
        RequestPayload::Command(envelope) => engine::security_of(&envelope.command),
        RequestPayload::Query(query) => match &**query {
            domain::Query::CheckOrder(ask, _) => Some(ask.security),
            _ => None,
        },
        RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => None,
    }
}
