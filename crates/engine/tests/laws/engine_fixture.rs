//! Test fixture of the property tests: two exchanges, two accounts at two venues, three strategies, and a security of
//! every kind that is booked differently.

use domain::command::{Command, RecordTransaction, ReferenceChange};
use domain::query::EngineResult;
use domain::reference::{OptionRight, TradingHours};
use domain::report::{AdapterCapabilities, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueSnapshot};
use domain::{
    Account, AccountId, AdapterName, Amount, Caller, CommandEnvelope, Currency, Decimal, Exchange, ExchangeId,
    FamilyId, Input, Price, Quantity, Security, SecurityFamily, SecurityId, SecurityKind, Sequenced, Source,
    StrategyId, StrategyRecord, Text, Timestamp, TransactionKind,
};
use engine::{Engine, Outbox};

/// 2026-11-16 12:00 UTC, a Monday.
pub(crate) const NOON: Timestamp = Timestamp(1_794_830_400_000_000_000);

pub(crate) const ADAPTERS: [&str; 2] = ["SIM-A", "SIM-B"];
pub(crate) const CASH: i64 = 1_000_000;

pub(crate) const STOCK: SecurityId = SecurityId(1);
pub(crate) const FUTURE: SecurityId = SecurityId(2);
pub(crate) const FOREX: SecurityId = SecurityId(3);
pub(crate) const EURO_STOCK: SecurityId = SecurityId(4);
pub(crate) const OPTION: SecurityId = SecurityId(5);
pub(crate) const SECURITIES: [SecurityId; 5] = [STOCK, FUTURE, FOREX, EURO_STOCK, OPTION];

/// An engine with all inputs that it was given.
pub(crate) struct EngineFixture {
    pub(crate) engine: Engine,
    pub(crate) inputs: Vec<Sequenced<Input>>,
    pub(crate) now: Timestamp,
}

impl EngineFixture {
    /// Reference data, both venues connected, a million in each account; no prices yet.
    pub(crate) fn open() -> Self {
        let mut fixture = Self { engine: Engine::default(), inputs: vec![], now: NOON };
        fixture.command(Command::Reference(reference())).0.unwrap();
        for adapter in 0..ADAPTERS.len() {
            fixture.report(adapter, ReportKind::Attached(profile(adapter)));
            fixture.report(adapter, ReportKind::Session(SessionState::Connected));
            fixture.report(adapter, ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }));
            fixture.report(adapter, ReportKind::Session(SessionState::LoggedOn));
        }
        for account in [1, 2] {
            fixture.command(Command::Record(credit(AccountId(account)))).0.unwrap();
        }
        fixture
    }

    pub(crate) fn apply(&mut self, what: Input) -> (EngineResult, Outbox) {
        let mut out = Outbox::default();
        let input = Sequenced { sequence: self.inputs.len() as u64 + 1, at: self.now, payload: what };
        let reply = self.engine.apply(&input, &mut out);
        self.inputs.push(input);
        (reply, out)
    }

    pub(crate) fn command(&mut self, command: Command) -> (EngineResult, Outbox) {
        self.apply(Input::Command(Box::new(CommandEnvelope { caller: trader(), command })))
    }

    pub(crate) fn report(&mut self, adapter: usize, said: ReportKind) -> Outbox {
        self.apply(Input::Report(Report { adapter: adapter_name(adapter), ext_at: None, kind: said })).1
    }
}

pub(crate) fn trader() -> Caller {
    Caller::new(Source::Rest, Some("ann".into()))
}

pub(crate) fn adapter_name(adapter: usize) -> AdapterName {
    AdapterName(ADAPTERS[adapter].into())
}

/// The first venue expires orders and refuses duplicates, the second does neither.
pub(crate) fn profile(adapter: usize) -> AdapterCapabilities {
    AdapterCapabilities {
        exchanges: vec![ExchangeId(1), ExchangeId(2)],
        expires_orders: adapter == 0,
        refuses_repeated_ids: if adapter == 0 { RefusesRepeatedIds::Forever } else { RefusesRepeatedIds::Never },
        simulated: true,
        ..AdapterCapabilities::default()
    }
}

pub(crate) fn blank_record(kind: TransactionKind, price: Price) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind,
        quantity: None,
        price,
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: None,
        account: None,
        security: None,
        strategy: None,
        description: None,
    }
}

fn credit(account: AccountId) -> RecordTransaction {
    RecordTransaction {
        currency: Some(Currency::USD),
        account: Some(account),
        ..blank_record(TransactionKind::Credit, CASH.into())
    }
}

fn reference() -> Vec<ReferenceChange> {
    let mut changes = vec![
        ReferenceChange::Exchange(exchange(1, "00:00", "24:00", 0)),
        ReferenceChange::Exchange(exchange(2, "08:00", "20:00", 10)),
    ];
    changes.extend(families().into_iter().map(ReferenceChange::Family));
    changes.extend(securities().into_iter().map(ReferenceChange::Security));
    changes.push(ReferenceChange::Account(account(1, "A")));
    changes.push(ReferenceChange::Account(account(2, "B")));
    for (id, name) in [(2, "TREND"), (3, "CARRY")] {
        changes.push(ReferenceChange::Strategy(StrategyRecord {
            id: StrategyId(id),
            name: name.into(),
            auto_activate: false,
        }));
    }
    changes
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

pub(crate) fn families() -> Vec<SecurityFamily> {
    vec![family(1, ["0.005", "0.002", "0.001"]), family(2, ["1.25", "0", "0.37"])]
}

fn family(id: u64, costs: [&str; 3]) -> SecurityFamily {
    let [execution_commission, clearing_commission, fee] = costs.map(|cost| cost.parse::<Amount>().unwrap());
    SecurityFamily {
        id: FamilyId(id),
        name: format!("Family {id}").into(),
        symbol_root: None,
        isin_root: None,
        ric_root: None,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        price_incr: Decimal::ZERO,
        underlying: None,
        exchange: None,
        execution_commission,
        clearing_commission,
        fee,
        settlement: None,
    }
}

pub(crate) fn securities() -> Vec<Security> {
    let eur: Currency = "EUR".parse().unwrap();
    let expiration = "2027-03-19".parse().unwrap();
    let forex = SecurityKind::Forex { base: eur, transaction: Currency::USD };
    let future = SecurityKind::Future { expiration, month_year: "202703".into(), first_notice: None };
    let option = SecurityKind::Option { expiration, strike: 100.into(), right: OptionRight::Call };
    vec![
        Security { family: Some(FamilyId(1)), ..security(STOCK, SecurityKind::Stock, 1, "1", "0.01") },
        Security { family: Some(FamilyId(2)), ..security(FUTURE, future, 1, "50", "0.25") },
        security(FOREX, forex, 1, "1", "0.0001"),
        Security { currency: eur, ..security(EURO_STOCK, SecurityKind::Stock, 2, "1", "0.01") },
        Security { family: Some(FamilyId(1)), ..security(OPTION, option, 2, "100", "0.05") },
        security(SecurityId(6), SecurityKind::Index, 1, "1", "0.01"),
    ]
}

fn security(id: SecurityId, kind: SecurityKind, exchange: u64, contract_size: &str, tick: &str) -> Security {
    Security {
        id,
        kind,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
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

/// A price near which a security trades, so many ticks away.
pub(crate) fn price_of(security: SecurityId, ticks: i64) -> Price {
    let (middle, tick) = match security {
        STOCK => (Decimal::from(100), Decimal::new(1, 2)),
        FUTURE => (Decimal::from(5_000), Decimal::new(25, 2)),
        FOREX => (Decimal::new(11, 1), Decimal::new(1, 4)),
        EURO_STOCK => (Decimal::from(80), Decimal::new(1, 2)),
        _ => (Decimal::from(5), Decimal::new(5, 2)),
    };
    Price(middle + tick * Decimal::from(ticks))
}
