//! Value history: what the platform, a strategy, an account or a security was worth.

use domain::{Currency, RiskScope, ValueHistoryRow};

use crate::json::{AsText, DateText, ExactDecimal, Millis, exact};
use crate::value_object::value_object;

value_object! {
    /// What a scope was worth at a sample, or at the last sample of a day, week or month, in base currency; a value is null where
    /// a price or a rate was not known. `realizedPL` and `unrealizedPL` are before costs, `result` is after costs.
    pub struct ValueHistoryVO ("ValueHistoryVO", golden)
    from (row: &ValueHistoryRow)
    let sample = &row.sample; {
        sequence: u64 [Whole] = row.sequence,
        dateTime: Millis = sample.at.into(),
        date: DateText = AsText(row.date),
        scope: AsText<RiskScope> = AsText(sample.scope),
        close: bool = sample.is_close,
        netLiqValue: Option<ExactDecimal> = exact(sample.net_liq_value),
        marketValue: Option<ExactDecimal> = exact(sample.market_value),
        cashBalance: Option<ExactDecimal> = exact(sample.cash_balance),
        longExposure: Option<ExactDecimal> = exact(sample.long_exposure),
        shortExposure: Option<ExactDecimal> = exact(sample.short_exposure),
        realizedPL: Option<ExactDecimal> = exact(sample.realized_pl),
        unrealizedPL: Option<ExactDecimal> = exact(sample.unrealized_pl),
        commissions: Option<ExactDecimal> = exact(sample.commissions),
        fees: Option<ExactDecimal> = exact(sample.fees),
        result: Option<ExactDecimal> = exact(row.result),
        flow: Option<ExactDecimal> = exact(row.flow),
        drawdown: Option<ExactDecimal> = exact(row.drawdown),
        currency: AsText<Currency> = AsText(sample.currency),
    }
}
