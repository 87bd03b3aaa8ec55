//! Rate limits and request queue of the toy adapter, shared by its two threads.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use adapter_kit::connection::{RequestFailure, VenueRequest, VenueResponse};
use adapter_kit::{
    BudgetFile, LaneShares, QueuedRequest, RateRule, RequestBudget, RequestCost, RequestGrant, RequestQueue,
};
use domain::Timestamp;
use tokio::sync::Notify;

use crate::toy_protocol::{ToyCall, usage_of};

type ToyRequest = (ToyCall, VenueRequest);

pub(crate) struct ToyLanes {
    state: Mutex<(RequestBudget, RequestQueue<ToyRequest>)>,
    file: BudgetFile,
    pushed: Notify,
}

impl ToyLanes {
    /// Continues the holds of before a restart.
    pub(crate) fn open(path: &Path, now: Timestamp) -> Self {
        let rule =
            RateRule { name: "weight/1m".to_owned(), span_seconds: 60, limit: 1_000, shares: LaneShares::STANDARD };
        let mut budget = RequestBudget::new(vec![rule]).unwrap();
        let file = BudgetFile::new(path);
        if let Some(record) = file.load().unwrap() {
            budget.restore(now, &record).unwrap();
        }
        Self { state: Mutex::new((budget, RequestQueue::default())), file, pushed: Notify::new() }
    }

    pub(crate) fn push(&self, now: Timestamp, call: ToyCall, request: VenueRequest) -> Result<(), String> {
        let mut state = self.lock();
        let (budget, queue) = &mut *state;
        self.file.save_holds(budget).map_err(|error| error.to_string())?;
        let purpose = (call.lane(), RequestCost::of(&[1]), call.order().map(|order| order.0));
        queue.push(now, budget, purpose, (call, request)).map_err(|refusal| refusal.to_string())?;
        self.pushed.notify_one();
        Ok(())
    }

    pub(crate) async fn next(&self) -> QueuedRequest<ToyRequest> {
        loop {
            let queued = self.lock().1.pop();
            match queued {
                Some(queued) => return queued,
                None => self.pushed.notified().await,
            }
        }
    }

    pub(crate) fn settle(&self, now: Timestamp, grant: RequestGrant, outcome: &Result<VenueResponse, RequestFailure>) {
        let budget = &mut self.lock().0;
        match outcome {
            Ok(response) => budget.on_answer(now, grant, &usage_of(now, response)),
            Err(RequestFailure::Unknown(_)) => budget.on_no_answer(now, grant),
            Err(RequestFailure::NotSent(_)) => budget.on_not_sent(grant),
        }
    }

    /// What waits for the connection has not left, and gives its part of the limits back.
    pub(crate) fn withdraw_all(&self) {
        let mut state = self.lock();
        while let Some(queued) = state.1.pop() {
            state.0.on_not_sent(queued.grant);
        }
    }

    fn lock(&self) -> MutexGuard<'_, (RequestBudget, RequestQueue<ToyRequest>)> {
        self.state.lock().unwrap()
    }
}
