//! Differences that reports show, and the breaks that they become.

use domain::breaks::{Break, BreakEvidence, BreakId, BreakKind, BreakRepair, BreakSide, BreakStep, Difference};
use domain::lookup_map::fingerprint;
use domain::order::{Order, OrderTerms};
use domain::report::{FilledTotal, VenueFill, VenueOrder};
use domain::{AdapterName, Amount, Currency, Event, OrderId, Quantity, Report, Text};

use super::breaks::{FoundDifference, Recorded};
use crate::orders::fills::executions::BookedExecution;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

const TAKEN_OVER: &str = "taken over from the venue";
const AGREED: &str = "both sides agree again";

impl Trading {
    /// Turns what the report showed into breaks. Almost always that is nothing.
    pub(crate) fn record_breaks(&mut self, moment: Moment, report: &Report, out: &mut Outbox) {
        if self.breaks.found.is_empty() {
            return;
        }
        let written = minicbor::to_vec(report).expect("a vector takes everything");
        let hash: Text = format!("{:032x}", fingerprint(&[&written])).into();
        for found in std::mem::take(&mut self.breaks.found) {
            let evidence = BreakEvidence { report: found.told.into(), sequence: moment.sequence, hash: hash.clone() };
            let recorded = self.breaks.record(found.difference, evidence, moment.at);
            self.publish_recorded(moment, recorded, found.is_taken_over, out);
        }
    }

    fn publish_recorded(&mut self, moment: Moment, recorded: Recorded, is_taken_over: bool, out: &mut Outbox) {
        match recorded {
            Recorded::New(id) | Recorded::Changed(id) => {
                let Some(found) = self.breaks.get(id).cloned() else { return };
                out.warn("break-found", format!("{}: {}", found.id, summary(&found)));
                out.publish(Event::Break(found));
                if is_taken_over {
                    self.change_break(moment, id, BreakStep::Repair, (None, TAKEN_OVER.into()), out);
                }
            }
            Recorded::Known => {}
            Recorded::Refused => {
                out.error("too-many-breaks", "a difference is not recorded: settle open breaks first".to_owned());
            }
        }
    }

    /// Changes the state of a break where the table has that step.
    pub(super) fn change_break(
        &mut self,
        moment: Moment,
        id: BreakId,
        step: BreakStep,
        (user, comment): (Option<Text>, Text),
        out: &mut Outbox,
    ) {
        let next = self.breaks.get(id).and_then(|found| found.state.after(step));
        let changed = next.and_then(|next| {
            self.breaks.change(id, |found| {
                (found.state, found.changed_at) = (next, moment.at);
                (found.changed_by, found.comment) = (user, Some(comment));
            })
        });
        changed.into_iter().for_each(|changed| out.publish(Event::Break(changed)));
    }

    /// Open breaks whose sides agree again explain themselves.
    pub(super) fn settle_agreed(
        &mut self,
        moment: Moment,
        kind: BreakKind,
        agrees: impl Fn(&Self, &Difference) -> bool,
        out: &mut Outbox,
    ) {
        let agreed = self.breaks.open_of_kind(kind).filter(|found| agrees(self, &found.difference));
        for id in agreed.map(|found| found.id).collect::<Vec<_>>() {
            self.change_break(moment, id, BreakStep::Agree, (None, AGREED.into()), out);
        }
    }

    pub(super) fn note(&mut self, difference: Difference, told: String) {
        self.breaks.found.push(FoundDifference { difference, told, is_taken_over: false });
    }

    /// The venue does not know an order that it had accepted.
    pub(crate) fn note_vanished(&mut self, order: &Order, repair: Option<BreakRepair>) {
        let difference = Difference { ours: Some(our_order(order)), repair, ..of_order(BreakKind::Order, order) };
        self.note(difference, format!("no order {}", order.ext_id.as_deref().unwrap_or(order.int_id.as_str())));
    }

    /// The venue has filled more of an order than is booked, and what is missing cannot be booked.
    pub(crate) fn note_missing_fills(&mut self, order: &Order, told: FilledTotal, repair: Option<BreakRepair>) {
        let (total, average_price) = (told.quantity.to_string(), told.average_price.to_string());
        let Ok(missing) = told.quantity.minus(order.filled) else { return };
        let security = self.reference.security(order.security).ok();
        let value = security.and_then(|security| {
            let value = missing.value_at(told.average_price, security.contract_size).ok()?;
            self.in_base(value.abs(), security.currency)
        });
        let told = format!("order {} has {total} filled @ {average_price}", order.int_id);
        let difference = Difference {
            ours: Some(BreakSide::new([("filled", order.filled.to_string())])),
            theirs: Some(BreakSide::new([("filled", total), ("averagePrice", average_price)])),
            amount: Some(Amount(missing.0)),
            value,
            repair,
            ..of_order(BreakKind::Fill, order)
        };
        self.note(difference, told);
    }

    /// What the venue has filled of the order is booked.
    pub(crate) fn settle_missing_fills(&mut self, moment: Moment, order: OrderId, out: &mut Outbox) {
        let is_total = |difference: &Difference| difference.order == Some(order) && difference.exec_id.is_none();
        self.settle_agreed(moment, BreakKind::Fill, |_, difference| is_total(difference), out);
    }

    /// The venue has an order open that has ended here.
    pub(crate) fn note_open_at_venue(&mut self, order: &Order, ext_id: Option<&Text>, seen: Option<&VenueOrder>) {
        let mut values = vec![("status".into(), "LIVE".into())];
        values.extend(seen.iter().flat_map(|seen| terms_values(&seen.terms)));
        let difference = Difference {
            ours: Some(our_order(order)),
            theirs: Some(BreakSide(values)),
            ext_order_id: ext_id.cloned().or(order.ext_id.clone()),
            repair: Some(BreakRepair::CancelAtVenue),
            ..of_order(BreakKind::Order, order)
        };
        self.note(difference, format!("order {} is open", ext_id.map_or("", |id| id.as_ref())));
    }

    /// A leg is in the market besides the one that its order works by. The engine cancels it by itself.
    pub(crate) fn note_stray_leg(&mut self, order: &Order, leg: &Text) {
        let legs = order.legs.iter().flat_map(|legs| &legs.0).find(|known| known.ext_id == *leg);
        let mut values = vec![("leg".into(), leg.clone()), ("status".into(), "LIVE".into())];
        values.extend(legs.iter().flat_map(|leg| terms_values(&leg.terms)));
        let difference = Difference {
            ours: Some(our_order(order)),
            theirs: Some(BreakSide(values)),
            ext_order_id: Some(leg.clone()),
            ..of_order(BreakKind::Order, order)
        };
        self.note(difference, format!("leg {leg} of order {} is open", order.int_id));
    }

    /// The leg is gone.
    pub(crate) fn settle_leg_break(&mut self, moment: Moment, order: &Order, leg: &Text, out: &mut Outbox) {
        let is_of_leg = |difference: &Difference| {
            difference.order == Some(order.id) && difference.ext_order_id.as_ref() == Some(leg)
        };
        self.settle_agreed(moment, BreakKind::Order, |_, difference| is_of_leg(difference), out);
    }

    /// The terms of an open order differ, and no request of ours explains it. The venue's are the ones that trade, so they
    /// are taken over.
    pub(crate) fn note_terms(&mut self, order: &Order, ours: &OrderTerms, seen: &VenueOrder) {
        let difference = Difference {
            ours: Some(BreakSide(terms_values(ours))),
            theirs: Some(BreakSide(terms_values(&seen.terms))),
            amount: seen.terms.quantity.minus(ours.quantity).ok().map(|change| Amount(change.0)),
            ..of_order(BreakKind::Terms, order)
        };
        let told = format!("order {} has {}", order.int_id, text_of(&terms_values(&seen.terms)));
        self.breaks.found.push(FoundDifference { difference, told, is_taken_over: true });
    }

    /// One execution with two prices or quantities: one of them is missing or wrong.
    pub(crate) fn note_execution_differs(&mut self, adapter: &AdapterName, booked: &BookedExecution, fill: &VenueFill) {
        let order = self.orders.get(booked.order).cloned();
        let theirs = BreakSide::new([
            ("order", fill.order.to_string()),
            ("quantity", fill.quantity.to_string()),
            ("price", fill.price.to_string()),
        ]);
        let ours = BreakSide::new([
            ("order", booked.order.to_string()),
            ("quantity", booked.quantity.to_string()),
            ("price", booked.price.to_string()),
        ]);
        let is_same_order = booked.order == fill.order;
        let difference = Difference {
            exec_id: Some(fill.exec_id.clone()),
            ours: Some(ours),
            theirs: Some(theirs),
            amount: fill.quantity.minus(booked.quantity).ok().map(|change| Amount(change.0)),
            value: order.as_ref().and_then(|order| self.value_of_fill(order, booked, fill)),
            repair: is_same_order.then(|| BreakRepair::CorrectFill(Box::new(fill.clone()))),
            ..order.map_or_else(|| Difference::new(BreakKind::Fill, adapter), |order| of_order(BreakKind::Fill, &order))
        };
        self.note(difference, told_fill(fill));
    }

    /// What an execution costs differs from what was booked for it.
    pub(crate) fn note_fee(&mut self, order: &Order, fill: &VenueFill, (ours, theirs): (Amount, Amount)) {
        let Ok(security) = self.reference.security(order.security) else { return };
        let (currency, side) = (security.currency, |fee: Amount| BreakSide::new([("fee", fee.to_string())]));
        let Ok(amount) = theirs.minus(ours) else { return };
        let difference = Difference {
            exec_id: Some(fill.exec_id.clone()),
            currency: Some(currency),
            ours: Some(side(ours)),
            theirs: Some(side(theirs)),
            amount: Some(amount),
            value: self.in_base(amount.abs(), currency),
            repair: Some(BreakRepair::BookFee { amount, currency, exec_id: fill.exec_id.clone() }),
            ..of_order(BreakKind::Fee, order)
        };
        self.note(difference, format!("{} for a fee of {theirs} {currency}", told_fill(fill)));
    }

    /// A fill that cannot be booked: only a person can record it.
    pub(crate) fn note_unbooked(&mut self, adapter: &AdapterName, fill: &VenueFill) {
        let order = self.orders.get(fill.order).cloned();
        let theirs = BreakSide::new([("quantity", fill.quantity.to_string()), ("price", fill.price.to_string())]);
        let known = order.map(|order| of_order(BreakKind::Fill, &order));
        let difference = Difference {
            order: Some(fill.order),
            exec_id: Some(fill.exec_id.clone()),
            theirs: Some(theirs),
            amount: Some(Amount(fill.quantity.0)),
            ..known.unwrap_or_else(|| Difference {
                account: self.orders.retired_account(fill.order),
                ..Difference::new(BreakKind::Fill, adapter)
            })
        };
        self.note(difference, told_fill(fill));
    }

    /// The venue does not count an execution of an order that is no longer kept. Returns whether that is news.
    pub(crate) fn note_taken_back(
        &mut self,
        adapter: &AdapterName,
        (order, exec_id): (OrderId, &Text),
        by: Option<&VenueFill>,
    ) -> bool {
        let theirs = match by {
            Some(by) => BreakSide::new([("quantity", by.quantity.to_string()), ("price", by.price.to_string())]),
            None => BreakSide::new([("quantity", Quantity::ZERO.to_string())]),
        };
        let difference = Difference {
            account: self.orders.retired_account(order),
            order: Some(order),
            exec_id: Some(exec_id.clone()),
            theirs: Some(theirs),
            ..Difference::new(BreakKind::Fill, adapter)
        };
        let is_news = !self.breaks.is_known(&difference);
        if is_news {
            let told = by.map(told_fill).unwrap_or_else(|| "no execution".to_owned());
            self.note(difference, format!("{told} instead of {exec_id}"));
        }
        is_news
    }

    /// An order at the venue that is not known here.
    pub(crate) fn note_unknown_order(&mut self, adapter: &AdapterName, order: OrderId) {
        let theirs = BreakSide::new([("order", order.to_string())]);
        let difference =
            Difference { order: Some(order), theirs: Some(theirs), ..Difference::new(BreakKind::External, adapter) };
        self.note(difference, format!("order number {order}"));
    }

    /// In base currency; absent where no rate is known.
    pub(super) fn in_base(&self, amount: Amount, currency: Currency) -> Option<Amount> {
        self.marks.convert(amount, currency, self.settings.base_currency)
    }

    fn value_of_fill(&self, order: &Order, booked: &BookedExecution, fill: &VenueFill) -> Option<Amount> {
        let security = self.reference.security(order.security).ok()?;
        let value = |quantity: Quantity, price| quantity.value_at(price, security.contract_size).ok();
        let change = value(fill.quantity, fill.price)?.minus(value(booked.quantity, booked.price)?).ok()?;
        self.in_base(change.abs(), security.currency)
    }
}

fn of_order(kind: BreakKind, order: &Order) -> Difference {
    Difference {
        account: Some(order.account),
        security: Some(order.security),
        order: Some(order.id),
        int_order_id: Some(order.int_id.clone()),
        ext_order_id: order.ext_id.clone(),
        ..Difference::new(kind, &order.adapter)
    }
}

fn our_order(order: &Order) -> BreakSide {
    let mut values = vec![("status".into(), order.status().name().into())];
    values.extend(terms_values(&order.terms));
    values.push(("filled".into(), order.filled.to_string().into()));
    BreakSide(values)
}

fn terms_values(terms: &OrderTerms) -> Vec<(Text, Text)> {
    let mut values = vec![("quantity".into(), terms.quantity.to_string().into())];
    values.extend(terms.kind.limit().map(|limit| ("limit".into(), limit.to_string().into())));
    values.extend(terms.kind.stop().map(|stop| ("stop".into(), stop.to_string().into())));
    values.push(("tif".into(), terms.tif.name().into()));
    values
}

fn text_of(values: &[(Text, Text)]) -> String {
    values.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

fn told_fill(fill: &VenueFill) -> String {
    format!("execution {} of order number {}: {} @ {}", fill.exec_id, fill.order, fill.quantity, fill.price)
}

/// One line for the log.
fn summary(found: &Break) -> String {
    let side = |side: &Option<BreakSide>| side.as_ref().map_or_else(|| "nothing".to_owned(), |side| text_of(&side.0));
    let Difference { kind, adapter, ours, theirs, .. } = &found.difference;
    format!("{} at {adapter}: we have {}, the venue has {}", kind.name(), side(ours), side(theirs))
}
