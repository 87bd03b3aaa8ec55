//! The server around the engine, as far as REST shows it: readiness, administration, stored bars, FIX sessions,
//! strategies, and where the broker listens.

use std::sync::Arc;

use bus::operations::{BrokerEndpoints, FixSessionStatus};
use bus::{BarStore, FixSessionAdmin, HealthChecks, PastStates, ServerAdmin, StrategyAdmin};

/// What the handlers need besides the bus.
#[derive(Clone)]
pub struct WebServices {
    /// Readiness checks.
    pub health: Arc<dyn HealthChecks>,
    /// Parameters, metrics, log, reference data, stop.
    pub admin: Arc<dyn ServerAdmin>,
    /// Bars of earlier days.
    pub bars: Arc<dyn BarStore>,
    /// States of the past, for `at`.
    pub past: Arc<dyn PastStates>,
    /// Absent while the FIX gateway is off.
    pub fix_sessions: Option<Arc<dyn FixSessionAdmin>>,
    /// The strategies of this server.
    pub strategies: Arc<dyn StrategyAdmin>,
    /// Where clients reach the broker.
    pub broker: BrokerEndpoints,
}

impl WebServices {
    /// The sessions of the FIX gateway; none where it is off.
    pub(crate) fn fix_session_states(&self) -> Vec<FixSessionStatus> {
        self.fix_sessions.as_ref().map(|gateway| gateway.sessions()).unwrap_or_default()
    }
}
