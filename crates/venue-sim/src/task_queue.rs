//! Task queue by time. Tasks of one instant run in a fixed order, whatever the steps in which time advances.

use std::collections::BTreeMap;

use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{AccountId, LookupMap, Order, OrderId, SecurityId, Text, Timestamp};

#[derive(Debug)]
pub(crate) enum VenueTask {
    /// A delayed report, with the time at which it was made.
    Report(ReportKind, Timestamp),
    /// The exchange enters another phase or day.
    Phase,
    /// Trading in a halted security resumes.
    Resume(SecurityId),
    Expire(OrderId),
    Submit(OrderId),
    Replace(OrderId, OrderTerms),
    Cancel(OrderId),
    /// By the venue's number of the leg.
    CancelLeg(OrderId),
    /// A request that took its time on the way arrives.
    Arrive(LateRequest),
    /// The order that the client asked about, and when.
    Inquire(OrderId, Timestamp),
    /// The account that the client asked for, and when.
    Statement(AccountId, Timestamp),
    /// When the client asked for its open orders.
    ListOpenOrders(Timestamp),
    /// When the client asked for its fills, and after which.
    ListFills(Timestamp, Option<u64>),
    /// The client hears the number of the last report.
    Heartbeat,
    /// A participant acts.
    Participate(SecurityId),
}

/// A request of the client, before the venue has it.
#[derive(Debug)]
pub(crate) enum LateRequest {
    Submit(Box<Order>),
    Replace(OrderId, OrderTerms),
    Cancel(OrderId),
    CancelLeg(OrderId, Text),
}

impl VenueTask {
    /// An order still takes part in the auction that ends its day, and a request does not overtake a phase change.
    fn rank(&self) -> u8 {
        match self {
            Self::Report(..) => 0,
            Self::Phase => 1,
            Self::Resume(_) => 2,
            Self::Expire(_) => 3,
            Self::Arrive(_)
            | Self::Submit(_)
            | Self::Replace(..)
            | Self::Cancel(_)
            | Self::CancelLeg(_)
            | Self::Inquire(..)
            | Self::Statement(..) => 4,
            Self::ListOpenOrders(_) | Self::ListFills(..) => 4,
            Self::Participate(_) => 5,
            Self::Heartbeat => 6,
        }
    }

    fn is_request(&self) -> bool {
        matches!(self, Self::Submit(_) | Self::Replace(..) | Self::Cancel(_) | Self::CancelLeg(_))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TaskKey {
    at: Timestamp,
    rank: u8,
    number: u64,
}

#[derive(Debug, Default)]
pub(crate) struct TaskQueue {
    tasks: BTreeMap<TaskKey, VenueTask>,
    expiries: LookupMap<OrderId, TaskKey>,
    next_number: u64,
    requests: usize,
}

impl TaskQueue {
    pub(crate) fn push(&mut self, at: Timestamp, task: VenueTask) {
        self.requests += usize::from(task.is_request());
        self.insert(at, task);
    }

    /// Sets the only expiry of the order.
    pub(crate) fn set_expiry(&mut self, order: OrderId, at: Option<Timestamp>) {
        self.drop_expiry(order);
        if let Some(at) = at {
            let due = self.insert(at, VenueTask::Expire(order));
            self.expiries.insert(order, due);
        }
    }

    pub(crate) fn drop_expiry(&mut self, order: OrderId) {
        if let Some(due) = self.expiries.remove(&order) {
            self.tasks.remove(&due);
        }
    }

    /// The earliest task, if it is due by then.
    pub(crate) fn pop_due(&mut self, by: Timestamp) -> Option<(Timestamp, VenueTask)> {
        let first = self.tasks.first_entry().filter(|entry| entry.key().at <= by)?;
        let (due, task) = first.remove_entry();
        self.requests -= usize::from(task.is_request());
        if let VenueTask::Expire(order) = task {
            self.expiries.remove(&order);
        }
        Some((due.at, task))
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.tasks.first_key_value().map(|(due, _)| due.at)
    }

    pub(crate) fn requests_in_flight(&self) -> usize {
        self.requests
    }

    fn insert(&mut self, at: Timestamp, task: VenueTask) -> TaskKey {
        let due = TaskKey { at, rank: task.rank(), number: self.next_number };
        self.next_number += 1;
        self.tasks.insert(due, task);
        due
    }
}
