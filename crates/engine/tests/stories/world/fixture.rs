//! Reference data of the scenarios: two exchanges, a few securities, some of which expire on 18 November, two accounts,
//! one strategy.

use domain::command::{Command, RecordTransaction, ReferenceChange};
use domain::reference::{OptionRight, TradingHours};
use domain::{
    Account, AccountId, Currency, Decimal, Exchange, ExchangeId, FamilyId, Quantity, Security, SecurityFamily,
    SecurityId, SecurityKind, Settlement, StrategyId, StrategyRecord, Text, TransactionKind,
};

use super::StoryEngine;

/// Of what expires soon: the day after tomorrow.
const LAST_DAY: &str = "2026-11-18";

const SECURITIES: [(&str, u64); 12] = [
    ("AAPL", 1),
    ("ES", 2),
    ("EUR.USD", 3),
    ("SAP", 4),
    ("CALL", 5),
    ("PUT", 6),
    ("SPX", 7),
    ("SPX-CALL", 8),
    ("ESX", 9),
    ("AAPL-FUTURE", 10),
    ("STRAY", 11),
    ("BTC", 12),
];

pub(super) fn security(symbol: &str) -> SecurityId {
    let known = SECURITIES.iter().find(|(name, _)| *name == symbol).map(|(_, id)| *id);
    SecurityId(known.unwrap_or_else(|| symbol.parse().unwrap_or(99)))
}

pub(super) fn credit(account: u64) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: 100_000.into(),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: Some(AccountId(account)),
        security: None,
        strategy: None,
        description: None,
    }
}

pub(super) fn reference() -> Vec<ReferenceChange> {
    let eur: Currency = "EUR".parse().unwrap();
    let forex = SecurityKind::Forex { base: eur, transaction: Currency::USD };
    let future = SecurityKind::Future {
        expiration: "2027-03-19".parse().unwrap(),
        month_year: "202703".into(),
        first_notice: None,
    };
    vec![
        ReferenceChange::Exchange(exchange(1, "00:00", "24:00", 0)),
        ReferenceChange::Exchange(exchange(2, "09:00", "11:30", 10)),
        ReferenceChange::Family(family()),
        ReferenceChange::Security(a_security(1, SecurityKind::Stock, 1, "1", "0.01", Some(1))),
        ReferenceChange::Security(a_security(2, future, 1, "50", "0.25", None)),
        ReferenceChange::Security(a_security(3, forex, 1, "1", "0.0001", None)),
        ReferenceChange::Security(a_security(4, SecurityKind::Stock, 2, "1", "0.01", None)),
        ReferenceChange::Security(derived(5, option("10", OptionRight::Call), "100", Some(1))),
        ReferenceChange::Security(derived(6, option("12", OptionRight::Put), "100", Some(1))),
        ReferenceChange::Security(a_security(7, SecurityKind::Index, 1, "1", "0.01", None)),
        ReferenceChange::Security(derived(8, option("5000", OptionRight::Call), "10", Some(7))),
        ReferenceChange::Security(derived(9, expiring_future(), "50", Some(7))),
        ReferenceChange::Family(SecurityFamily {
            id: FamilyId(2),
            settlement: Some(Settlement::Physical),
            ..free_of_charge()
        }),
        ReferenceChange::Security(Security {
            family: Some(FamilyId(2)),
            ..derived(10, expiring_future(), "10", Some(1))
        }),
        ReferenceChange::Security(derived(11, option("10", OptionRight::Call), "100", None)),
        ReferenceChange::Account(account(1, "A")),
        ReferenceChange::Account(account(2, "B")),
        ReferenceChange::Strategy(StrategyRecord { id: StrategyId(2), name: "TREND".into(), auto_activate: false }),
    ]
}

fn option(strike: &str, right: OptionRight) -> SecurityKind {
    SecurityKind::Option { expiration: LAST_DAY.parse().unwrap(), strike: strike.parse().unwrap(), right }
}

fn expiring_future() -> SecurityKind {
    let expiration = LAST_DAY.parse().unwrap();
    SecurityKind::Future { expiration, month_year: "202611".into(), first_notice: None }
}

fn derived(id: u64, kind: SecurityKind, contract_size: &str, underlying: Option<u64>) -> Security {
    Security { underlying: underlying.map(SecurityId), ..a_security(id, kind, 1, contract_size, "0.01", None) }
}

fn free_of_charge() -> SecurityFamily {
    SecurityFamily { execution_commission: domain::Amount::ZERO, ..family() }
}

fn exchange(id: u64, open: &str, close: &str, auction: u16) -> Exchange {
    Exchange {
        id: ExchangeId(id),
        name: format!("Exchange {id}").into(),
        code: None,
        mic: None,
        bloomberg_code: None,
        time_zone: "UTC".into(),
        trading_hours: vec![TradingHours {
            open: open.parse().unwrap(),
            close: close.parse().unwrap(),
            days: (1..=7).collect(),
        }],
        holidays: vec![],
        opening_auction_minutes: auction,
        closing_auction_minutes: auction,
    }
}

fn family() -> SecurityFamily {
    SecurityFamily {
        id: FamilyId(1),
        name: "US stocks".into(),
        symbol_root: None,
        isin_root: None,
        ric_root: None,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        price_incr: Decimal::new(1, 2),
        underlying: None,
        exchange: None,
        execution_commission: "0.005".parse().unwrap(),
        clearing_commission: domain::Amount::ZERO,
        fee: domain::Amount::ZERO,
        settlement: None,
    }
}

fn a_security(
    id: u64,
    kind: SecurityKind,
    exchange: u64,
    contract_size: &str,
    tick: &str,
    family: Option<u64>,
) -> Security {
    Security {
        id: SecurityId(id),
        kind,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: family.map(FamilyId),
        exchange: ExchangeId(exchange),
        currency: Currency::USD,
        contract_size: contract_size.parse().unwrap(),
        min_qty: None,
        max_qty: Some(Quantity::from(1_000_000)),
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: tick.parse().unwrap(),
        min_notional: None,
        tradeable: true,
        venue_symbols: Default::default(),
    }
}

impl StoryEngine {
    /// From now on there is a coin with eight decimals.
    pub(crate) fn list_coin(&mut self) {
        let coin = a_security(12, SecurityKind::Stock, 1, "1", "0.01", None);
        let coin = Security { qty_incr: Decimal::new(1, 8), ..coin };
        self.command(Command::Reference(vec![ReferenceChange::Security(coin)])).unwrap();
    }

    /// The account trades at another venue from now on.
    pub(crate) fn move_account(&mut self, id: u64, qualifier: &str) {
        self.command(Command::Reference(vec![ReferenceChange::Account(account(id, qualifier))])).unwrap();
    }
}

fn account(id: u64, qualifier: &str) -> Account {
    Account {
        id: AccountId(id),
        name: format!("account-{id}").into(),
        active: true,
        adapter_type: "SIM".into(),
        session_qualifier: Some(Text::from(qualifier)),
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}
