//! Reference data, limits and settings that no administrator would write.

use domain::command::ReferenceChange;
use domain::reference::{
    Exchange, Security, SecurityFamily, SecurityKind, StrategyRecord as DomainStrategy, TradingHours,
};
use domain::risk::{BurstLimit, EngineSettings, ReconciliationSettings, SelfTradePrevention};
use domain::time::TimeOfDay;
use domain::{
    Account, AccountId, Amount, Currency, ExchangeId, FamilyId, Price, Quantity, RiskLimits, SecurityId, StrategyId,
    Text,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::engine_fixture::{families, securities};
use crate::invalid_inputs::{currency, decimal, security};

pub(crate) fn odd_limits() -> impl Strategy<Value = RiskLimits> {
    let number = || prop::option::weighted(0.3, decimal());
    let count = || prop::option::weighted(0.3, select(vec![0, 1, u32::MAX]));
    let burst = || {
        let ends = select(vec![0, 1, u32::MAX]);
        prop::option::weighted(0.3, (ends.clone(), ends).prop_map(|(count, millis)| BurstLimit { count, millis }))
    };
    let sizes = (number(), number(), number(), number());
    let positions = (number(), number(), number(), number());
    (sizes, positions, number(), (count(), count(), count()), (burst(), burst()), any::<bool>()).prop_map(
        |(sizes, positions, drawdown, counts, bursts, flag)| RiskLimits {
            max_order_quantity: sizes.0.map(Quantity),
            max_order_notional: sizes.1.map(Amount),
            price_collar_percent: sizes.2.map(Amount),
            stale_after_seconds: counts.0,
            max_open_orders: counts.1,
            max_open_notional: sizes.3.map(Amount),
            max_long: positions.0.map(Quantity),
            max_short: positions.1.map(Quantity),
            max_gross_exposure: positions.2.map(Amount),
            cash_check: Some(flag),
            orders_per_second: counts.2,
            duplicate_guard: bursts.0,
            reject_breaker: bursts.1,
            max_day_loss: positions.3.map(Amount),
            max_drawdown: drawdown.map(Amount),
            self_trade: Some(SelfTradePrevention::RejectNewest),
            messages_per_second: counts.1,
            execution_breaker: bursts.0,
            restricted_securities: flag.then(|| [securities()[0].id].into()),
            break_limit: None,
        },
    )
}

pub(crate) fn odd_settings() -> impl Strategy<Value = EngineSettings> {
    let zone = select(vec!["UTC", "Mars/Olympus", "America/New_York"]);
    (currency(), zone, decimal(), decimal(), odd_limits()).prop_map(
        |(base_currency, zone, margin, slippage, limits)| EngineSettings {
            pegs: EngineSettings::default().pegs,
            instance: u64::MAX,
            base_currency,
            trading_zone: zone.into(),
            margin_rate: margin,
            short_margin_rate: margin,
            slippage_percent: slippage,
            resend_within_seconds: u32::MAX,
            venue_timeout_seconds: u32::MAX,
            platform_limits: limits,
            dead_man_seconds: Some(u32::MAX),
            counts_modifications: true,
            rates_by_trades: true,
            ids_by_fills: true,
            alarms_in_doubt: true,
            repeats_expiry: true,
            dates_snapshots: true,
            recovery_rules_2: true,
            sample_seconds: Some(1),
            reconciliation: ReconciliationSettings {
                open_orders_seconds: u32::MAX,
                fills_seconds: 1,
                statements_seconds: 1,
            },
        },
    )
}

pub(crate) fn odd_reference() -> impl Strategy<Value = Vec<ReferenceChange>> {
    let change = prop_oneof![
        1 => odd_exchange().prop_map(ReferenceChange::Exchange),
        1 => odd_family().prop_map(ReferenceChange::Family),
        3 => odd_security().prop_map(|security| ReferenceChange::Security(*security)),
        1 => odd_account().prop_map(ReferenceChange::Account),
        1 => security().prop_map(ReferenceChange::RetireSecurity),
        1 => Just(ReferenceChange::Strategy(DomainStrategy {
            id: StrategyId(u64::MAX),
            name: "".into(),
            auto_activate: true,
        })),
    ];
    prop::collection::vec(change, 0..3)
}

fn odd_exchange() -> impl Strategy<Value = Exchange> {
    let hours = select(vec![(0, 1440), (0, 0), (1439, 1), (600, 600)]);
    let hours = prop::collection::vec(hours, 0..2);
    (select(vec![1, 2, 9]), hours, select(vec!["UTC", "nowhere"]), select(vec![0, 10, u16::MAX])).prop_map(
        |(id, hours, zone, auction)| Exchange {
            id: ExchangeId(id),
            name: "odd".into(),
            code: None,
            mic: None,
            bloomberg_code: None,
            time_zone: zone.into(),
            trading_hours: hours
                .into_iter()
                .map(|(open, close)| TradingHours {
                    open: TimeOfDay(open),
                    close: TimeOfDay(close),
                    days: vec![0, 1, 2, 7, 9],
                })
                .collect(),
            holidays: vec![],
            opening_auction_minutes: auction,
            closing_auction_minutes: auction,
        },
    )
}

fn odd_family() -> impl Strategy<Value = SecurityFamily> {
    (select(families()), decimal(), decimal(), decimal()).prop_map(|(family, execution, clearing, fee)| {
        SecurityFamily {
            execution_commission: Amount(execution),
            clearing_commission: Amount(clearing),
            fee: Amount(fee),
            ..family
        }
    })
}

fn odd_security() -> impl Strategy<Value = Box<Security>> {
    let known = select(securities());
    let eur: Currency = "EUR".parse().unwrap();
    let kind = select(vec![
        SecurityKind::Stock,
        SecurityKind::PerpetualSwap,
        SecurityKind::Index,
        SecurityKind::Forex { base: eur, transaction: eur },
        SecurityKind::Forex { base: Currency::USD, transaction: eur },
    ]);
    let steps = (decimal(), decimal(), decimal());
    let bounds = (prop::option::of(decimal()), prop::option::of(decimal()));
    (known, kind, currency(), steps, bounds, 0..9_u64).prop_map(|(known, kind, currency, steps, bounds, exchange)| {
        Box::new(Security {
            kind,
            currency,
            family: Some(FamilyId(exchange)),
            exchange: ExchangeId(exchange % 3),
            contract_size: steps.0,
            qty_incr: steps.1,
            price_incr: steps.2,
            min_qty: bounds.0.map(Quantity),
            max_price: bounds.1.map(Price),
            min_notional: bounds.1.map(Amount),
            underlying: Some(SecurityId(exchange)),
            ..known
        })
    })
}

fn odd_account() -> impl Strategy<Value = Account> {
    let long: Text = "q".repeat(70).into();
    let qualifier = select(vec![None, Some(Text::from("A")), Some(Text::from("two words")), Some(long)]);
    (1..4_u64, any::<bool>(), qualifier).prop_map(|(id, active, session_qualifier)| Account {
        id: AccountId(id),
        name: "odd".into(),
        active,
        adapter_type: "SIM".into(),
        session_qualifier,
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    })
}
