//! Reference data index: securities, calendars, routes and the current session of each exchange.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::{
    Account, AccountId, AdapterName, Calendar, ExchangeId, LookupMap, MarketPhase, ReferenceData, Refusal, Security,
    SecurityId, SecurityKind, StrategyId, StrategyRecord, Timestamp, TradingSession,
};
use minicbor::{Decode, Decoder, Encode, Encoder};

#[derive(Debug, Clone, Default)]
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

    pub(crate) fn apply_changes(&mut self, changes: &[ReferenceChange], is_used: impl Fn(SecurityId) -> bool) {
        let data = Arc::make_mut(&mut self.data);
        for change in changes {
            apply_change(data, change.clone(), &is_used);
        }
        self.rebuild_indexes();
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

fn apply_change(data: &mut ReferenceData, change: ReferenceChange, is_used: impl Fn(SecurityId) -> bool) {
    match change {
        ReferenceChange::Exchange(exchange) => drop(data.exchanges.insert(exchange.id, Arc::new(exchange))),
        ReferenceChange::Family(family) => drop(data.families.insert(family.id, Arc::new(family))),
        ReferenceChange::Security(security) => drop(data.securities.insert(security.id, Arc::new(security))),
        ReferenceChange::Account(account) => drop(data.accounts.insert(account.id, Arc::new(account))),
        ReferenceChange::Strategy(strategy) => drop(data.strategies.insert(strategy.id, Arc::new(strategy))),
        ReferenceChange::RetireSecurity(id) if is_used(id) => make_not_tradeable(data, id),
        ReferenceChange::RetireSecurity(id) => drop(data.securities.remove(&id)),
    }
}

fn make_not_tradeable(data: &mut ReferenceData, id: SecurityId) {
    if let Some(security) = data.securities.get_mut(&id) {
        Arc::make_mut(security).tradeable = false;
    }
}

impl<C> Encode<C> for ReferenceIndex {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        let data = &self.data;
        e.array(5)?;
        crate::codec::encode_shared(data.exchanges.values(), e, ctx)?;
        crate::codec::encode_shared(data.families.values(), e, ctx)?;
        crate::codec::encode_shared(data.securities.values(), e, ctx)?;
        crate::codec::encode_shared(data.accounts.values(), e, ctx)?;
        crate::codec::encode_shared(data.strategies.values(), e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for ReferenceIndex {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        let data = ReferenceData {
            exchanges: crate::codec::decode_by_key(d, ctx, |exchange: &domain::Exchange| exchange.id)?,
            families: crate::codec::decode_by_key(d, ctx, |family: &domain::SecurityFamily| family.id)?,
            securities: crate::codec::decode_by_key(d, ctx, |security: &Security| security.id)?,
            accounts: crate::codec::decode_by_key(d, ctx, |account: &Account| account.id)?,
            strategies: crate::codec::decode_by_key(d, ctx, |strategy: &StrategyRecord| strategy.id)?,
        };
        let mut directory = Self { data: Arc::new(data), ..Self::default() };
        directory.rebuild_indexes();
        Ok(directory)
    }
}
