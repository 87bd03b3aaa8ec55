//! The newest orders of a symbol. Inquiries share a list: many orders in doubt cost the venue one, not one each.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{OrderId, Timestamp};
use serde::Deserialize;

use crate::orders::order_picture::own_id;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, CallError};

/// What the venue has listed.
#[derive(Debug)]
pub struct OrderList {
    /// Each with the order of ours that it is a leg of.
    legs: Vec<(Option<OrderId>, BinanceOrder)>,
}

impl OrderList {
    pub fn read(instance: u64, answer: &CallAnswer) -> Result<Self, String> {
        let result = answer.outcome.as_ref().map_err(CallError::describe)?;
        let orders: Vec<BinanceOrder> = Vec::deserialize(result).map_err(|reason| reason.to_string())?;
        let owned = |leg: BinanceOrder| (own_id(instance, &leg.client_id).map(|id| id.order), leg);
        Ok(Self { legs: orders.into_iter().map(owned).collect() })
    }

    pub fn legs_of(&self, order: OrderId) -> impl Iterator<Item = &BinanceOrder> {
        self.legs.iter().filter(move |(owner, _)| *owner == Some(order)).map(|(_, leg)| leg)
    }

    /// By the venue's number.
    pub fn numbered(&self, number: i64) -> impl Iterator<Item = &BinanceOrder> {
        self.legs.iter().map(|(_, leg)| leg).filter(move |leg| leg.order_id.0 == number)
    }
}

/// The list for an inquiry: it was asked for when the inquiry had begun, or later.
#[derive(Debug)]
pub enum ListAccess {
    Here(Arc<OrderList>),
    /// It is answered with others.
    Waits,
    /// It was not asked for yet.
    Wanted,
}

/// Lists of each symbol, while there are inquiries.
#[derive(Debug, Default)]
pub struct OrderLists(BTreeMap<String, SymbolLists>);

#[derive(Debug, Default)]
struct SymbolLists {
    /// The newest, and when it was asked for.
    newest: Option<(Timestamp, Arc<OrderList>)>,
    under_way: Option<ListQuestion>,
    /// They began after the one that is under way was asked for.
    next: Vec<OrderId>,
}

#[derive(Debug)]
struct ListQuestion {
    asked_at: Timestamp,
    waiting: Vec<OrderId>,
}

impl OrderLists {
    /// For an inquiry that has begun at that instant.
    pub fn access(&mut self, symbol: &str, as_of: Timestamp, order: OrderId) -> ListAccess {
        let lists = self.0.entry(symbol.to_owned()).or_default();
        if let Some((_, list)) = lists.newest.as_ref().filter(|(asked_at, _)| *asked_at >= as_of) {
            return ListAccess::Here(list.clone());
        }
        match &mut lists.under_way {
            None => return ListAccess::Wanted,
            Some(question) if question.asked_at >= as_of => question.waiting.push(order),
            Some(_) => lists.next.push(order),
        }
        ListAccess::Waits
    }

    /// It was asked for now, for these orders.
    pub fn on_asked(&mut self, symbol: &str, asked_at: Timestamp, waiting: Vec<OrderId>) {
        self.0.entry(symbol.to_owned()).or_default().under_way = Some(ListQuestion { asked_at, waiting });
    }

    /// Gives the orders that have waited for it.
    pub fn on_list(&mut self, symbol: &str, list: Arc<OrderList>) -> Vec<OrderId> {
        let Some(lists) = self.0.get_mut(symbol) else { return Vec::new() };
        let Some(question) = lists.under_way.take() else { return Vec::new() };
        lists.newest = Some((question.asked_at, list));
        question.waiting
    }

    /// Gives the orders that have waited for it in vain.
    pub fn on_unanswered(&mut self, symbol: &str) -> Vec<OrderId> {
        let question = self.0.get_mut(symbol).and_then(|lists| lists.under_way.take());
        question.map(|question| question.waiting).unwrap_or_default()
    }

    /// Those that need another list, which can be asked for now.
    pub fn take_next(&mut self, symbol: &str) -> Vec<OrderId> {
        self.0.get_mut(symbol).map(|lists| std::mem::take(&mut lists.next)).unwrap_or_default()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
