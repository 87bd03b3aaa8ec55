//! The gate of requests: each gets its part of the rate limits and a time stamp by the venue's clock, or a reason at once.

use std::path::PathBuf;

use adapter_kit::connection::RequestFailure;
use adapter_kit::{BudgetFile, ClockSample, RequestBudget, RequestGrant, RequestLane, VenueClock};
use domain::Timestamp;

use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::{CallAnswer, WireRateLimit};
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::calls::CallSecurity;
use crate::protocol::requests::encoding::RequestStamp;
use crate::rate_rules::{RateRules, follow_limits, usage_of};

#[derive(Debug)]
pub struct RequestGate {
    rules: RateRules,
    budget: RequestBudget,
    file: BudgetFile,
    clock: VenueClock,
    receive_window_millis: u32,
}

impl RequestGate {
    /// Continues the holds of before a restart, with the limits that were known then: the venue's counter may be far above what is
    /// assumed of a venue that has stated none yet, and then nothing could be asked for a minute.
    pub fn open(path: PathBuf, now: Timestamp, receive_window_millis: u32) -> Result<Self, String> {
        let rules = RateRules::default();
        let mut budget = rules.budget().ok_or("the first limits contradict themselves")?;
        let file = BudgetFile::new(path);
        if let Some(record) = file.load().map_err(|error| error.to_string())? {
            budget.restore(now, &record).map_err(|error| error.to_string())?;
            budget.restore_limits(&record);
        }
        Ok(Self { rules, budget, file, clock: VenueClock::new(receive_window_millis.into()), receive_window_millis })
    }

    /// The request may leave now, or the reason why not. It is stamped as of now, so its life begins now.
    pub fn admit(
        &mut self,
        now: Timestamp,
        lane: RequestLane,
        request: &BinanceRequest,
    ) -> Result<(RequestGrant, RequestStamp), String> {
        let at = match request.call.security() {
            CallSecurity::Public => now,
            CallSecurity::Signed | CallSecurity::Session => {
                self.clock.request_time(now).map_err(|refusal| refusal.to_string())?
            }
        };
        self.file.save_holds(&mut self.budget).map_err(|error| error.to_string())?;
        let cost = self.rules.cost(request);
        let grant = self.budget.request(now, lane, cost).map_err(|refusal| refusal.to_string())?;
        Ok((grant, RequestStamp { at, receive_window_millis: self.receive_window_millis }))
    }

    pub fn on_answer(&mut self, now: Timestamp, grant: RequestGrant, answer: &CallAnswer) {
        self.budget.on_answer(now, grant, &usage_of(answer));
        follow_limits(&mut self.budget, answer);
        if answer.outcome.as_ref().is_err_and(|error| error.meaning == ErrorMeaning::Clock) {
            self.clock.reset();
        }
        self.save_holds();
    }

    pub fn on_failure(&mut self, now: Timestamp, grant: RequestGrant, failure: &RequestFailure) {
        match failure {
            RequestFailure::Unknown(_) => self.budget.on_no_answer(now, grant),
            RequestFailure::NotSent(_) => self.budget.on_not_sent(grant),
        }
    }

    pub fn on_no_answer(&mut self, now: Timestamp, grant: RequestGrant) {
        self.budget.on_no_answer(now, grant);
    }

    /// The venue's own list of limits. What was counted and held so far goes on.
    pub fn on_limits(&mut self, now: Timestamp, limits: &[WireRateLimit]) {
        let (rules, unknown) = RateRules::of(limits);
        for name in unknown {
            tracing::warn!(limit = name, "the venue has a rate limit of a kind that is not known; it is not kept");
        }
        if limits.is_empty() || rules == self.rules {
            return;
        }
        let continued = rules.budget().and_then(|mut budget| {
            let record = self.budget.record();
            budget.restore(now, &record).ok()?;
            Some(budget)
        });
        match continued {
            Some(budget) => {
                (self.rules, self.budget) = (rules, budget);
                if let Err(error) = self.file.save(&self.budget.record()) {
                    tracing::warn!(%error, "the venue's rate limits cannot be saved; a restart begins with small ones");
                }
            }
            None => tracing::warn!("the venue's list of rate limits cannot be used; those before it stay"),
        }
    }

    /// The venue's time, as of a question and its answer.
    pub fn on_time(&mut self, sample: &ClockSample) {
        if let Err(refusal) = self.clock.on_sample(sample) {
            tracing::warn!(%refusal, "a sample of the venue's clock is not used");
        }
    }

    /// The venue's clock, as far as it is known.
    pub fn venue_time(&self, now: Timestamp) -> Result<Timestamp, String> {
        self.clock.request_time(now).map_err(|refusal| refusal.to_string())
    }

    pub fn has_time(&self, now: Timestamp) -> bool {
        self.clock.request_time(now).is_ok()
    }

    /// For how long after its sending a request can still take effect.
    pub fn receive_window_millis(&self) -> u32 {
        self.receive_window_millis
    }

    /// A hold must be on the disk before the next request; a failure shows there.
    fn save_holds(&mut self) {
        if let Err(error) = self.file.save_holds(&mut self.budget) {
            tracing::error!(%error, "the venue's order to wait cannot be saved; no request leaves until it is");
        }
    }
}
