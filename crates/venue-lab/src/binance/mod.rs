//! Binance spot: the methods of its API, shared by the REST and the WebSocket face.

pub(crate) mod api;
pub(crate) mod market;
pub(crate) mod user;
mod account;
pub(crate) mod fix;
mod injection;
mod orders;
pub(crate) mod rest;
mod wallet;
pub(crate) mod ws_api;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::exchange::AccountIndex;
use crate::faults::LabFaults;
use crate::faults::catalogue::Fault;
use crate::keys::{KeyRights, KeyRing};
use crate::sequencer::{ExchangeHandle, now_micros};
use crate::sessions::Sessions;
use api::encode::TimeUnit;
use api::error::ApiError;
use api::methods::{ApiMethod, MethodRow};
use api::params::Params;
pub(crate) use api::rate_limits::RateLimits;
use api::security::{self, SignedRequest};
use user::listen_keys::ListenKeys;

/// How far the clock is off under the fault `clock-off`.
const CLOCK_OFF_MICROS: i64 = 3_000_000;

/// What every face of the venue shares.
pub(crate) struct BinanceState {
    pub(crate) exchange: ExchangeHandle,
    pub(crate) keys: KeyRing,
    pub(crate) rates: RateLimits,
    pub(crate) faults: Arc<LabFaults>,
    pub(crate) sessions: Arc<Sessions>,
    /// None where they are switched off.
    pub(crate) listen_keys: Option<Arc<ListenKeys>>,
    pub(crate) has_sapi: bool,
    /// Where the WebSocket faces are encrypted.
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
}

impl BinanceState {
    /// Whether the method is there: some are switched on.
    fn offers(&self, row: &MethodRow) -> bool {
        match row.method {
            ApiMethod::ListenKeyStart | ApiMethod::ListenKeyKeep | ApiMethod::ListenKeyClose => {
                self.listen_keys.is_some()
            }
            ApiMethod::ApiRestrictions | ApiMethod::TradeFee => self.has_sapi,
            _ => true,
        }
    }

    /// The venue's clock.
    pub(crate) fn now(&self) -> i64 {
        let is_off = self.faults.lasts(Fault::ClockOff);
        now_micros() + if is_off { CLOCK_OFF_MICROS } else { 0 }
    }
}

/// One request, authenticated where it must be.
pub(crate) struct ApiCall<'a> {
    pub(crate) state: &'a BinanceState,
    pub(crate) params: &'a Params,
    /// Zero where the method needs no account.
    pub(crate) account: AccountIndex,
    pub(crate) rights: KeyRights,
    pub(crate) deadline_micros: Option<i64>,
    pub(crate) unit: TimeUnit,
}

impl ApiCall<'_> {
    /// Takes over who signed the request, where that key may do so.
    fn authorize(&mut self, row: &MethodRow, signed: &SignedRequest) -> Result<(), ApiError> {
        if row.is_trading() && !signed.rights.may_trade {
            return Err(security::unauthorized());
        }
        (self.account, self.rights) = (signed.account, signed.rights);
        // The matching engine has the machine's clock.
        let skew = self.state.now() - now_micros();
        self.deadline_micros = Some(signed.deadline_micros - skew);
        Ok(())
    }

    /// Executes the method, with what the armed faults do to it before and after.
    pub(crate) async fn execute(&self, method: ApiMethod) -> Result<Value, ApiError> {
        self.inject_before(method).await?;
        let result = self.execute_rightly(method).await;
        self.inject_after(method, result).await
    }

    async fn execute_rightly(&self, method: ApiMethod) -> Result<Value, ApiError> {
        match method {
            ApiMethod::Ping => Ok(json!({})),
            ApiMethod::Time => Ok(json!({ "serverTime": self.unit.encode(self.state.now()) })),
            ApiMethod::ExchangeInfo => self.exchange_info().await,
            ApiMethod::Depth => self.depth().await,
            ApiMethod::Trades | ApiMethod::HistoricalTrades => self.trades().await,
            ApiMethod::AggTrades => self.aggregate_trades().await,
            ApiMethod::Klines => self.klines().await,
            ApiMethod::AvgPrice => self.average_price().await,
            ApiMethod::Ticker24h => self.ticker_24h().await,
            ApiMethod::TickerDay => self.ticker_day().await,
            ApiMethod::TickerWindow => self.ticker_window().await,
            ApiMethod::TickerPrice => self.ticker_price().await,
            ApiMethod::TickerBook => self.ticker_book().await,
            ApiMethod::OrderPlace => self.place_order().await,
            ApiMethod::OrderTest => self.test_order().await,
            ApiMethod::OrderStatus => self.order_status().await,
            ApiMethod::OrderCancel => self.cancel_order().await,
            ApiMethod::CancelReplace => self.cancel_replace().await,
            ApiMethod::Amend => self.amend_order().await,
            ApiMethod::Amendments => self.amendments().await,
            ApiMethod::OpenOrders => self.open_orders().await,
            ApiMethod::CancelAll => self.cancel_all().await,
            ApiMethod::AllOrders => self.all_orders().await,
            ApiMethod::Account => self.account_status().await,
            ApiMethod::MyTrades => self.my_trades().await,
            ApiMethod::OrderCounts => Ok(self.state.rates.list_orders(self.account, now_micros())),
            ApiMethod::PreventedMatches => self.prevented_matches().await,
            ApiMethod::Commission => self.commission().await,
            ApiMethod::MyFilters => self.my_filters().await,
            ApiMethod::ListenKeyStart => self.start_listen_key(),
            ApiMethod::ListenKeyKeep => self.keep_listen_key(),
            ApiMethod::ListenKeyClose => self.close_listen_key(),
            ApiMethod::ApiRestrictions => self.api_restrictions().await,
            ApiMethod::TradeFee => self.trade_fee().await,
        }
    }

    pub(crate) fn symbol(&self) -> Result<String, ApiError> {
        self.params.required("symbol").map(ToOwned::to_owned)
    }
}
