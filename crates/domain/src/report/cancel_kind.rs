//! Whether a venue takes cancels.

use minicbor::{Decode, Decoder, Encode, Encoder};

/// How a venue cancels an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CancelKind {
    /// An open order can be cancelled.
    #[default]
    WhileOpen,
    /// The venue takes no cancels: an order stays until it is filled or the venue ends it.
    None,
}

impl CancelKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::WhileOpen, Self::None];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WhileOpen => "WHILE_OPEN",
            Self::None => "NONE",
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::WhileOpen => 0,
            Self::None => 1,
        }
    }
}

/// Absent where it is the usual one, so that the state of such venues is what earlier builds wrote.
impl<C> Encode<C> for CancelKind {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.u8(self.number())?.ok()
    }

    fn is_nil(&self) -> bool {
        *self == Self::WhileOpen
    }
}

impl<'b, C> Decode<'b, C> for CancelKind {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        let number = d.u8()?;
        let known = Self::ALL.into_iter().find(|kind| kind.number() == number);
        known.ok_or_else(|| minicbor::decode::Error::unknown_variant(number.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::AdapterCapabilities;

    #[test]
    fn a_kind_is_read_as_it_was_written_and_the_usual_one_takes_no_room() {
        for cancel in CancelKind::ALL {
            let told = AdapterCapabilities { cancel, ..AdapterCapabilities::default() };
            let bytes = minicbor::to_vec(&told).unwrap();
            assert_eq!(minicbor::decode::<AdapterCapabilities>(&bytes).unwrap(), told);
            assert_eq!(bytes[0], if cancel == CancelKind::WhileOpen { 0x8d } else { 0x91 });
        }
        assert!(minicbor::decode::<CancelKind>(&[9]).is_err());
    }
}
