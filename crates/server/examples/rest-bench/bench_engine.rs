//! The engine on this disk: inbox, live loop, journal, and an adapter that accepts every order.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use bus::inbox::{Inbox, inbox};
use bus::{Bus, Catalogue, EventFeed, InstructionQueue, InstructionRouter, ReplyReceiver};
use crossbeam_channel::{Sender, bounded};
use domain::command::{MarketData, PlaceOrder, ReferenceChange};
use domain::report::{AdapterCapabilities, RefusesRepeatedIds, ReportKind, SessionState, VenueSnapshot};
use domain::risk::{BurstLimit, EngineSettings, RiskLimits, SelfTradePrevention};
use domain::{
    AccountId, AdapterName, Amount, Caller, Command, CommandEnvelope, Decimal, Exchange, FamilyId, Instruction,
    OrderKind, Price, Query, Report, Security, SecurityId, Side, Source, Tick, TimeInForce, Timestamp,
};
use runtime::{LiveExit, LiveLoop, LiveOptions, LiveParts, recover};
use storage::journal::{self, InstanceId, Journal, SyncMode};
use storage::lock::DataDirLock;
use storage::{JournalLedger, ReadModel, SnapshotStore};

use crate::Outcome;
use crate::load::Load;
use crate::machine::Cpu;
use crate::table::percentile;

pub(crate) const SYNC: SyncMode = SyncMode::Always;
pub(crate) const SECURITIES: u64 = 10_000;
const INSTANCE: InstanceId = InstanceId([1; 16]);
const ADAPTER: &str = "SIMULATED";
const CASH: i64 = 1_000_000_000_000_000;
/// High enough that no order is refused for it.
const ORDERS_PER_SECOND: u32 = 10_000_000;
/// As a server is installed.
const SNAPSHOT_EVERY_INPUTS: u64 = 100_000;
/// Bare syncs that are measured, each of so many bytes.
const BARE_SYNCS: u64 = 2_000;
const BARE_BYTES: usize = 256;

/// The running parts, as the server composes them.
pub(crate) struct BenchEngine {
    pub(crate) bus: Bus,
    stop: Sender<()>,
    engine: JoinHandle<LiveExit>,
    adapter: JoinHandle<()>,
    /// Kept to the end: nobody else may use the folder.
    _lock: DataDirLock,
}

impl BenchEngine {
    pub(crate) fn open(folder: &Path) -> Outcome<Self> {
        let lock = DataDirLock::acquire(&folder.join("desk"))?;
        let (inbox, lanes) = inbox();
        let mut outlets = InstructionRouter::default();
        let outlet = outlets.open(AdapterName(ADAPTER.into()));
        let (stop, stopped) = bounded(1);
        let (_, journal) = Journal::open(
            &lock,
            &journal::JournalOptions { sync: SYNC, ..journal::JournalOptions::new(INSTANCE) },
            &mut |_| {},
        )?;
        let snapshots = SnapshotStore::open(&lock, INSTANCE)?;
        let ledger = Arc::new(JournalLedger::new(inbox.clone()));
        let found =
            recover(lock.folder(), journal.last_sequence(), &snapshots, &ledger, 0, &mut |_, _| {}, &mut |_| {});
        let (engine, recovered) = found.map_err(|problem| problem.to_string())?;
        let watch = journal.monitor();
        let bus = Bus {
            inbox: inbox.clone(),
            feed: EventFeed::default(),
            catalogue: Catalogue::default(),
            history: Arc::new(ReadModel::open(&lock, INSTANCE, 0)?),
            journal: Arc::new(watch),
        };
        let parts = LiveParts {
            engine,
            inbox: lanes,
            journal,
            snapshots: snapshots.into(),
            ledger,
            retired: None,
            feed: bus.feed.clone(),
            catalogue: bus.catalogue.clone(),
            instructions: outlets,
            // What history would cost is measured with the read model.
            event_sink: Box::new(|_, _| {}),
            clock: Arc::new(now),
            stop: stopped,
        };
        let options = LiveOptions {
            snapshots: runtime::SnapshotSchedule::every_inputs(SNAPSHOT_EVERY_INPUTS),
            journal_ticks: false,
            flag_silence: true,
            build: "bench".into(),
            pulse: None,
        };
        let live = LiveLoop::new(parts, options, &recovered);
        let engine = thread::Builder::new().name("engine".into()).spawn(move || live.run())?;
        let adapter = accept_everything(inbox, outlet)?;
        let context = Self { bus, stop, engine, adapter, _lock: lock };
        context.load_reference()?;
        Ok(context)
    }

    /// Reference data, cash, a price for every security, and an adapter that is open for orders.
    fn load_reference(&self) -> Outcome<()> {
        let platform_limits = limits();
        let settings = EngineSettings { platform_limits, ..EngineSettings::default() };
        let credit = Command::Record(samples::credit(1, CASH));
        for command in [Command::Configure(settings), Command::Reference(reference()), credit] {
            answered(self.bus.inbox.command(envelope(command)).map_err(|closed| format!("{closed:?}"))?)?;
        }
        (1..=SECURITIES).for_each(|security| self.bus.inbox.send_price(quote(security)));
        for said in logon() {
            self.bus.inbox.send_report(report(said)).map_err(|_| "the engine stopped")?;
        }
        // Whatever is asked after the log-on is answered after it.
        answered(self.bus.inbox.query(Query::Adapters).map_err(|closed| format!("{closed:?}"))?)
    }

    /// So many orders are always on their way; each that is answered makes room for one.
    pub(crate) fn in_flight(&self, count: usize, lasts: Duration) -> Outcome<Load> {
        let mut waiting = VecDeque::with_capacity(count);
        let (mut times, begun) = (Vec::new(), Instant::now());
        for number in 0.. {
            let is_over = begun.elapsed() > lasts;
            if !is_over {
                let placed = self.bus.inbox.command(envelope(Command::Place(order(number))));
                waiting.push_back((Instant::now(), placed.map_err(|closed| format!("{closed:?}"))?));
            }
            if is_over || waiting.len() == count {
                let Some((asked, ticket)) = waiting.pop_front() else { break };
                answered(ticket)?;
                times.push(asked.elapsed());
            }
        }
        Ok(Load { times, wall: begun.elapsed(), cpu: Cpu::default() })
    }

    pub(crate) fn close(self) -> Outcome<()> {
        self.stop.send(())?;
        let ended = self.engine.join().map_err(|_| "the engine's thread panicked")?;
        self.adapter.join().map_err(|_| "the adapter's thread panicked")?;
        if matches!(ended, LiveExit::Stopped(_)) { Ok(()) } else { Err(format!("{ended:?}").into()) }
    }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// A record written over zeros and forced to the disk: the floor below every durable thing.
pub(crate) fn bare_sync(folder: &Path) -> Outcome<Duration> {
    let file = File::create(folder.join("bare"))?;
    file.write_all_at(&vec![0; BARE_BYTES * usize::try_from(BARE_SYNCS)?], 0)?;
    file.sync_all()?;
    let mut times = Vec::new();
    for place in 0..BARE_SYNCS {
        let begun = Instant::now();
        file.write_all_at(&[7; BARE_BYTES], place * BARE_BYTES as u64)?;
        file.sync_data()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(percentile(&times, 50))
}

/// The `number`-th order, as a client sends it.
pub(crate) fn order_body(number: u64) -> String {
    let security = number % SECURITIES + 1;
    format!(r#"{{"securityId":{security},"side":"BUY","quantity":100,"limit":99.95,"accountId":1,"tif":"DAY"}}"#)
}

/// The same order, as the door would hand it over.
fn order(number: u64) -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: SecurityId(number % SECURITIES + 1),
        account: Some(AccountId(1)),
        strategy: None,
        exchange: None,
        side: Side::Buy,
        quantity: 100.into(),
        kind: OrderKind::Limit { limit: Price(Decimal::new(9_995, 2)) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }
}

fn envelope(command: Command) -> CommandEnvelope {
    CommandEnvelope { caller: Caller::new(Source::Rest, None), command }
}

/// The limits of a server as it is installed, but for the pace.
fn limits() -> RiskLimits {
    RiskLimits {
        price_collar_percent: Some(Amount::from(50)),
        cash_check: Some(true),
        orders_per_second: Some(ORDERS_PER_SECOND),
        reject_breaker: Some(BurstLimit { count: 100, millis: 10_000 }),
        self_trade: Some(SelfTradePrevention::RejectNewest),
        ..RiskLimits::default()
    }
}

fn reference() -> Vec<ReferenceChange> {
    let family = domain::SecurityFamily { fee: Amount(Decimal::new(2, 4)), ..samples::family(1, "stocks") };
    let exchange = Exchange { name: "ONE".into(), ..samples::exchange() };
    let mut changes = vec![ReferenceChange::Exchange(exchange), ReferenceChange::Family(family)];
    changes.extend((1..=SECURITIES).map(|id| {
        let described = Some(format!("stock number {id}").into());
        let family = Some(FamilyId(1));
        let stock = samples::stock(id, &format!("S{id}"));
        ReferenceChange::Security(Security { description: described, family, ..stock })
    }));
    changes.push(ReferenceChange::Account(samples::account(1, "Bench")));
    changes
}

fn quote(security: u64) -> MarketData {
    let price = |cents| Some(Price(Decimal::new(cents, 2)));
    MarketData::Tick(Tick { bid: price(9_999), ask: price(10_001), ..samples::tick(security) })
}

/// What an adapter says until it is open for orders.
fn logon() -> [ReportKind; 4] {
    let exchanges = vec![samples::EXCHANGE];
    let profile = AdapterCapabilities {
        exchanges,
        expires_orders: true,
        refuses_repeated_ids: RefusesRepeatedIds::Never,
        simulated: true,
        ..AdapterCapabilities::default()
    };
    [
        ReportKind::Attached(profile),
        ReportKind::Session(SessionState::Connected),
        ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }),
        ReportKind::Session(SessionState::LoggedOn),
    ]
}

fn report(said: ReportKind) -> Report {
    Report { adapter: AdapterName(ADAPTER.into()), ext_at: None, kind: said }
}

/// Until the engine hangs up.
fn accept_everything(inbox: Inbox, outlet: InstructionQueue) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("adapter".into()).spawn(move || {
        for instruction in outlet {
            if let Instruction::Submit(order) = instruction
                && inbox.send_report(report(ReportKind::Accepted { order: order.id, ext_id: None })).is_err()
            {
                return;
            }
        }
    })
}

/// An order that is refused would be answered too quickly.
fn answered(ticket: ReplyReceiver) -> Outcome<()> {
    let reply = ticket.recv_blocking().map_err(|_| "the engine gave no answer")?;
    reply.outcome.map(drop).map_err(|refusal| refusal.to_string().into())
}
