//! Every value object against its file in `contract/json`, compared whole. The UI decodes the same files, so neither
//! side drifts alone. `UPDATE_EXPECT=1` writes them anew.

#![allow(clippy::unwrap_used, reason = "a sample that is wrong shall fail its test")]

/// One of everything, as the engine would tell it.
mod samples;

/// What comes in: order bodies against the words they become.
mod requests;

use domain::command::{Mode, Phase};
use domain::event::{Alarm, AlarmLevel, LifeCycle, SessionChange};
use domain::report::SessionState;
use domain::risk::StateChange;
use domain::{AdapterName, Refusal, Scope, SecurityId, StrategyId, TradingState};
use expect_test::ExpectFile;
use serde::Serialize;
use wire::*;

use samples::{at, number};

fn check<T: Serialize>(value: &T, file: ExpectFile) {
    let mut text = serde_json::to_string_pretty(value).unwrap();
    text.push('\n');
    file.assert_eq(&text);
}

macro_rules! golden {
    ($name:literal) => {
        expect_test::expect_file![concat!("../../../../contract/json/", $name, ".json")]
    };
}

#[test]
fn reference_data() {
    let reference = samples::reference_data();
    check(&AccountVO::from_domain(&reference.accounts[&domain::AccountId(1)]), golden!("AccountVO"));
    check(&ExchangeVO::from_domain(&reference.exchanges[&domain::ExchangeId(2)]), golden!("ExchangeVO"));
    check(&SecurityFamilyVO::from_domain(&samples::family()), golden!("SecurityFamilyVO"));
    let strategy = &reference.strategies[&StrategyId(2)];
    check(&StrategyVO::from_domain(strategy, Some(Phase::Run)), golden!("StrategyVO"));
}

#[test]
fn a_security_of_every_kind() {
    let securities = samples::securities();
    let shown: Vec<_> = securities.iter().map(SecurityVO::from_domain).collect();
    check(&shown, golden!("SecurityVO"));
}

#[test]
fn an_order_of_every_kind() {
    let orders = samples::orders();
    let shown: Vec<_> = orders.iter().map(OrderVO::from_domain).collect();
    check(&shown, golden!("OrderVO"));
}

#[test]
fn what_happens_to_an_order() {
    check(&OrderStatusVO::from_domain(&samples::order_status()), golden!("OrderStatusVO"));
    check(&FillVO::from_domain(&samples::fill()), golden!("FillVO"));
}

#[test]
fn the_portfolio() {
    check(&PositionVO::from_domain(&samples::position()), golden!("PositionVO"));
    check(&TransactionVO::from_domain(&samples::transaction()), golden!("TransactionVO"));
    check(&CashBalanceVO::from_domain(&samples::cash_balance()), golden!("CashBalanceVO"));
    check(&PortfolioValueVO::from_domain(&samples::portfolio_value()), golden!("PortfolioValueVO"));
}

#[test]
fn market_data() {
    check(&TickVO::from_domain(&samples::tick()), golden!("Tick"));
    check(&BarVO::from_domain(&samples::bar()), golden!("Bar"));
    check(&TradeVO::from_domain(&samples::trade()), golden!("Trade"));
    check(&OrderBookVO::from_domain(&samples::order_book()), golden!("OrderBook"));
}

#[test]
fn notices() {
    let reference = samples::reference_data();
    let phase = LifeCycle { strategy: StrategyId(2), mode: Mode::RealTime, phase: Phase::Start };
    check(&LifeCycleVO::from_domain(at(0), &phase, &reference), golden!("LifeCycleEvent"));

    let adapter = AdapterName::new("SIMULATED", Some("ALPHA"));
    let session = SessionChange { adapter, state: SessionState::LoggedOn };
    check(&SessionEventVO::from_domain(at(0), &session, &reference), golden!("SessionEvent"));

    let alarm = Alarm { level: AlarmLevel::Error, code: "unexpected-report", text: "order 7 is finished".into() };
    check(&LogEventVO::from_domain(at(0), &alarm), golden!("LogEvent"));
}

#[test]
fn risk() {
    let change = StateChange {
        scope: Scope::Account(domain::AccountId(1)),
        state: TradingState::Reducing,
        at: at(0),
        reason: Some("day loss".into()),
        changed_by: Some("platform".into()),
    };
    check(&TradingStateVO::from_domain(&change), golden!("TradingState"));
    check(&LimitsVO::from_domain(Scope::Platform, &samples::limits()), golden!("LimitsVO"));
    check(&KilledVO::from_domain(Scope::Platform, 3), golden!("KilledVO"));

    let refused = domain::risk::Verdict {
        refusal: Some(Refusal::NotTradeable(SecurityId(5))),
        notional: Some(domain::Amount(number("1050.5"))),
        fee: None,
    };
    check(&VerdictVO::from_domain(&refused), golden!("VerdictVO"));
}

#[test]
fn problems_and_health() {
    let errors = [FieldError::missing("side"), FieldError::malformed("quantity", "must be a number")];
    let order = samples::orders().remove(0);
    let problem = ProblemVO::new(400, "malformed-field", "Bad Request", "side is needed; quantity must be a number");
    check(&problem.with_errors(&errors).with_order(Some(&order)), golden!("Problem"));

    let checks = vec![
        CheckVO { name: "journal", ok: true, detail: "durable up to 17" },
        CheckVO { name: "adapters", ok: false, detail: "SIMULATED-ALPHA is DISCONNECTED" },
    ];
    check(&HealthVO::new(checks), golden!("Health"));
}
