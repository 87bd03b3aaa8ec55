//! Order properties: conditions on the execution of an order besides price, quantity and time in force. An order keeps
//! them for life.

use minicbor::data::Type;
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::amount::Quantity;

/// Conditions on the execution of an order; the default has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderProperties {
    /// Never takes: the venue rejects it where it would trade at once.
    pub post_only: bool,
    /// Only this much is shown in the book; the rest refills it.
    pub display_quantity: Option<Quantity>,
    /// At least this much trades at once, or nothing does.
    pub min_quantity: Option<Quantity>,
    /// May only reduce the position of its strategy, account and security.
    pub reduce_only: bool,
}

impl OrderProperties {
    /// Only reduces a position, without other conditions.
    pub const REDUCE_ONLY: Self =
        Self { post_only: false, display_quantity: None, min_quantity: None, reduce_only: true };

    /// What it needs of its venue. Reduce-only is not among it: the engine itself sees to it, at every venue.
    pub fn needs(&self) -> impl Iterator<Item = OrderProperty> {
        let wanted = [self.post_only, self.display_quantity.is_some(), self.min_quantity.is_some()];
        OrderProperty::ALL.into_iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted).map(|(property, _)| property)
    }
}

/// A property that a venue may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum OrderProperty {
    /// An order that would trade at once is rejected.
    #[n(0)]
    PostOnly,
    /// Only a part of the order is shown in the book.
    #[n(1)]
    DisplayQuantity,
    /// Less than a quantity does not trade.
    #[n(2)]
    MinQuantity,
}

impl OrderProperty {
    /// All properties, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::PostOnly, Self::DisplayQuantity, Self::MinQuantity];

    /// The key of the property in REST bodies.
    pub fn name(self) -> &'static str {
        match self {
            Self::PostOnly => "postOnly",
            Self::DisplayQuantity => "displayQuantity",
            Self::MinQuantity => "minQuantity",
        }
    }
}

/// Before there were other properties, an order had only the flag for reduce-only: an order without others is still
/// written so.
impl<C> Encode<C> for OrderProperties {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        if self.needs().next().is_none() {
            return e.bool(self.reduce_only)?.ok();
        }
        e.array(4)?.bool(self.reduce_only)?.bool(self.post_only)?;
        self.display_quantity.encode(e, ctx)?;
        self.min_quantity.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        *self == Self::default()
    }
}

impl<'b, C> Decode<'b, C> for OrderProperties {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        if d.datatype()? == Type::Bool {
            return Ok(Self { reduce_only: d.bool()?, ..Self::default() });
        }
        d.array()?;
        Ok(Self {
            reduce_only: d.bool()?,
            post_only: d.bool()?,
            display_quantity: Option::decode(d, ctx)?,
            min_quantity: Option::decode(d, ctx)?,
        })
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_they_were_written() {
        let all = OrderProperties {
            post_only: true,
            display_quantity: Some(Quantity::from(10)),
            min_quantity: Some(Quantity::from(5)),
            reduce_only: true,
        };
        for properties in [OrderProperties::default(), OrderProperties::REDUCE_ONLY, all] {
            let bytes = minicbor::to_vec(properties).unwrap();
            assert_eq!(minicbor::decode::<OrderProperties>(&bytes).unwrap(), properties);
        }
    }

    #[test]
    fn the_flag_of_older_records_is_read_as_reduce_only() {
        assert_eq!(minicbor::to_vec(OrderProperties::REDUCE_ONLY).unwrap(), minicbor::to_vec(true).unwrap());
        let read: OrderProperties = minicbor::decode(&minicbor::to_vec(false).unwrap()).unwrap();
        assert_eq!(read, OrderProperties::default());
    }

    #[test]
    fn only_what_the_venue_must_offer_is_needed_of_it() {
        let properties =
            OrderProperties { post_only: true, min_quantity: Some(Quantity::from(1)), ..OrderProperties::REDUCE_ONLY };
        let names: Vec<_> = properties.needs().map(OrderProperty::name).collect();
        assert_eq!(names, ["postOnly", "minQuantity"]);
    }
}
