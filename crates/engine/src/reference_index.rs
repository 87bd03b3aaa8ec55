//! Reference data index: securities, calendars, routes and the current session of each exchange.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::{
    Account, AccountId, AdapterName, Calendar, ExchangeId, LookupMap, MarketPhase, ReferenceData, Refusal, Security,
    SecurityChange, SecurityChanges, SecurityId, SecurityKind, StrategyId, StrategyRecord, Timestamp, TradingSession,
};
use minicbor::{Decode, Decoder, Encode, Encoder};

#[derive(Debug, Default)]
pub(crate) struct ReferenceIndex {
    data: Arc<ReferenceData>,
    /// All securities, because every order and every fill looks one up.
    securities: LookupMap<SecurityId, Arc<Security>>,
    calendars: BTreeMap<ExchangeId, ExchangeHours>,
    adapters: BTreeMap<AccountId, AdapterName>,
    /// By underlying.
    options: BTreeMap<SecurityId, Vec<SecurityId>>,
    /// No session ends before this instant.
    sessions_end: Timestamp,
}

/// How often an exchange without a session for weeks is checked again.
const SESSION_RECHECK_SECONDS: i64 = 3_600;

/// A calendar with its current or next session, so that an order need not compute it.
#[derive(Debug, Clone)]
struct ExchangeHours {
    calendar: Calendar,
    session: Option<TradingSession>,
}

impl ReferenceIndex {
    /// What is written to disk: indexes are made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self { data: self.data.clone(), ..Self::default() }
    }

    pub(crate) fn data(&self) -> &Arc<ReferenceData> {
        &self.data
    }

    pub(crate) fn security(&self, id: SecurityId) -> Result<&Arc<Security>, Refusal> {
        self.securities.get(&id).ok_or(Refusal::UnknownSecurity(id))
    }

    pub(crate) fn account(&self, id: AccountId) -> Result<&Arc<Account>, Refusal> {
        self.data.accounts.get(&id).ok_or_else(|| Refusal::UnknownAccount(id.to_string().into()))
    }

    pub(crate) fn strategy(&self, id: StrategyId) -> Result<&Arc<StrategyRecord>, Refusal> {
        self.data.strategies.get(&id).ok_or_else(|| Refusal::UnknownStrategy(id.to_string().into()))
    }

    /// The accounts whose orders go to an adapter.
    pub(crate) fn accounts_at(&self, adapter: &AdapterName) -> Vec<AccountId> {
        self.adapters.iter().filter(|(_, name)| *name == adapter).map(|(account, _)| *account).collect()
    }

    pub(crate) fn adapter_of(&self, account: AccountId) -> Result<&AdapterName, Refusal> {
        self.adapters.get(&account).ok_or_else(|| Refusal::UnknownAccount(account.to_string().into()))
    }

    pub(crate) fn calendar(&self, exchange: ExchangeId) -> Result<&Calendar, Refusal> {
        let hours = self.calendars.get(&exchange).ok_or(Refusal::UnknownExchange(exchange))?;
        Ok(&hours.calendar)
    }

    pub(crate) fn options_on(&self, underlying: SecurityId) -> &[SecurityId] {
        self.options.get(&underlying).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn phase(&self, exchange: ExchangeId, at: Timestamp) -> MarketPhase {
        let session = self.calendars.get(&exchange).and_then(|hours| hours.session);
        session.map_or(MarketPhase::Closed, |session| session.phase(at))
    }

    /// Moves the current sessions to an instant; every input does so first.
    pub(crate) fn advance(&mut self, at: Timestamp) {
        if at < self.sessions_end {
            return;
        }
        for hours in self.calendars.values_mut() {
            if hours.session.is_none_or(|session| at >= session.close) {
                hours.session = hours.calendar.session_ending_after(at);
            }
        }
        let closes = self.calendars.values().filter_map(|hours| Some(hours.session?.close));
        // An exchange without sessions is checked again together with the others, or in an hour.
        self.sessions_end = closes.min().unwrap_or(at.plus_seconds(SESSION_RECHECK_SECONDS));
    }

    /// The end of the running or next session of an exchange.
    pub(crate) fn close(&self, exchange: ExchangeId) -> Option<Timestamp> {
        self.calendars.get(&exchange).and_then(|hours| hours.session).map(|session| session.close)
    }

    /// Whether all changes are valid; a later one may depend on an earlier one.
    pub(crate) fn check(&self, changes: &[ReferenceChange]) -> Result<(), Refusal> {
        let mut exchanges: BTreeSet<ExchangeId> = self.data.exchanges.keys().copied().collect();
        for change in changes {
            match change {
                ReferenceChange::Exchange(exchange) => {
                    Calendar::new(Arc::new(exchange.clone()))
                        .map_err(|unknown| Refusal::UnknownZone(unknown.0.into()))?;
                    exchanges.insert(exchange.id);
                }
                ReferenceChange::Security(security) if !exchanges.contains(&security.exchange) => {
                    return Err(Refusal::UnknownExchange(security.exchange));
                }
                ReferenceChange::RetireSecurity(id) => {
                    self.security(*id)?;
                }
                ReferenceChange::Strategy(strategy) if is_reserved(strategy) => return Err(Refusal::ReservedStrategy),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns what changed, as far as it took effect.
    pub(crate) fn apply_changes(
        &mut self,
        sequence: u64,
        changes: &[ReferenceChange],
        is_used: impl Fn(SecurityId) -> bool,
    ) -> Vec<ReferenceChange> {
        let data = Arc::make_mut(&mut self.data);
        let effective = changes.iter().map(|change| apply_change(data, sequence, change.clone(), &is_used)).collect();
        self.rebuild_indexes();
        effective
    }

    /// When each security changed, as another one of the same securities knows it.
    pub(crate) fn take_change_log(&mut self, other: &Self) {
        Arc::make_mut(&mut self.data).security_changes = other.data.security_changes.clone();
    }

    /// The securities that changed at a sequence, as they are now.
    pub(crate) fn securities_changed_at(&self, sequence: u64) -> impl Iterator<Item = SecurityChange> {
        let changed = self.data.security_changes.after(sequence.checked_sub(1));
        let state = |(_, id)| SecurityChange { id, security: self.data.securities.get(&id).cloned() };
        changed.take_while(move |(at, _)| *at == sequence).map(state)
    }

    fn rebuild_indexes(&mut self) {
        self.securities = self.data.securities.values().map(|security| (security.id, security.clone())).collect();
        let routes = self.data.accounts.values().map(|account| (account.id, account.adapter()));
        self.adapters = routes.collect();
        self.calendars = self.data.exchanges.values().filter_map(|exchange| exchange_hours(exchange.clone())).collect();
        self.options = options(&self.data);
        self.sessions_end = Timestamp::default();
    }
}

/// The name and the id of EXTERNAL belong to the engine.
fn is_reserved(strategy: &StrategyRecord) -> bool {
    strategy.id == StrategyId::EXTERNAL || &*strategy.name == StrategyRecord::EXTERNAL
}

fn options(data: &ReferenceData) -> BTreeMap<SecurityId, Vec<SecurityId>> {
    let mut options: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for security in data.securities.values().filter(|security| matches!(security.kind, SecurityKind::Option { .. })) {
        if let Some(underlying) = data.underlying_of(security) {
            options.entry(underlying.id).or_default().push(security.id);
        }
    }
    options
}

fn exchange_hours(exchange: Arc<domain::Exchange>) -> Option<(ExchangeId, ExchangeHours)> {
    let id = exchange.id;
    let calendar = Calendar::new(exchange).ok()?;
    Some((id, ExchangeHours { calendar, session: None }))
}

/// Returns the change with its effect: a retired security that is used stays, without trading.
fn apply_change(
    data: &mut ReferenceData,
    sequence: u64,
    change: ReferenceChange,
    is_used: impl Fn(SecurityId) -> bool,
) -> ReferenceChange {
    let effective = match change {
        ReferenceChange::RetireSecurity(id) if is_used(id) => not_tradeable(data, id).unwrap_or(change),
        _ => change,
    };
    match effective.clone() {
        ReferenceChange::Exchange(exchange) => drop(data.exchanges.insert(exchange.id, Arc::new(exchange))),
        ReferenceChange::Family(family) => drop(data.families.insert(family.id, Arc::new(family))),
        ReferenceChange::Security(security) => {
            data.security_changes.on_changed(sequence, security.id);
            data.securities.insert(security.id, Arc::new(security));
        }
        ReferenceChange::Account(account) => drop(data.accounts.insert(account.id, Arc::new(account))),
        ReferenceChange::Strategy(strategy) => drop(data.strategies.insert(strategy.id, Arc::new(strategy))),
        ReferenceChange::RetireSecurity(id) => {
            if data.securities.remove(&id).is_some() {
                data.security_changes.on_removed(sequence, id);
            }
        }
    }
    effective
}

fn not_tradeable(data: &ReferenceData, id: SecurityId) -> Option<ReferenceChange> {
    let security = data.securities.get(&id)?;
    Some(ReferenceChange::Security(Security { tradeable: false, ..Security::clone(security) }))
}

/// Written before there was a log of changes: each security counts as there from the first input on.
fn all_unchanged(data: &ReferenceData) -> SecurityChanges {
    let mut changes = SecurityChanges::default();
    data.securities.keys().for_each(|id| changes.on_changed(1, *id));
    changes
}

/// The number of fields on disk.
const FIELDS: u64 = 6;

impl<C> Encode<C> for ReferenceIndex {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        let data = &self.data;
        e.array(FIELDS)?;
        crate::codec::encode_shared(data.exchanges.values(), e, ctx)?;
        crate::codec::encode_shared(data.families.values(), e, ctx)?;
        crate::codec::encode_shared(data.securities.values(), e, ctx)?;
        crate::codec::encode_shared(data.accounts.values(), e, ctx)?;
        crate::codec::encode_shared(data.strategies.values(), e, ctx)?;
        data.security_changes.encode(e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for ReferenceIndex {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let fields = d.array()?;
        let mut data = ReferenceData {
            exchanges: crate::codec::decode_by_key(d, ctx, |exchange: &domain::Exchange| exchange.id)?,
            families: crate::codec::decode_by_key(d, ctx, |family: &domain::SecurityFamily| family.id)?,
            securities: crate::codec::decode_by_key(d, ctx, |security: &Security| security.id)?,
            accounts: crate::codec::decode_by_key(d, ctx, |account: &Account| account.id)?,
            strategies: crate::codec::decode_by_key(d, ctx, |strategy: &StrategyRecord| strategy.id)?,
            security_changes: SecurityChanges::default(),
        };
        data.security_changes = match fields {
            Some(FIELDS) => SecurityChanges::decode(d, ctx)?,
            // An older build did not log when a security changed.
            _ => all_unchanged(&data),
        };
        let mut directory = Self { data: Arc::new(data), ..Self::default() };
        directory.rebuild_indexes();
        Ok(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stock(id: u64, symbol: &str) -> ReferenceChange {
        ReferenceChange::Security(samples::stock(id, symbol))
    }

    /// Three securities at sequence 5.
    fn listed() -> ReferenceIndex {
        let mut index = ReferenceIndex::default();
        let securities = [stock(1, "ONE"), stock(2, "TWO"), stock(3, "THREE")];
        index.apply_changes(5, &[&[ReferenceChange::Exchange(samples::exchange())], &securities[..]].concat(), |_| {
            false
        });
        index
    }

    fn changed(index: &ReferenceIndex, sequence: u64) -> Vec<(u64, Option<bool>)> {
        let shown = |change: SecurityChange| (change.id.0, change.security.map(|security| security.tradeable));
        index.securities_changed_at(sequence).map(shown).collect()
    }

    #[test]
    fn only_what_changed_is_told() {
        let mut index = listed();
        assert_eq!(changed(&index, 5), [(1, Some(true)), (2, Some(true)), (3, Some(true))]);
        assert_eq!(index.apply_changes(9, &[stock(2, "TWO2")], |_| false), [stock(2, "TWO2")]);
        assert_eq!((changed(&index, 9), changed(&index, 5).len()), (vec![(2, Some(true))], 2));
        let family =
            ReferenceChange::Strategy(StrategyRecord { id: StrategyId(9), name: "NINE".into(), auto_activate: false });
        index.apply_changes(11, &[family], |_| false);
        assert_eq!((changed(&index, 11), index.data.security_changes.last()), (vec![], 9), "no security changed");
    }

    #[test]
    fn a_retired_security_is_removed_or_stays_without_trading() {
        let mut index = listed();
        let retired = [1, 2].map(|id| ReferenceChange::RetireSecurity(SecurityId(id)));
        let effective = index.apply_changes(7, &retired, |id| id == SecurityId(1));
        assert_eq!(changed(&index, 7), [(1, Some(false)), (2, None)]);
        let stays = Security { tradeable: false, ..samples::stock(1, "ONE") };
        assert_eq!(effective, [ReferenceChange::Security(stays), ReferenceChange::RetireSecurity(SecurityId(2))]);
    }

    #[test]
    fn what_changed_when_is_in_a_snapshot_and_an_older_one_is_read_without_it() {
        let index = listed();
        let bytes = minicbor::to_vec(&index).unwrap();
        let again: ReferenceIndex = minicbor::decode(&bytes).unwrap();
        assert_eq!(again.data, index.data);
        // As it was written before: without its last field, and five of them.
        let log = minicbor::to_vec(&index.data.security_changes).unwrap();
        let mut older = bytes[..bytes.len() - log.len()].to_vec();
        assert_eq!(older[0], 0x86);
        older[0] = 0x85;
        let older: ReferenceIndex = minicbor::decode(&older).unwrap();
        assert_eq!(older.data.securities, index.data.securities);
        assert_eq!((older.data.security_changes.last(), older.data.security_changes.after(Some(0)).count()), (1, 3));
        let mut completed = older;
        completed.take_change_log(&index);
        assert_eq!(minicbor::to_vec(&completed).unwrap(), bytes, "a replay compares it without what it cannot know");
    }
}
