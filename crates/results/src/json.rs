//! JSON report. Keys as in `docs/simulation.md`; a figure that cannot be computed is `null`.

use serde_json::{Value, json};

use crate::rates::to_f64;
use crate::run_results::{
    Figures, Monthly, OpenPosition, OrderOutcomes, RefusalSummary, ReportHeading, ResultRow, RunResults, StrategyStop,
    Trades, Unconverted, Yearly,
};

pub fn write(heading: &ReportHeading, outcome: &RunResults) -> String {
    let settings: serde_json::Map<String, Value> =
        heading.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let months = outcome
        .months
        .iter()
        .map(|month| json!({ "month": month.first.to_string()[..7], "performance": month.performance }));
    let unconverted: serde_json::Map<String, Value> = outcome
        .unconverted
        .iter()
        .map(|(currency, Unconverted { traded, costs, trips })| {
            (currency.to_string(), json!({ "traded": traded, "costs": costs, "trips": trips }))
        })
        .collect();
    let document = json!({
        "title": heading.title,
        "settings": settings,
        "events": heading.events,
        "orders": heading.orders.all(),
        "ordersByEnd": fates(&heading.orders),
        "refused": refusals(&heading.refusals),
        "fills": outcome.fill_count,
        "stopped": heading.stopped.iter().map(stop).collect::<Vec<_>>(),
        "unheard": heading.missing_data,
        "unconverted": unconverted,
        "currency": outcome.currency,
        "figures": figures(&outcome.figures),
        "monthly": monthly(&outcome.figures.monthly),
        "months": months.collect::<Vec<_>>(),
        "securities": outcome.securities.iter().map(line).collect::<Vec<_>>(),
        "strategies": outcome.strategies.iter().map(line).collect::<Vec<_>>(),
        "openPositions": outcome.open.iter().map(open).collect::<Vec<_>>(),
        "digest": heading.digest,
    });
    format!("{document:#}\n")
}

fn stop(stop: &StrategyStop) -> Value {
    json!({ "dateTime": stop.at.millis(), "strategy": &*stop.strategy, "reason": &*stop.reason })
}

fn fates(fates: &OrderOutcomes) -> Value {
    let OrderOutcomes { executed, partially_filled: partly, canceled, expired, rejected, open } = fates;
    json!({
        "executed": executed,
        "partlyFilled": partly,
        "canceled": canceled,
        "expired": expired,
        "rejected": rejected,
        "open": open,
    })
}

fn refusals(refusals: &RefusalSummary) -> Value {
    json!({ "count": refusals.all(), "orders": refusals.orders, "byCode": refusals.by_code, "first": refusals.first })
}

fn open(open: &OpenPosition) -> Value {
    let price = |price: Option<domain::Price>| price.map(|price| to_f64(price.0));
    json!({
        "strategy": &*open.strategy,
        "security": &*open.security,
        "quantity": to_f64(open.quantity.0),
        "averagePrice": price(open.average_price),
        "price": price(open.price),
        "unrealizedPL": open.unrealized,
    })
}

fn figures(figures: &Figures) -> Value {
    let Yearly { cagr, volatility, sharpe, sortino, calmar } = figures.yearly;
    json!({
        "from": figures.from.millis(),
        "to": figures.to.millis(),
        "startValue": figures.start_value,
        "netLiqValue": figures.end_value,
        "totalReturn": figures.total_return,
        "realizedPL": figures.profit_loss.realized,
        "unrealizedPL": figures.profit_loss.unrealized,
        "cagr": cagr,
        "volatility": volatility,
        "sharpe": sharpe,
        "sortino": sortino,
        "calmar": calmar,
        "maxDrawdown": figures.max_drawdown,
        "maxDrawdownDays": figures.max_drawdown_days,
        "traded": figures.traded,
        "turnover": figures.turnover,
        "costs": figures.costs,
        "trades": trades(&figures.trades),
    })
}

fn monthly(monthly: &Monthly) -> Value {
    json!({
        "n": monthly.months,
        "avgM": monthly.average,
        "stdM": monthly.deviation,
        "avgY": monthly.average_year,
        "stdY": monthly.deviation_year,
        "sharpeRatio": monthly.sharpe,
        "calmarRatio": monthly.calmar,
        "bestMonthlyPerformance": monthly.best,
        "maxDrawDownM": monthly.worst,
    })
}

fn trades(trades: &Trades) -> Value {
    json!({
        "count": trades.count,
        "won": trades.won,
        "lost": trades.lost,
        "winRate": trades.win_rate(),
        "profitFactor": trades.profit_factor(),
        "averageWin": trades.average_win(),
        "averageLoss": trades.average_loss(),
        "largestWin": trades.largest_win,
        "largestLoss": trades.largest_loss,
        "expectancy": trades.expectancy(),
        "averageDays": trades.average_days(),
    })
}

fn line(line: &ResultRow) -> Value {
    json!({
        "name": &*line.name,
        "fills": line.fills,
        "traded": line.traded,
        "costs": line.costs,
        "realizedPL": line.profit_loss.realized,
        "unrealizedPL": line.profit_loss.unrealized,
        "result": line.result(),
        "trades": trades(&line.trades),
    })
}
