//! Accounts, exchanges, families, strategies.

use domain::command::{StrategyFailure, StrategyPhase};
use domain::reference::{Holiday, TradingHours};
use domain::time::TimeOfDay;
use domain::{Account, Currency, Exchange, SecurityFamily, Settlement, StrategyRecord};

use crate::json::{AsText, DateText, ExactDecimal};
use crate::value_object::value_object;

value_object! {
    /// An account at a venue.
    pub struct AccountVO<'a> ("AccountVO", golden)
    from (account: &'a Account) {
        id: u64 = account.id.0,
        name: &'a str = &account.name,
        active: bool = account.active,
        adapterType: &'a str = &account.adapter_type,
        // The specification has two names for the adapter type; both are served.
        broker: &'a str = &account.adapter_type,
        sessionQualifier: Option<&'a str> = account.session_qualifier.as_deref(),
        extAccount: Option<&'a str> = account.ext_account.as_deref(),
        extAccountGroup: Option<&'a str> = account.ext_account_group.as_deref(),
        extAllocationProfile: Option<&'a str> = account.ext_allocation_profile.as_deref(),
        extClearingAccount: Option<&'a str> = account.ext_clearing_account.as_deref(),
    }
}

value_object! {
    /// An exchange with its hours, in its own time zone.
    pub struct ExchangeVO<'a> ("ExchangeVO", golden)
    from (exchange: &'a Exchange) {
        id: u64 = exchange.id.0,
        name: &'a str = &exchange.name,
        code: Option<&'a str> = exchange.code.as_deref(),
        mic: Option<&'a str> = exchange.mic.as_deref(),
        bloombergCode: Option<&'a str> = exchange.bloomberg_code.as_deref(),
        timeZone: &'a str = &exchange.time_zone,
        tradingHours: Vec<TradingHoursVO<'a>> =
            exchange.trading_hours.iter().map(TradingHoursVO::from_domain).collect(),
        holidays: Vec<HolidayVO> = exchange.holidays.iter().map(HolidayVO::from_domain).collect(),
    }
}

value_object! {
    /// A session; Monday is day 1, Sunday day 7.
    pub(crate) struct TradingHoursVO<'a> ("TradingHours")
    from (hours: &'a TradingHours) {
        open: AsText<TimeOfDay> = AsText(hours.open),
        close: AsText<TimeOfDay> = AsText(hours.close),
        // Monday = 1 to Sunday = 7.
        days: &'a [u8] = &hours.days,
    }
}

value_object! {
    /// A day without a session, or with a shorter one.
    pub(crate) struct HolidayVO ("Holiday")
    from (holiday: &Holiday) {
        date: DateText = AsText(holiday.date),
        open: Option<AsText<TimeOfDay>> = holiday.open.map(AsText),
        close: Option<AsText<TimeOfDay>> = holiday.close.map(AsText),
    }
}

value_object! {
    /// What the securities of a family have in common. `settlement` says what becomes of a future or an option that
    /// expires; null: a future pays its value, an option delivers its underlying unless that is an index.
    pub struct SecurityFamilyVO<'a> ("SecurityFamilyVO", golden)
    from (family: &'a SecurityFamily) {
        id: u64 = family.id.0,
        name: &'a str = &family.name,
        symbolRoot: Option<&'a str> = family.symbol_root.as_deref(),
        isinRoot: Option<&'a str> = family.isin_root.as_deref(),
        ricRoot: Option<&'a str> = family.ric_root.as_deref(),
        currency: AsText<Currency> = AsText(family.currency),
        contractSize: ExactDecimal = ExactDecimal(family.contract_size),
        priceIncr: ExactDecimal = ExactDecimal(family.price_incr),
        underlyingId: Option<u64> = family.underlying.map(|id| id.0),
        exchangeId: Option<u64> = family.exchange.map(|id| id.0),
        executionCommission: ExactDecimal = family.execution_commission.into(),
        clearingCommission: ExactDecimal = family.clearing_commission.into(),
        fee: ExactDecimal = family.fee.into(),
        settlement: Option<&'static str> [Maybe(&OneOf(&["CASH", "PHYSICAL"]))] =
            family.settlement.map(Settlement::name),
    }
}

value_object! {
    /// A strategy; its phase is null while it has not run. One that was stopped has the reason until it starts again.
    pub struct StrategyVO<'a> ("StrategyVO", golden)
    from (strategy: &'a StrategyRecord, phase: Option<StrategyPhase>, failure: Option<&'a StrategyFailure>) {
        id: u64 = strategy.id.0,
        name: &'a str = &strategy.name,
        autoActivate: bool = strategy.auto_activate,
        // Absent while it does not run.
        phase: Option<&'static str> [Maybe(&OneOf(PHASES))] = phase.map(StrategyPhase::name),
        // Why it was stopped, until it starts again.
        lastError: Option<&'a str> = failure.map(|failure| &*failure.text),
    }
}
