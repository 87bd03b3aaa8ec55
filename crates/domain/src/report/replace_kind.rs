//! How a venue gives an open order other terms.

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::amount::Quantity;
use crate::order::OrderTerms;

/// How a venue replaces an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplaceKind {
    /// It stays the same order at the venue, with other terms.
    #[default]
    InPlace,
    /// The quantity of an order can be lowered, and nothing else.
    LowerQuantityOnly,
    /// The venue cancels the order and places another one, a new leg with an id of its own; either half may fail. An order
    /// with fills is not replaced so: fills on the way would make it trade too much. Its quantity may be lowered.
    CancelReplace,
    /// The venue changes no order.
    None,
}

impl ReplaceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::InPlace, Self::LowerQuantityOnly, Self::CancelReplace, Self::None];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InPlace => "IN_PLACE",
            Self::LowerQuantityOnly => "LOWER_QUANTITY_ONLY",
            Self::CancelReplace => "CANCEL_REPLACE",
            Self::None => "NONE",
        }
    }

    /// Whether the venue can give an order with so much filled these terms.
    pub fn allows(self, now: &OrderTerms, filled: Quantity, wanted: &OrderTerms) -> bool {
        let lowers = now.kind == wanted.kind && now.tif == wanted.tif && wanted.quantity < now.quantity;
        match self {
            Self::InPlace => true,
            Self::LowerQuantityOnly => lowers,
            Self::CancelReplace => lowers || filled.is_zero(),
            Self::None => false,
        }
    }

    /// Why a venue of this kind refuses a replace.
    pub fn refusal_text(self) -> &'static str {
        match self {
            Self::InPlace => "the order can not be changed",
            Self::LowerQuantityOnly => "only the quantity of an order can be lowered there",
            Self::CancelReplace => "of an order with fills only the quantity can be lowered there",
            Self::None => "no order can be changed there",
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::InPlace => 0,
            Self::LowerQuantityOnly => 1,
            Self::CancelReplace => 2,
            Self::None => 3,
        }
    }
}

/// Absent where it is the usual one, so that the state of such venues is what earlier builds wrote.
impl<C> Encode<C> for ReplaceKind {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.u8(self.number())?.ok()
    }

    fn is_nil(&self) -> bool {
        *self == Self::InPlace
    }
}

impl<'b, C> Decode<'b, C> for ReplaceKind {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        let number = d.u8()?;
        let known = Self::ALL.into_iter().find(|kind| kind.number() == number);
        known.ok_or_else(|| minicbor::decode::Error::unknown_variant(number.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{OrderKind, TimeInForce};
    use crate::report::AdapterCapabilities;

    fn terms(quantity: i64, limit: i64) -> OrderTerms {
        OrderTerms { quantity: quantity.into(), kind: OrderKind::Limit { limit: limit.into() }, tif: TimeInForce::Gtc }
    }

    #[test]
    fn what_a_venue_can_change_depends_on_its_kind_and_on_fills() {
        use ReplaceKind::{CancelReplace, InPlace, LowerQuantityOnly, None};
        let may = |kind: ReplaceKind, filled: i64, wanted| kind.allows(&terms(10, 5), filled.into(), &wanted);
        let (lower, higher, dearer) = (terms(8, 5), terms(12, 5), terms(8, 6));
        for filled in [0, 3] {
            let lowers = [InPlace, LowerQuantityOnly, CancelReplace, None].map(|kind| may(kind, filled, lower));
            assert_eq!(lowers, [true, true, true, false], "{filled} filled");
            for wanted in [higher, dearer] {
                let may = [InPlace, LowerQuantityOnly, CancelReplace, None].map(|kind| may(kind, filled, wanted));
                assert_eq!(may, [true, false, filled == 0, false], "{filled} filled, {wanted:?}");
            }
        }
    }

    #[test]
    fn a_kind_is_read_as_it_was_written_and_the_usual_one_takes_no_room() {
        for replace in ReplaceKind::ALL {
            let told = AdapterCapabilities { replace, ..AdapterCapabilities::default() };
            let bytes = minicbor::to_vec(&told).unwrap();
            assert_eq!(minicbor::decode::<AdapterCapabilities>(&bytes).unwrap(), told);
            assert_eq!(bytes[0], if replace == ReplaceKind::InPlace { 0x8d } else { 0x8e });
        }
        assert!(minicbor::decode::<ReplaceKind>(&[9]).is_err());
    }
}
