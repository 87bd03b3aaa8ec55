//! Every value object against its file in `contract/json`, compared whole. The UI decodes the same files, so both sides
//! stay equal. `UPDATE_EXPECT=1` writes them anew.

#![allow(clippy::unwrap_used, reason = "a sample that is wrong shall fail its test")]

mod samples;

mod requests;

mod schemas;
/// The page that shows what topics carry.
mod topics_page;

use std::sync::Arc;

use domain::breaks::{Break, BreakEvidence, BreakId, BreakKind, BreakRepair, BreakSide, BreakState, Difference};
use domain::command::{MarketDataSubscription, Mode, StrategyPhase};
use domain::event::{Alarm, AlarmLevel, LifeCycle, SessionChange};
use domain::report::{LineKind, LineState, SessionState};
use domain::risk::{DeadManTimer, TradingStateChange};
use domain::{
    AdapterName, Event, PublishedEvent, Refusal, RiskScope, SecurityChange, SecurityId, StrategyId, TradingState,
    VenueFacts,
};
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
    let status = samples::adapter_status();
    let facts = VenueFacts::unconfigured(true);
    check(&AdapterVO::from_domain(&status, facts, &reference), golden!("AdapterVO"));
    check(&ExchangeVO::from_domain(&reference.exchanges[&domain::ExchangeId(2)]), golden!("ExchangeVO"));
    check(&SecurityFamilyVO::from_domain(&samples::family()), golden!("SecurityFamilyVO"));
    let strategy = &reference.strategies[&StrategyId(2)];
    check(&StrategyVO::from_domain(strategy, Some(StrategyPhase::Run), None), golden!("StrategyVO"));
}

#[test]
fn a_security_of_every_kind() {
    let securities = samples::securities();
    let shown: Vec<_> = securities.iter().map(SecurityVO::from_domain).collect();
    check(&shown, golden!("SecurityVO"));
}

#[test]
fn a_security_that_changed_and_one_that_was_removed() {
    let stock = Arc::new(samples::securities().remove(0));
    let changed = SecurityChange { id: stock.id, security: Some(stock) };
    let removed = SecurityChange { id: SecurityId(7), security: None };
    let shown = [SecurityChangeVO::from_domain(17, &changed), SecurityChangeVO::from_domain(18, &removed)];
    check(&shown, golden!("SecurityChangeVO"));
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
    check(&ValueHistoryVO::from_domain(&samples::value_history_row()), golden!("ValueHistoryVO"));
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
    let phase = LifeCycle { strategy: StrategyId(2), mode: Mode::RealTime, phase: StrategyPhase::Start, failure: None };
    check(&LifeCycleVO::from_domain(at(0), &phase, &reference), golden!("LifeCycleEvent"));

    let adapter = AdapterName::new("SIMULATED", Some("ALPHA"));
    let line = |line| LineState { line, up: line != LineKind::Prices, reason: None };
    let lines = LineKind::ALL.map(line).to_vec();
    let session = SessionChange { adapter, state: SessionState::LoggedOn, lines };
    check(&SessionEventVO::from_domain(at(0), &session, &reference), golden!("SessionEvent"));

    let alarm =
        Alarm { level: AlarmLevel::Error, code: "unexpected-report".into(), text: "order 7 is finished".into() };
    check(&LogEventVO::from_domain(at(0), &alarm), golden!("LogEvent"));
    check(&GenericEventVO::from_domain(&samples::generic_event(), &reference), golden!("GenericEvent"));
}

#[test]
fn what_happened_joins_by_its_sequence() {
    let reference = samples::reference_data();
    let wish = MarketDataSubscription { strategy: StrategyId(2), security: SecurityId(1) };
    let events = [
        Event::OrderStatus(Arc::new(samples::order_status())),
        Event::Fill(Arc::new(samples::fill())),
        Event::Transaction(Arc::new(samples::transaction())),
        Event::Subscription(wish, true),
        Event::Generic(Arc::new(samples::generic_event())),
    ];
    let published: Vec<_> =
        (17..).zip(events).map(|(sequence, event)| PublishedEvent { sequence, at: at(0), event }).collect();
    let shown: Vec<_> = published.iter().map(|published| PastEventVO::from_domain(published, &reference)).collect();
    check(&shown, golden!("PastEvent"));
}

#[test]
fn what_operators_see() {
    let session = FixSessionVO {
        id: "CLIENT",
        senderCompId: "RIALTO",
        targetCompId: "CLIENT",
        state: "LOGGED_ON",
        peer: Some("127.0.0.1".into()),
        nextIn: 18,
        nextOut: 23,
        lastReceived: Some(at(1).into()),
        lastSent: Some(at(2).into()),
        nextReset: None,
        reason: Some("the peer logged out"),
    };
    check(&session, golden!("FixSessionVO"));
    check(&ImportedVO { changes: 12 }, golden!("ImportedVO"));
    let wish = MarketDataSubscription { strategy: StrategyId(2), security: SecurityId(1) };
    check(&SubscriptionVO::from_domain(wish, true, &samples::reference_data()), golden!("SubscriptionVO"));
}

#[test]
fn risk() {
    let change = TradingStateChange {
        scope: RiskScope::Account(domain::AccountId(1)),
        state: TradingState::Reducing,
        at: at(0),
        reason: Some("day loss".into()),
        changed_by: Some("platform".into()),
    };
    check(&TradingStateVO::from_domain(&change), golden!("TradingState"));
    check(&LimitsVO::from_domain(RiskScope::Platform, &samples::limits()), golden!("LimitsVO"));
    check(&KilledVO::from_domain(RiskScope::Platform, 3), golden!("KilledVO"));
    let timer = DeadManTimer {
        scope: RiskScope::Account(domain::AccountId(1)),
        seconds: 30,
        expires: at(30),
        renewed_by: Some("anna".into()),
    };
    check(&DeadManTimerVO::from_domain(&timer), golden!("DeadManTimerVO"));

    let refused = domain::query::PreTradeCheck {
        refusal: Some(Refusal::NotTradeable(SecurityId(5))),
        notional: Some(domain::Amount(number("1050.5"))),
        fee: None,
    };
    check(&VerdictVO::from_domain(&refused), golden!("VerdictVO"));
}

#[test]
fn breaks() {
    let difference = Difference {
        account: Some(domain::AccountId(1)),
        security: Some(SecurityId(1)),
        order: Some(domain::OrderId(1)),
        int_order_id: Some("ALPHA-1".parse().unwrap()),
        ext_order_id: Some("V1".into()),
        exec_id: Some("X7".into()),
        currency: Some("USD".parse().unwrap()),
        ours: Some(BreakSide::new([("fee", "0.5".to_owned())])),
        theirs: Some(BreakSide::new([("fee", "0.75".to_owned())])),
        amount: Some(domain::Amount(number("0.25"))),
        value: Some(domain::Amount(number("0.25"))),
        repair: Some(BreakRepair::BookFee {
            amount: domain::Amount(number("0.25")),
            currency: "USD".parse().unwrap(),
            exec_id: "X7".into(),
        }),
        ..Difference::new(BreakKind::Fee, &AdapterName::new("SIMULATED", Some("ALPHA")))
    };
    let told = "execution X7 of order number 1: 10 @ 272.4 for a fee of 0.75 USD";
    let evidence = BreakEvidence { report: told.into(), sequence: 1234, hash: "00ff".into() };
    let (since, changed_at) = (at(0), at(30));
    let found = Break {
        id: BreakId(17),
        state: BreakState::Explained,
        difference,
        evidence,
        since,
        changed_at,
        changed_by: Some("anna".into()),
        comment: Some("the venue changed its fees".into()),
    };
    check(&BreakVO::from_domain(&found, &samples::reference_data()), golden!("BreakVO"));
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

#[test]
fn cluster() {
    let leader = ClusterMemberVO {
        name: "a",
        address: "http://10.0.0.1:9090",
        own: false,
        ageMillis: Some(310),
        role: Some("leader"),
        eligible: Some(true),
        epoch: Some(3),
        entry: Some(4_711),
        lagMillis: None,
        lease: Some(true),
        problem: None,
        mayNotLead: None,
        digestSequence: None,
        digestAgeMillis: None,
        standbysRequired: Some(1),
        standbys: Some(1),
    };
    let follower = ClusterMemberVO {
        name: "b",
        address: "http://10.0.0.2:9090",
        own: true,
        ageMillis: Some(0),
        role: Some("follower"),
        lagMillis: Some(40),
        lease: Some(false),
        mayNotLead: Some("it writes a snapshot"),
        digestSequence: Some(8_000),
        digestAgeMillis: Some(2_500),
        standbysRequired: None,
        standbys: None,
        ..leader
    };
    let silent = ClusterMemberVO {
        name: "c",
        address: "http://10.0.0.3:9090",
        own: false,
        ageMillis: None,
        role: None,
        eligible: None,
        epoch: None,
        entry: None,
        lagMillis: None,
        lease: None,
        mayNotLead: None,
        digestSequence: None,
        digestAgeMillis: None,
        ..follower
    };
    let log =
        ClusterLogVO { servers: 3, current: 2, majority: true, leader: Some("n1"), ageMillis: 900, problem: None };
    let since = at(0).into();
    let lead = ClusterLeadVO { epoch: 3, since, cause: "FAIL_OVER", before: Some("c"), openAfterMillis: Some(4_200) };
    let overview = ClusterOverviewVO {
        member: Some("b"),
        role: "follower",
        epoch: Some(3),
        leader: Some("a"),
        gate: "SHUT",
        gateReason: Some("no standby has the last record"),
        lead: Some(lead),
        log: Some(log),
        members: vec![leader, follower, silent],
    };
    check(&overview, golden!("ClusterOverviewVO"));
}

#[test]
fn access() {
    let (role, bound) = (RoleVO::new("trader", None), RoleVO::new("strategy", Some("MOMENTUM")));
    check(&IdentityVO::from_domain(Some("anna"), role.clone()), golden!("IdentityVO"));
    let rights = "accounts 1; interfaces REST,FIX".parse().unwrap();
    let rights = || RightsVO::from_domain(Some(&rights));
    check(&UserVO::from_domain("anna", role, at(0), rights()), golden!("UserVO"));
    let token = || TokenVO::from_domain("robot", "0123456789ab", bound.clone(), at(0)..at(86_400), RightsVO::default());
    check(&token(), golden!("TokenVO"));
    check(&NewTokenVO::from_domain(token(), "rialto_0123456789ab_secret"), golden!("NewTokenVO"));
    let row = AuditVO {
        id: 7,
        dateTime: at(0).into(),
        user: Some("anna"),
        door: "REST",
        peer: Some("127.0.0.1"),
        action: "POST /rest/runtime/exit-vm",
        outcome: "role-too-low",
        detail: "this needs the role admin, and yours is trader",
        times: 2,
        lastDateTime: at(1).into(),
    };
    check(&row, golden!("AuditVO"));
}
