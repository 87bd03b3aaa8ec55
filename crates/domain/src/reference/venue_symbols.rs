//! Symbols of a security at the venues that have one of their own.

use std::collections::BTreeMap;
use std::fmt;

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::ids::Text;

/// Symbols by the name of the venue.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct VenueSymbols(pub BTreeMap<Text, Text>);

/// A security without them is written as before there were any.
impl<C> Encode<C> for VenueSymbols {
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

impl<'b, C> Decode<'b, C> for VenueSymbols {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        BTreeMap::decode(d, ctx).map(Self)
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}

impl fmt::Debug for VenueSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Before(#[n(0)] u8);

    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Now(#[n(0)] u8, #[n(1)] VenueSymbols);

    #[test]
    fn a_security_without_symbols_is_written_as_before() {
        let none = Now(7, VenueSymbols::default());
        let before = minicbor::to_vec(Before(7)).unwrap();
        assert_eq!(minicbor::to_vec(&none).unwrap(), before);
        assert_eq!(minicbor::decode::<Now>(&before).unwrap(), none);
        let some = Now(7, VenueSymbols([("MAIN".into(), "BTCUSDT".into())].into()));
        assert_eq!(minicbor::decode::<Now>(&minicbor::to_vec(&some).unwrap()).unwrap(), some);
    }
}
