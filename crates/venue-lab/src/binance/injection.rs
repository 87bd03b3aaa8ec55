//! Injection of faults into requests: before a method is executed, in its place, and into its answer.

use std::time::Duration;

use serde_json::Value;

use super::ApiCall;
use super::api::encode;
use super::api::error::ApiError;
use super::api::methods::ApiMethod;
use super::api::security;
use crate::exchange::{
    CancelRequest, Canceled, NewSpotOrder, SpotCommand, SpotExchange, SpotReject, SpotStatus, Units, strange_orders,
};
use crate::faults::catalogue::Fault;
use crate::sequencer::now_micros;

/// How long before the end of its window a late request is passed on.
const LATE_MARGIN_MICROS: i64 = 200_000;
const RETRY_AFTER_SECONDS: i64 = 5;
/// What comes from outside under the fault `balance-moves`.
const MOVED: Units = Units(1_250_000_000);

impl ApiCall<'_> {
    pub(super) async fn inject_before(&self, method: ApiMethod) -> Result<(), ApiError> {
        let faults = &self.state.faults;
        let is_order = method == ApiMethod::OrderPlace;
        faults.count_request(is_order);
        self.refuse_by_fault(is_order)?;
        if is_order && faults.strikes(Fault::FiltersChange) {
            self.command(SpotCommand::ChangeFilters { symbol: self.symbol()? }).await?;
        }
        if is_order && faults.strikes(Fault::LateRequest) {
            let wait = self.deadline_micros.unwrap_or(0) - LATE_MARGIN_MICROS - now_micros();
            tokio::time::sleep(Duration::from_micros(u64::try_from(wait).unwrap_or(0))).await;
        }
        Ok(())
    }

    fn refuse_by_fault(&self, is_order: bool) -> Result<(), ApiError> {
        let faults = &self.state.faults;
        let is_signed = self.deadline_micros.is_some();
        if is_signed && faults.strikes(Fault::KeyRevoked) {
            return Err(security::unauthorized());
        }
        if is_signed && faults.strikes(Fault::SignatureRule) {
            return Err(ApiError::bad_request(-1022, "Signature for this request is not valid."));
        }
        if faults.strikes(Fault::RateLimited) {
            let mut error = ApiError::new(429, -1003, "Too many requests queued.");
            error.retry_after_seconds = Some(RETRY_AFTER_SECONDS);
            return Err(error);
        }
        if is_order && faults.strikes(Fault::CancelOnly) {
            return Err(ApiError::bad_request(-2010, "Market is closed."));
        }
        if is_order && faults.strikes(Fault::EndpointMoved) {
            let text = "Order type not supported for this endpoint. Please use the Algo Order API endpoints instead.";
            return Err(ApiError::bad_request(-4120, text));
        }
        if is_order && faults.strikes(Fault::NotTakenUnknown) {
            return Err(ApiError::unknown_fate());
        }
        Ok(())
    }

    /// How an order is placed: rightly, or with an id of before or a commission in a third asset.
    pub(super) fn place_command(&self, order: NewSpotOrder) -> SpotCommand {
        let faults = &self.state.faults;
        let reissues_id = faults.strikes(Fault::OrderIdsReissued);
        let has_foreign_fee = faults.strikes(Fault::FeeForeign);
        if reissues_id || has_foreign_fee {
            SpotCommand::PlaceOddly { order, reissues_id, has_foreign_fee }
        } else {
            SpotCommand::Place(order)
        }
    }

    /// The order is filled, and its cancel is confirmed. None where the fault does not strike, or nothing rests.
    pub(super) async fn fill_instead(&self, cancel: &CancelRequest) -> Result<Option<Value>, ApiError> {
        if !self.state.faults.strikes(Fault::FillAfterCancel) {
            return Ok(None);
        }
        let wanted = cancel.order.clone();
        let find = move |exchange: &SpotExchange| {
            let market = exchange.market(&wanted.symbol)?;
            let found = market.find_order(wanted.account, wanted.order_id, wanted.client_id.as_deref());
            Ok::<_, SpotReject>(found.cloned())
        };
        let Some(mut order) = self.state.exchange.query(find).await?? else { return Ok(None) };
        let hit = SpotCommand::Hit { order: cancel.order.clone() };
        if self.state.exchange.command(hit, self.deadline_micros).await?.is_err() {
            return Ok(None);
        }
        order.status = SpotStatus::Canceled;
        let cancel_id = cancel.cancel_id.clone().unwrap_or_else(|| format!("cancel-{}", order.id));
        Ok(Some(encode::canceled(&Canceled { order, cancel_id }, self.unit)))
    }

    pub(super) async fn inject_after(
        &self,
        method: ApiMethod,
        result: Result<Value, ApiError>,
    ) -> Result<Value, ApiError> {
        let mut answer = result?;
        let faults = &self.state.faults;
        if method == ApiMethod::OrderPlace {
            self.move_the_account().await?;
        }
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

    /// What happens to the account behind the client's back.
    async fn move_the_account(&self) -> Result<(), ApiError> {
        let faults = &self.state.faults;
        if faults.strikes(Fault::Strangers) {
            for order in self.strange_orders().await? {
                // One that the account cannot pay does not come.
                let _ = self.state.exchange.command(SpotCommand::Place(order), None).await?;
            }
        }
        if faults.strikes(Fault::BalanceMoves) {
            let symbol = self.symbol()?;
            let quote =
                move |exchange: &SpotExchange| exchange.market(&symbol).map(|market| market.rules.quote.clone());
            let asset = self.state.exchange.query(quote).await??;
            self.command(SpotCommand::Transfer { account: self.account, asset, amount: MOVED }).await?;
        }
        Ok(())
    }

    /// A market order and one that rests, as from the venue's own screen.
    async fn strange_orders(&self) -> Result<[NewSpotOrder; 2], ApiError> {
        let symbol = self.symbol()?;
        let account = self.account;
        let make = move |exchange: &SpotExchange| strange_orders(exchange, &symbol, account);
        Ok(self.state.exchange.query(make).await??)
    }
}
