//! Adapter states: capabilities, session, and whether reconciliation is done; and what their venues take of securities at
//! present, as they told it last.

use std::collections::BTreeMap;

use domain::order::OrderTerms;
use domain::query::{AdapterStatus, LineStatus};
use domain::report::{
    AdapterCapabilities, CancelKind, LineKind, LineState, ListingCapabilities, ListingRefusal, OpenFor, ReplaceKind,
    SessionState, VenueListing,
};
use domain::{AdapterName, ExchangeId, OrderProperties, OrderProperty, PassThrough, SecurityId, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode, Encoder};

#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct AdapterStates(#[n(0)] pub(crate) BTreeMap<AdapterName, AdapterState>);

#[derive(Debug, Clone, Encode, Decode)]
pub(crate) struct AdapterState {
    #[n(0)]
    pub(crate) capabilities: AdapterCapabilities,
    #[n(1)]
    pub(crate) session: SessionState,
    /// Reconciled with the venue since it connected.
    #[n(2)]
    pub(crate) reconciled: bool,
    /// Lines that failed while the session stays up, with the reason; absent where there are none.
    #[n(3)]
    pub(crate) down: Option<BTreeMap<LineKind, Option<Text>>>,
}

impl AdapterState {
    /// Whether that changed anything.
    pub(crate) fn set_line(&mut self, line: LineKind, up: bool, reason: Option<&Text>) -> bool {
        let mut down = self.down.take().unwrap_or_default();
        let was_down = if up { down.remove(&line).is_some() } else { down.insert(line, reason.cloned()).is_some() };
        self.down = Some(down).filter(|down| !down.is_empty());
        was_down == up
    }

    fn line(&self, session: SessionState, line: LineKind) -> LineState {
        let needed = if line == LineKind::Prices { SessionState::Subscribed } else { SessionState::LoggedOn };
        let failed = self.down.as_ref().and_then(|down| down.get(&line));
        LineState { line, up: session >= needed && failed.is_none(), reason: failed.cloned().flatten() }
    }
}

impl AdapterStates {
    pub(crate) fn serves(&self, adapter: &AdapterName, exchange: ExchangeId) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.exchanges.contains(&exchange))
    }

    pub(crate) fn adapters_for(&self, exchange: ExchangeId) -> impl Iterator<Item = &AdapterName> {
        let serves = move |desk: &AdapterState| desk.capabilities.exchanges.contains(&exchange);
        self.0.iter().filter(move |(_, desk)| serves(desk)).map(|(name, _)| name)
    }

    /// An adapter takes orders only after it was reconciled.
    pub(crate) fn session(&self, adapter: &AdapterName) -> SessionState {
        match self.0.get(adapter) {
            Some(desk) if desk.reconciled => desk.session,
            Some(desk) => desk.session.min(SessionState::Connected),
            None => SessionState::Disconnected,
        }
    }

    /// The lines of an adapter, as they follow from its session and from what it has reported of them.
    pub(crate) fn lines(&self, adapter: &AdapterName) -> Vec<LineState> {
        let session = self.session(adapter);
        self.0.get(adapter).map_or(vec![], |desk| LineKind::ALL.map(|line| desk.line(session, line)).to_vec())
    }

    /// The first line without which no position may be opened at the venue.
    pub(crate) fn line_down(&self, adapter: &AdapterName) -> Option<LineKind> {
        let down = self.0.get(adapter)?.down.as_ref()?;
        down.keys().copied().find(|line| *line != LineKind::Prices)
    }

    /// Whether requests would not reach the venue, though the session is up.
    pub(crate) fn is_trading_line_down(&self, adapter: &AdapterName) -> bool {
        let down = self.0.get(adapter).and_then(|desk| desk.down.as_ref());
        down.is_some_and(|down| down.contains_key(&LineKind::Trading))
    }

    /// The first of these properties that the venue does not offer.
    pub(crate) fn missing_property(
        &self,
        adapter: &AdapterName,
        properties: &OrderProperties,
    ) -> Option<OrderProperty> {
        let offers = |property| self.0.get(adapter).is_some_and(|desk| desk.capabilities.offers(property));
        properties.needs().find(|property| !offers(*property))
    }

    /// Whether the venue has orders of this type with this time in force.
    pub(crate) fn check_terms(&self, adapter: &AdapterName, terms: &OrderTerms) -> Result<(), ListingRefusal> {
        self.0.get(adapter).map_or(Ok(()), |desk| desk.capabilities.check_terms(terms))
    }

    /// The first of these tags that does not pass to the venue.
    pub(crate) fn missing_tag(&self, adapter: &AdapterName, fields: &PassThrough) -> Option<u32> {
        let passed = self.0.get(adapter).and_then(|desk| desk.capabilities.pass_through.as_ref());
        let passes = |tag: u32| passed.is_some_and(|tags| tags.contains(&tag));
        fields.fields.iter().map(|field| field.tag).find(|tag| !passes(*tag))
    }

    /// Whether an order that did arrive after all would be refused when it is sent again.
    pub(crate) fn allows_resend(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.refuses_repeated_ids.allows_resend())
    }

    /// Whether something that the venue did not show at that instant is not there and cannot come any more.
    pub(crate) fn proves_absence(
        &self,
        adapter: &AdapterName,
        as_of: Timestamp,
        dead_after: Option<Timestamp>,
    ) -> bool {
        let Some(desk) = self.0.get(adapter) else { return false };
        dead_after.is_some_and(|fence| as_of >= fence.plus_millis(desk.capabilities.read_lag_millis()))
    }

    /// How its venue gives an order other terms.
    pub(crate) fn replace_kind(&self, adapter: &AdapterName) -> ReplaceKind {
        self.0.get(adapter).map_or(ReplaceKind::InPlace, |desk| desk.capabilities.replace)
    }

    /// Whether its venue takes cancels.
    pub(crate) fn cancel_kind(&self, adapter: &AdapterName) -> CancelKind {
        self.0.get(adapter).map_or(CancelKind::WhileOpen, |desk| desk.capabilities.cancel)
    }

    pub(crate) fn gives_statements(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.lists.statement)
    }

    /// What its venue can list while the session is up.
    pub(crate) fn lists(&self, adapter: &AdapterName) -> Option<ListingCapabilities> {
        self.0.get(adapter).map(|desk| desk.capabilities.lists)
    }

    pub(crate) fn read_lag_millis(&self, adapter: &AdapterName) -> i64 {
        self.0.get(adapter).map_or(0, |desk| desk.capabilities.read_lag_millis())
    }

    pub(crate) fn expires_orders(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_none_or(|desk| desk.capabilities.expires_orders)
    }

    pub(crate) fn mark_reconciled(&mut self, adapter: &AdapterName) {
        if let Some(desk) = self.0.get_mut(adapter) {
            desk.reconciled = true;
        }
    }

    pub(crate) fn statuses(&self) -> Vec<AdapterStatus> {
        let status = |(name, desk): (&AdapterName, &AdapterState)| AdapterStatus {
            adapter: name.clone(),
            session: self.session(name),
            simulated: desk.capabilities.simulated,
            exchanges: desk.capabilities.exchanges.clone(),
            order_properties: desk.capabilities.order_properties.clone(),
            replace: desk.capabilities.replace,
            cancel: desk.capabilities.cancel,
            open_for: OpenFor::new(self.session(name), &self.lines(name)),
            lines: self.lines(name).into_iter().map(unseen).collect(),
        };
        self.0.iter().map(status).collect()
    }
}

/// When it was seen is known outside of the journalled state.
fn unseen(state: LineState) -> LineStatus {
    LineStatus { state, since: None, last_heard: None }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct VenueListings(BTreeMap<AdapterName, BTreeMap<SecurityId, VenueListing>>);

impl VenueListings {
    /// Absent where the venue has told nothing: then the reference data alone decide.
    pub(crate) fn get(&self, adapter: &AdapterName, security: SecurityId) -> Option<&VenueListing> {
        self.0.get(adapter)?.get(&security)
    }

    pub(crate) fn insert(&mut self, adapter: &AdapterName, security: SecurityId, listing: VenueListing) {
        self.0.entry(adapter.clone()).or_default().insert(security, listing);
    }
}

/// Written only where a venue has told something, so that the state of other engines is what earlier builds wrote.
impl<C> Encode<C> for VenueListings {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.0.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for VenueListings {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        BTreeMap::decode(d, ctx).map(Self)
    }
}
