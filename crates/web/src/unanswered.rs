//! Permit of the request that is served: it counts as unanswered until the engine has answered.

use bus::InFlightPermit;
use tokio::task_local;

task_local! {
    /// What the request that is served here counts as. Whatever it asks of the engine takes a copy along, so that a client
    /// who hangs up makes no room for more before that is done.
    static UNANSWERED: InFlightPermit;
}

/// What the request that is served here counts as.
pub(crate) fn unanswered() -> InFlightPermit {
    UNANSWERED.try_with(InFlightPermit::clone).unwrap_or_default()
}

/// Serves a request that counts as this.
pub(crate) async fn with_permit<T>(permit: InFlightPermit, serving: impl Future<Output = T>) -> T {
    UNANSWERED.scope(permit, serving).await
}
