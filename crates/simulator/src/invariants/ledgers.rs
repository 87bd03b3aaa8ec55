//! The ledgers of all venues of a run, simulated ones and the lab.

use domain::Order;

use super::lab_books;
use super::venue_books::{OrderAtVenue, VenueBooks};
use crate::lab_venue::LabMachine;
use crate::machine::Machine;

/// What all venues have done.
pub(crate) fn read_ledgers(machine: &Machine, lab: Option<&LabMachine>) -> Result<VenueBooks, String> {
    let mut venue = VenueBooks::read(machine)?;
    if let Some(lab) = lab {
        lab_books::read(lab.venue, &lab.ledger(), &machine.market, &mut venue)?;
    }
    Ok(venue)
}

/// What the venue of an order has of it.
pub(crate) fn order_at_venue(
    machine: &Machine,
    lab: Option<&LabMachine>,
    order: &Order,
) -> Result<Option<OrderAtVenue>, String> {
    let key = (order.id, machine.market.venue_of(order.account));
    read_ledgers(machine, lab).map(|mut venue| venue.orders.remove(&key))
}
