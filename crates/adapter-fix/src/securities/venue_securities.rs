//! The list of a venue's securities, and what was told of it.

use adapters::ToldListings;
use domain::Timestamp;

use crate::dialect::Dialect;
use crate::securities::security_list::SecurityList;

pub(crate) struct VenueSecurities {
    pub(crate) list: SecurityList,
    pub(crate) told: ToldListings,
    /// It is to be asked for.
    pub(crate) is_due: bool,
}

impl VenueSecurities {
    /// Nothing where the dialect has no list.
    pub(crate) fn new(dialect: &Dialect, now: Timestamp) -> Option<Self> {
        let rules = dialect.security_list.clone()?;
        let list = SecurityList::new(rules, now.seconds_since(Timestamp(0)));
        Some(Self { list, told: ToldListings::default(), is_due: false })
    }
}
