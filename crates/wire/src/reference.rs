//! Accounts, exchanges, families, strategies.

use domain::command::{StrategyFailure, StrategyPhase};
use domain::reference::{Holiday, TradingHours};
use domain::time::TimeOfDay;
use domain::{Account, Currency, Exchange, SecurityFamily, Settlement, StrategyRecord};
use serde::Serialize;

use crate::json::{AsText, DateText, ExactDecimal};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountVO<'a> {
    id: u64,
    name: &'a str,
    active: bool,
    adapter_type: &'a str,
    /// The specification has two names for the adapter type; both are served.
    broker: &'a str,
    session_qualifier: Option<&'a str>,
    ext_account: Option<&'a str>,
    ext_account_group: Option<&'a str>,
    ext_allocation_profile: Option<&'a str>,
    ext_clearing_account: Option<&'a str>,
}

impl<'a> AccountVO<'a> {
    pub fn from_domain(account: &'a Account) -> Self {
        Self {
            id: account.id.0,
            name: &account.name,
            active: account.active,
            adapter_type: &account.adapter_type,
            broker: &account.adapter_type,
            session_qualifier: account.session_qualifier.as_deref(),
            ext_account: account.ext_account.as_deref(),
            ext_account_group: account.ext_account_group.as_deref(),
            ext_allocation_profile: account.ext_allocation_profile.as_deref(),
            ext_clearing_account: account.ext_clearing_account.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeVO<'a> {
    id: u64,
    name: &'a str,
    code: Option<&'a str>,
    mic: Option<&'a str>,
    bloomberg_code: Option<&'a str>,
    time_zone: &'a str,
    trading_hours: Vec<TradingHoursVO<'a>>,
    holidays: Vec<HolidayVO>,
}

#[derive(Debug, Serialize)]
struct TradingHoursVO<'a> {
    open: AsText<TimeOfDay>,
    close: AsText<TimeOfDay>,
    /// Monday = 1 to Sunday = 7.
    days: &'a [u8],
}

#[derive(Debug, Serialize)]
struct HolidayVO {
    date: DateText,
    open: Option<AsText<TimeOfDay>>,
    close: Option<AsText<TimeOfDay>>,
}

impl<'a> ExchangeVO<'a> {
    pub fn from_domain(exchange: &'a Exchange) -> Self {
        Self {
            id: exchange.id.0,
            name: &exchange.name,
            code: exchange.code.as_deref(),
            mic: exchange.mic.as_deref(),
            bloomberg_code: exchange.bloomberg_code.as_deref(),
            time_zone: &exchange.time_zone,
            trading_hours: exchange.trading_hours.iter().map(TradingHoursVO::from_domain).collect(),
            holidays: exchange.holidays.iter().map(HolidayVO::from_domain).collect(),
        }
    }
}

impl<'a> TradingHoursVO<'a> {
    fn from_domain(hours: &'a TradingHours) -> Self {
        Self { open: AsText(hours.open), close: AsText(hours.close), days: &hours.days }
    }
}

impl HolidayVO {
    fn from_domain(holiday: &Holiday) -> Self {
        Self { date: AsText(holiday.date), open: holiday.open.map(AsText), close: holiday.close.map(AsText) }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityFamilyVO<'a> {
    id: u64,
    name: &'a str,
    symbol_root: Option<&'a str>,
    isin_root: Option<&'a str>,
    ric_root: Option<&'a str>,
    currency: AsText<Currency>,
    contract_size: ExactDecimal,
    price_incr: ExactDecimal,
    underlying_id: Option<u64>,
    exchange_id: Option<u64>,
    execution_commission: ExactDecimal,
    clearing_commission: ExactDecimal,
    fee: ExactDecimal,
    settlement: Option<&'static str>,
}

impl<'a> SecurityFamilyVO<'a> {
    pub fn from_domain(family: &'a SecurityFamily) -> Self {
        Self {
            id: family.id.0,
            name: &family.name,
            symbol_root: family.symbol_root.as_deref(),
            isin_root: family.isin_root.as_deref(),
            ric_root: family.ric_root.as_deref(),
            currency: AsText(family.currency),
            contract_size: ExactDecimal(family.contract_size),
            price_incr: ExactDecimal(family.price_incr),
            underlying_id: family.underlying.map(|id| id.0),
            exchange_id: family.exchange.map(|id| id.0),
            execution_commission: family.execution_commission.into(),
            clearing_commission: family.clearing_commission.into(),
            fee: family.fee.into(),
            settlement: family.settlement.map(Settlement::name),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StrategyVO<'a> {
    id: u64,
    name: &'a str,
    auto_activate: bool,
    /// Absent while it does not run.
    phase: Option<&'static str>,
    /// Why it was stopped, until it starts again.
    last_error: Option<&'a str>,
}

impl<'a> StrategyVO<'a> {
    pub fn from_domain(
        strategy: &'a StrategyRecord,
        phase: Option<StrategyPhase>,
        failure: Option<&'a StrategyFailure>,
    ) -> Self {
        Self {
            id: strategy.id.0,
            name: &strategy.name,
            auto_activate: strategy.auto_activate,
            phase: phase.map(StrategyPhase::name),
            last_error: failure.map(|failure| &*failure.text),
        }
    }
}
