//! What the routes need besides the bus. The clients here trade, and ask for nothing else.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bus::operations::{
    BrokerEndpoints, HealthCheck, HealthChecks, LogLine, ReferenceError, ServerAdmin, StrategyAdmin, StrategyError,
};
use bus::past::{PastError, PastPoint};
use bus::reply::Reply;
use bus::{BarStore, PastStates};
use domain::{Bar, BarSize, Query, SecurityId};
use web::WebServices;

struct NotSimulated;

pub(super) fn services() -> WebServices {
    let none = Arc::new(NotSimulated);
    WebServices {
        health: none.clone(),
        admin: none.clone(),
        bars: none.clone(),
        past: none.clone(),
        fix_sessions: None,
        strategies: none,
        broker: BrokerEndpoints::default(),
        forwarder: None,
    }
}

impl HealthChecks for NotSimulated {
    fn checks(&self) -> Vec<HealthCheck> {
        vec![]
    }
}

impl ServerAdmin for NotSimulated {
    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shutdown(&self) {}

    fn load_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceError> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        vec![]
    }
}

impl BarStore for NotSimulated {
    fn newest_bars(&self, _: SecurityId, _: BarSize, _: usize) -> Vec<Bar> {
        vec![]
    }
}

impl PastStates for NotSimulated {
    fn answer(&self, _: PastPoint, _: &Query) -> Result<Reply, PastError> {
        Err(PastError::Failed("states of the past are not simulated".to_owned()))
    }
}

impl StrategyAdmin for NotSimulated {
    fn start(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }

    fn stop(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }
}
