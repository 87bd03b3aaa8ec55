//! Words of a venue that lists its open orders and fills.

use domain::breaks::{Break, BreakSide};
use domain::order::TifKind;
use domain::report::{
    AdapterCapabilities, CancelKind, FillsPage, FillsScope, ListingCapabilities, ListingScope, ListingStatus,
    OfferedOrderType, OpenOrdersPage, RefusesRepeatedIds, ReportKind, RequestTiming, SessionState, VenueFill,
    VenueListing, VenueOrder, VenueSnapshot,
};
use domain::{ExchangeId, OrderProperty, OrderType, SecurityId, Text};

use super::StoryEngine;
use super::fixture::security;
use super::language::{price, terms};

/// `B1 ORDER OPEN: ours status CANCELED, theirs status LIVE by ann (why)`
pub(super) fn break_line(found: &Break) -> String {
    let side = |side: &Option<BreakSide>| match side {
        Some(side) => side.0.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", "),
        None => "nothing".to_owned(),
    };
    let Break { id, state, difference, changed_by, comment, .. } = found;
    let show =
        |text: &Option<Text>, before: &str| text.as_ref().map_or(String::new(), |text| format!("{before}{text}"));
    format!(
        "{id} {} {}: ours {}, theirs {}{}{}",
        difference.kind.name(),
        state.name(),
        side(&difference.ours),
        side(&difference.theirs),
        show(comment, "; "),
        show(changed_by, " by ")
    )
}

/// `trading tick 0.05 lot 10 from 20 to 100 worth 200 up-to 900`
fn venue_listing(status: &str, filters: &[&str]) -> VenueListing {
    use ListingStatus::{CancelOnly, Delisted, Halted, Trading, Unlisted};
    let statuses = [Trading, Halted, CancelOnly, Delisted, Unlisted];
    let filter = |name: &str| filters.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let quantity = |name| filter(name).map(|text| text.parse().unwrap());
    let amount = |name| filter(name).map(|text| text.parse().unwrap());
    VenueListing {
        status: statuses.into_iter().find(|known| known.name() == status).unwrap(),
        tick: filter("tick").map(price),
        lot: quantity("lot"),
        quantity_min: quantity("from"),
        quantity_max: quantity("to"),
        notional_min: amount("worth"),
        notional_max: amount("up-to"),
        replace: None,
    }
}

/// `list fills after 7`
pub(super) fn question(security: Option<SecurityId>, cursor: Option<&Text>) -> String {
    let of = security.map_or(String::new(), |security| format!(" of {security}"));
    format!("list fills{of} after {}", cursor.map_or("the beginning", |cursor| cursor.as_ref()))
}

impl StoryEngine {
    /// As `open`, with venue A listing its open orders and its fills.
    pub(crate) fn listing() -> Self {
        Self::listing_fills(FillsScope::All)
    }

    pub(crate) fn listing_fills(scope: FillsScope) -> Self {
        Self::with_lists(ListingCapabilities { open_orders: true, fills: Some(scope), ..Default::default() }, None)
    }

    /// As `open`, with venue A giving statements, which may lack what is newer than so many milliseconds.
    pub(crate) fn stating(read_lag_millis: Option<u32>) -> Self {
        let timing = read_lag_millis.map(|read_lag_millis| RequestTiming { life_millis: Some(0), read_lag_millis });
        Self::with_lists(ListingCapabilities { statement: true, ..Default::default() }, timing)
    }

    /// As `listing`, with statements too.
    pub(crate) fn listing_all() -> Self {
        let lists = ListingCapabilities { open_orders: true, fills: Some(FillsScope::All), statement: true };
        Self::with_lists(lists, None)
    }

    /// As `open`, with venue A leaving the end of orders for a day, or until an instant, to the platform.
    pub(crate) fn without_expiry() -> Self {
        Self::with_venue_a(AdapterCapabilities { expires_orders: false, ..profile() })
    }

    /// As `open`, with venue A having limit orders for the day or until cancelled alone.
    pub(crate) fn with_limit_orders_alone() -> Self {
        let times_in_force = vec![TifKind::Day, TifKind::Gtc];
        let order_types = Some(vec![OfferedOrderType { order_type: OrderType::Limit, times_in_force }]);
        Self::with_venue_a(AdapterCapabilities { order_types, ..profile() })
    }

    /// As `without_expiry`, with venue A taking no cancels.
    pub(crate) fn without_cancels() -> Self {
        Self::with_venue_a(no_cancels())
    }

    /// As `without_cancels`, with venue A listing its open orders.
    pub(crate) fn listing_without_cancels() -> Self {
        let lists = ListingCapabilities { open_orders: true, ..Default::default() };
        Self::with_venue_a(AdapterCapabilities { lists, ..no_cancels() })
    }

    /// The server starts again, with a venue A that takes none.
    pub(crate) fn attach_without_cancels(&mut self) -> String {
        self.attach(no_cancels())
    }

    /// The server starts again, with a venue A that takes them.
    pub(crate) fn attach_with_cancels(&mut self) -> String {
        self.attach(AdapterCapabilities { cancel: CancelKind::WhileOpen, ..no_cancels() })
    }

    fn attach(&mut self, capabilities: AdapterCapabilities) -> String {
        self.say("SIM-A", ReportKind::Attached(capabilities)).into_iter().map(|told| format!("    {told}\n")).collect()
    }

    fn with_lists(lists: ListingCapabilities, request_timing: Option<RequestTiming>) -> Self {
        Self::with_venue_a(AdapterCapabilities { lists, request_timing, ..profile() })
    }

    fn with_venue_a(profile: AdapterCapabilities) -> Self {
        let mut world = Self::open();
        world.say("SIM-A", ReportKind::Attached(profile));
        world.say("SIM-A", ReportKind::Session(SessionState::Connected));
        world.say("SIM-A", ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }));
        world.say("SIM-A", ReportKind::Session(SessionState::LoggedOn));
        world
    }

    fn taken_back(&self, id: &str, exec_id: &str, by: Option<VenueFill>) -> ReportKind {
        ReportKind::TakenBack { order: self.number(id), exec_id: exec_id.into(), by: by.map(Box::new), at: None }
    }

    pub(super) fn listed(&self, words: &[&str]) -> ReportKind {
        match words {
            ["filled-in-all", id, quantity] => {
                ReportKind::FilledInAll { order: self.number(id), quantity: quantity.parse().unwrap() }
            }
            // Asked now, one page.
            ["lists", parts @ ..] => self.page(parts, 0, (0, true)),
            ["listed", seconds, "ago", parts @ ..] => self.page(parts, seconds.parse().unwrap(), (0, true)),
            // `page 0 of …` has more pages behind it, `page 1 of` too; `end 2` is the last one.
            ["page", page, parts @ ..] => self.page(parts, 0, (page.parse().unwrap(), false)),
            ["end", page, parts @ ..] => self.page(parts, 0, (page.parse().unwrap(), true)),
            ["lists-fills", "from", from, "to", next, parts @ ..] => {
                let cursor = |cursor: &str| (cursor != "-").then(|| Text::from(cursor));
                ReportKind::Fills(FillsPage {
                    security: None,
                    from: cursor(from),
                    fills: self.picture(parts).fills,
                    next_cursor: cursor(next),
                    last: !parts.contains(&"more"),
                    as_of: self.now,
                })
            }
            ["takes-back", id, exec] => self.taken_back(id, exec, None),
            ["takes-back", id, exec, "for", quantity, "@", at, by] => {
                let by = self.picture(&[&format!("fill:{id}:{quantity}@{at}:{by}")]).fills.remove(0);
                self.taken_back(id, exec, Some(by))
            }
            ["lists-terms", id, quantity, "@", limit, others @ ..] => {
                let mut orders = self.picture(&[&format!("{id}:live")]).orders;
                orders.extend(self.picture(others).orders);
                orders[0].terms = terms(quantity, limit);
                let as_of = self.now;
                ReportKind::OpenOrders(OpenOrdersPage { as_of, dead_after: Some(as_of), page: 0, last: true, orders })
            }
            // With the quantity of that leg.
            ["lists-leg", id, leg, quantity, "@", limit] => {
                let seen = VenueOrder { terms: terms(quantity, limit), ..self.leg(id, leg, "live") };
                let (as_of, orders) = (self.now, vec![seen]);
                ReportKind::OpenOrders(OpenOrdersPage { as_of, dead_after: Some(as_of), page: 0, last: true, orders })
            }
            ["fails-to-list", "orders"] => {
                ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason: "status 503".into() }
            }
            ["fails-to-list", "fills"] => {
                ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason: "status 503".into() }
            }
            ["fails-to-list", "statement"] => {
                let scope = ListingScope::Statement(domain::AccountId(1));
                ReportKind::ListingFailed { scope, reason: "status 503".into() }
            }
            ["takes", symbol, status, filters @ ..] => {
                ReportKind::Listed { security: security(symbol), listing: venue_listing(status, filters) }
            }
            other => panic!("not a word of a venue: {other:?}"),
        }
    }

    fn page(&self, parts: &[&str], seconds_ago: i64, (page, last): (u32, bool)) -> ReportKind {
        let as_of = self.now.plus_seconds(-seconds_ago);
        let orders = self.picture(parts).orders;
        ReportKind::OpenOrders(OpenOrdersPage { as_of, dead_after: Some(as_of), page, last, orders })
    }
}

fn no_cancels() -> AdapterCapabilities {
    AdapterCapabilities { expires_orders: false, cancel: CancelKind::None, ..profile() }
}

fn profile() -> AdapterCapabilities {
    AdapterCapabilities {
        exchanges: vec![ExchangeId(1)],
        expires_orders: true,
        refuses_repeated_ids: RefusesRepeatedIds::Forever,
        simulated: true,
        order_properties: OrderProperty::ALL.to_vec(),
        ..AdapterCapabilities::default()
    }
}
