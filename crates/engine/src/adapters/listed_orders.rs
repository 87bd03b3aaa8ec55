//! Orders and the listings of venues: a new order must fit what its venue takes, and open orders are checked again when
//! that changes. An open order that no longer fits stays: whether it may rest the venue decides, and a cancel of ours
//! would give its place away.

use domain::order::{Order, OrderTerms};
use domain::report::{ListingRefusal, ListingStatus, VenueListing};
use domain::{AdapterName, OrderId, Refusal, SecurityId};

use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// An alarm names this many orders; beyond that it gives the count.
const NAMES_MAX: usize = 5;

impl Trading {
    /// Whether the venue would take an order with these terms: it has the type and the time in force, and they fit its listing of the security.
    /// Where it has told nothing, the reference data decide.
    pub(crate) fn check_listing(
        &self,
        adapter: &AdapterName,
        security: SecurityId,
        terms: &OrderTerms,
    ) -> Result<(), Refusal> {
        let listing = self.venue_listings.get(adapter, security);
        let checked = self.adapters.check_terms(adapter, terms);
        let checked = checked.and_then(|()| listing.map_or(Ok(()), |listing| check(listing, terms)));
        checked.map_err(|refusal| Refusal::Listing { adapter: adapter.clone(), refusal })
    }

    /// Whether the venue can give an open order these terms.
    pub(crate) fn check_replace(&self, order: &Order, terms: &OrderTerms) -> Result<(), Refusal> {
        let listing = self.venue_listings.get(&order.adapter, order.security);
        let of_listing = listing.and_then(|listing| listing.replace);
        let kind = of_listing.unwrap_or_else(|| self.adapters.replace_kind(&order.adapter));
        match kind.allows(&order.terms, order.filled, terms) {
            true => Ok(()),
            false => Err(Refusal::Listing { adapter: order.adapter.clone(), refusal: ListingRefusal::Replace(kind) }),
        }
    }

    pub(crate) fn on_listed(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        (security, told): (SecurityId, VenueListing),
        out: &mut Outbox,
    ) {
        let Some(symbol) = self.symbol_at(adapter, security) else {
            let text = format!("{adapter} tells what it takes of security {security}, which is not traded there");
            return out.error("foreign-listing", text);
        };
        let before = self.venue_listings.get(adapter, security).copied();
        let now = VenueListing { status: status_after(before, told.status), ..told };
        if before == Some(now) {
            return;
        }
        self.venue_listings.insert(adapter, security, now);
        if let Some(before) = before {
            out.warn("listing-changed", format!("{adapter}: {symbol} has {}", changes(&before, &now)));
        }
        self.check_open_orders(adapter, security, (before, now), out);
        if !now.status.is_listed() {
            self.ask_about_delisted(moment, adapter, security, out);
        }
    }

    fn symbol_at(&self, adapter: &AdapterName, security: SecurityId) -> Option<String> {
        let security = self.reference.security(security).ok()?;
        self.adapters.serves(adapter, security.exchange).then(|| security.symbol.to_string())
    }

    /// Tells which open orders the change has made unfit.
    fn check_open_orders(
        &self,
        adapter: &AdapterName,
        security: SecurityId,
        (before, now): (Option<VenueListing>, VenueListing),
        out: &mut Outbox,
    ) {
        let did_fit = |order: &Order| before.is_none_or(|before| check(&before, &order.terms).is_ok());
        let open = self.orders_at(adapter, security).filter(|order| did_fit(order));
        let unfit = open.filter_map(|order| Some((order, check(&now, &order.terms).err()?)));
        let names: Vec<String> =
            unfit.map(|(order, refusal)| format!("{} ({})", order.int_id, refusal.code())).collect();
        if names.is_empty() {
            return;
        }
        let shown = first_names(&names);
        let text = format!(
            "{adapter} would not take these open orders any more: {shown}; they stay until the venue or you cancel them"
        );
        out.warn("orders-unfit", text);
    }

    /// A venue ends orders of what it no longer lists, and may not report it.
    fn ask_about_delisted(&mut self, moment: Moment, adapter: &AdapterName, security: SecurityId, out: &mut Outbox) {
        let orders: Vec<OrderId> = self.orders_at(adapter, security).map(|order| order.id).collect();
        if !orders.is_empty() {
            self.ask_about_all(moment, &orders);
            self.send_inquiries(moment, out);
        }
    }

    /// Open orders in the security that the venue has.
    fn orders_at<'a>(&'a self, adapter: &'a AdapterName, security: SecurityId) -> impl Iterator<Item = &'a Order> {
        let open = self.orders.open().map(AsRef::as_ref);
        open.filter(move |order: &&Order| order.adapter == *adapter && order.security == security)
            .filter(|order| !self.waiting_orders.contains(order.id))
    }
}

/// `A-1, A-2 and 3 more`
pub(super) fn first_names(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(NAMES_MAX)].join(", "))
}

fn check(listing: &VenueListing, terms: &OrderTerms) -> Result<(), ListingRefusal> {
    listing.check(terms.quantity, terms.kind.limit(), terms.kind.stop())
}

/// What was listed once is delisted, also where that happened while nobody looked.
fn status_after(before: Option<VenueListing>, told: ListingStatus) -> ListingStatus {
    let was_listed = before.is_some_and(|before| before.status != ListingStatus::Unlisted);
    if told == ListingStatus::Unlisted && was_listed { ListingStatus::Delisted } else { told }
}

/// `status halted (was trading), tick 0.05 (was 0.01)`
fn changes(before: &VenueListing, now: &VenueListing) -> String {
    let pairs = fields(before).into_iter().zip(fields(now));
    let changed = pairs.filter(|(before, now)| before != now);
    let shown = changed.map(|((name, before), (_, now))| format!("{name} {now} (was {before})"));
    shown.collect::<Vec<_>>().join(", ")
}

fn fields(listing: &VenueListing) -> [(&'static str, String); 7] {
    fn shown<T: ToString>(bound: Option<T>) -> String {
        bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string())
    }
    [
        ("status", listing.status.name().to_owned()),
        ("tick", shown(listing.tick)),
        ("lot", shown(listing.lot)),
        ("least quantity", shown(listing.quantity_min)),
        ("largest quantity", shown(listing.quantity_max)),
        ("least value", shown(listing.notional_min)),
        ("largest value", shown(listing.notional_max)),
    ]
}
