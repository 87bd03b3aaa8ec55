//! What venues take of securities at present, as they told it last.

use std::collections::BTreeMap;

use domain::report::VenueListing;
use domain::{AdapterName, SecurityId};
use minicbor::{Decode, Decoder, Encode, Encoder};

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
