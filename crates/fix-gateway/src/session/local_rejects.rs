//! Rejects that the gateway decides itself, before the engine sees the message.

use fix::GatewaySettings;

use crate::translate::MessageReject;

pub(super) fn order_rate_exceeded(rules: &GatewaySettings) -> MessageReject {
    let most = rules.max_orders_per_second.unwrap_or_default();
    MessageReject::other("too-many-orders", &format!("more than {most} orders a second"))
}

pub(super) fn cancel_rate_exceeded(rules: &GatewaySettings) -> MessageReject {
    let most = rules.max_cancels_per_second.unwrap_or_default();
    MessageReject::other("too-many-cancels", &format!("more than {most} cancels a second"))
}

/// Nothing new is begun on a disk that does not answer; cancels are.
pub(super) fn journal_stalled() -> MessageReject {
    MessageReject::other("journal-stalled", "the journal's disk does not answer; this had no effect")
}
