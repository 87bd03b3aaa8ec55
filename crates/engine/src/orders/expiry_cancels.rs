//! Cancels of orders whose time is over, at venues that do not end them: how many were sent of each.

use domain::OrderId;
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::shared::shared_map::SharedMap;

/// The pause after the first cancel; after each further one it is twice as long.
const EXPIRY_PAUSE_FIRST_SECONDS: i64 = 10;
const EXPIRY_PAUSE_MAX_SECONDS: i64 = 300;

#[derive(Debug, Clone, Default)]
pub(crate) struct ExpiryCancels(SharedMap<OrderId, u32>);

impl ExpiryCancels {
    /// When the order is looked at again: a cancel that could not be sent is tried again soon.
    pub(crate) fn next_pause_seconds(&mut self, order: OrderId, is_sent: bool) -> i64 {
        if !is_sent {
            return EXPIRY_PAUSE_FIRST_SECONDS;
        }
        let sent = self.0.or_default(order);
        let pause = EXPIRY_PAUSE_FIRST_SECONDS << (*sent).min(5);
        *sent = sent.saturating_add(1);
        pause.min(EXPIRY_PAUSE_MAX_SECONDS)
    }

    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.0.get(&order).is_some()
    }

    pub(crate) fn remove(&mut self, order: OrderId) {
        self.0.remove(&order);
    }
}

/// Written only where there was one, so that the state of other engines is what earlier builds wrote.
impl<C> Encode<C> for ExpiryCancels {
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

impl<'b, C> Decode<'b, C> for ExpiryCancels {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        SharedMap::decode(d, ctx).map(Self)
    }
}
