//! Injection of faults into requests: before a method is executed, and into its answer.

use std::time::Duration;

use serde_json::Value;

use super::ApiCall;
use super::error::ApiError;
use super::methods::ApiMethod;
use crate::faults::Fault;
use crate::sequencer::now_micros;

/// How long before the end of its window a late request is passed on.
const LATE_MARGIN_MICROS: i64 = 200_000;
const RETRY_AFTER_SECONDS: i64 = 5;

impl ApiCall<'_> {
    pub(super) async fn inject_before(&self, method: ApiMethod) -> Result<(), ApiError> {
        let faults = &self.state.faults;
        let is_order = method == ApiMethod::OrderPlace;
        if self.deadline_micros.is_some() && faults.strikes(Fault::KeyRevoked) {
            return Err(ApiError::new(401, -2015, "Invalid API-key, IP, or permissions for action."));
        }
        if faults.strikes(Fault::RateLimited) {
            let mut error = ApiError::new(429, -1003, "Too many requests queued.");
            error.retry_after_seconds = Some(RETRY_AFTER_SECONDS);
            return Err(error);
        }
        if is_order && faults.strikes(Fault::CancelOnly) {
            return Err(ApiError::bad_request(-2010, "Market is closed."));
        }
        if is_order && faults.strikes(Fault::NotTakenUnknown) {
            return Err(ApiError::unknown_fate());
        }
        if is_order && faults.strikes(Fault::LateRequest) {
            let wait = self.deadline_micros.unwrap_or(0) - LATE_MARGIN_MICROS - now_micros();
            tokio::time::sleep(Duration::from_micros(u64::try_from(wait).unwrap_or(0))).await;
        }
        Ok(())
    }

    pub(super) fn inject_after(&self, method: ApiMethod, result: Result<Value, ApiError>) -> Result<Value, ApiError> {
        let mut answer = result?;
        let faults = &self.state.faults;
        match method {
            ApiMethod::OrderPlace if faults.strikes(Fault::TakenUnknown) => return Err(ApiError::unknown_fate()),
            ApiMethod::OrderPlace if faults.strikes(Fault::CutAnswer) => return Err(ApiError::cut()),
            ApiMethod::OrderStatus if faults.strikes(Fault::LateQuery) => {
                return Err(ApiError::bad_request(-2013, "Order does not exist."));
            }
            ApiMethod::OpenOrders | ApiMethod::AllOrders | ApiMethod::MyTrades
                if faults.strikes(Fault::ListPartial) =>
            {
                if let Value::Array(entries) = &mut answer {
                    entries.truncate(entries.len() / 2);
                }
            }
            ApiMethod::OrderStatus | ApiMethod::OrderPlace if faults.strikes(Fault::OddValues) => {
                answer["colourOfTheOrder"] = Value::Null;
                answer["status"] = "PENDING_REVIEW".into();
            }
            _ => {}
        }
        Ok(answer)
    }
}
