//! Messages about prices between members, in CBOR.

use domain::command::MarketData;
use domain::{Bar, SecurityId, Text};
use minicbor::{Decode, Encode};

/// One connection of one leader. A later one is greater: what an earlier one still sends is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(super) struct PriceLine {
    #[n(0)]
    pub(super) epoch: u64,
    /// Nanoseconds of the leader's clock.
    #[n(1)]
    pub(super) opened: u64,
}

/// Prices of one security.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct PriceMessage {
    #[n(0)]
    pub(super) line: PriceLine,
    /// One more than the message before, of this security and line.
    #[n(1)]
    pub(super) number: u64,
    /// Whether it is everything that the leader knows of the security; else what has changed.
    #[n(2)]
    pub(super) is_whole: bool,
    #[n(3)]
    pub(super) data: Vec<MarketData>,
    /// Bars that closed. The leader alone has every price, so they are made there.
    #[n(4)]
    #[cbor(default)]
    pub(super) bars: Vec<Bar>,
}

/// A bar of a minute or longer that closed, for the files of every follower.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct BarMessage {
    #[n(0)]
    pub(super) line: PriceLine,
    #[n(1)]
    pub(super) bar: Bar,
}

/// What a follower wants. It says so again and again; what it does not, it wants no more.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct WantedPrices {
    #[n(0)]
    pub(super) member: Text,
    #[n(1)]
    pub(super) securities: Vec<SecurityId>,
    /// Those of which it needs everything that the leader knows.
    #[n(2)]
    pub(super) anew: Vec<SecurityId>,
}

pub(super) fn encode(message: &impl Encode<()>) -> Vec<u8> {
    minicbor::to_vec(message).expect("a vector takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the version before this one has sent it.
    #[derive(Encode)]
    struct EarlierMessage {
        #[n(0)]
        line: PriceLine,
        #[n(1)]
        number: u64,
        #[n(2)]
        is_whole: bool,
        #[n(3)]
        data: Vec<MarketData>,
    }

    #[test]
    fn prices_of_a_leader_that_sends_no_bars_are_read() {
        let line = PriceLine { epoch: 3, opened: 7 };
        let earlier = encode(&EarlierMessage { line, number: 9, is_whole: true, data: vec![] });
        let expected = PriceMessage { line, number: 9, is_whole: true, data: vec![], bars: vec![] };
        assert_eq!(minicbor::decode::<PriceMessage>(&earlier).unwrap(), expected);
    }
}
