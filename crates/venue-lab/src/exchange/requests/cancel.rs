//! Cancels: of one order, of all orders of a symbol, and of one order together with a new one.

use crate::exchange::order::{AccountIndex, CancelRestriction, NewSpotOrder, SpotOrder, SpotStatus};
use crate::exchange::reject::{SpotReject, UNKNOWN_ORDER};
use crate::exchange::{Applied, CancelRequest, Canceled, OrderReference, SpotExchange};

/// Makes the generated id of a cancel differ from that of its order.
const CANCEL_SALT: u64 = 1 << 62;

impl SpotExchange {
    /// The open order that a reference names.
    pub(crate) fn find_open(&self, reference: &OrderReference) -> Result<Option<&SpotOrder>, SpotReject> {
        let market = self.market(&reference.symbol)?;
        let found = market.find_order(reference.account, reference.order_id, reference.client_id.as_deref());
        Ok(found.filter(|order| order.status.is_open()))
    }

    pub(crate) fn cancel(&mut self, request: &CancelRequest, at: i64) -> Result<Canceled, SpotReject> {
        let found = self.find_open(&request.order)?;
        let order = found.ok_or_else(|| SpotReject::cancel(UNKNOWN_ORDER))?;
        let is_allowed = match request.restriction {
            None => true,
            Some(CancelRestriction::OnlyNew) => order.status == SpotStatus::New,
            Some(CancelRestriction::OnlyPartiallyFilled) => order.status == SpotStatus::PartiallyFilled,
        };
        if !is_allowed {
            return Err(SpotReject::cancel("Order was not canceled due to cancel restrictions."));
        }
        let (index, id) = (self.index(&request.order.symbol)?, order.id);
        Ok(self.cancel_one(index, id, request.cancel_id.clone(), at))
    }

    fn cancel_one(&mut self, index: usize, id: u64, cancel_id: Option<String>, at: i64) -> Canceled {
        let cancel_id = cancel_id.unwrap_or_else(|| self.generated_id(index, id | CANCEL_SALT));
        self.end_order(index, id, SpotStatus::Canceled, Some(cancel_id.clone()), at);
        Canceled { order: self.markets[index].orders[&id].clone(), cancel_id }
    }

    pub(crate) fn cancel_all(
        &mut self,
        account: AccountIndex,
        symbol: &str,
        at: i64,
    ) -> Result<Vec<Canceled>, SpotReject> {
        let index = self.index(symbol)?;
        let ids: Vec<u64> = self.markets[index].open_orders(account).map(|order| order.id).collect();
        if ids.is_empty() {
            return Err(SpotReject::cancel(UNKNOWN_ORDER));
        }
        Ok(ids.into_iter().map(|id| self.cancel_one(index, id, None, at)).collect())
    }

    pub(crate) fn cancel_replace(
        &mut self,
        cancel: &CancelRequest,
        order: &NewSpotOrder,
        stops_on_failure: bool,
        over_limit: Option<&str>,
        at: i64,
    ) -> Applied {
        let canceled = self.cancel(cancel, at);
        if canceled.is_err() && stops_on_failure {
            return Applied::Replaced { cancel: Box::new(canceled), order: None };
        }
        let placed = match over_limit {
            Some(limit) => Err(SpotReject::new(-1015, limit)),
            None => self.place(order, at),
        };
        Applied::Replaced { cancel: Box::new(canceled), order: Some(Box::new(placed)) }
    }
}
