//! Input of one turn of the live loop.

use std::collections::VecDeque;

use bus::inbox::EngineRequest;
use domain::command::MarketData;
use domain::report::Report;

/// Input of one turn.
#[derive(Default)]
pub(super) struct InputBatch {
    pub(super) requests: VecDeque<EngineRequest>,
    pub(super) reports: Vec<Report>,
    pub(super) prices: Vec<MarketData>,
    pub(super) mark_due: bool,
}

pub(super) enum LoopWake {
    Work(InputBatch),
    Stop,
    Failed(String),
}
