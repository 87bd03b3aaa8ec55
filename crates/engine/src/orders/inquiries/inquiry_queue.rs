//! Orders that their venue is to be asked about, by the instant at which that is due; and requests that the venue has not
//! answered, with their deadlines.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use domain::{OrderId, PlantedBug, Quantity, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::shared::shared_map::SharedMap;

/// The pause before the first question and after it; each further one is twice as long.
pub(crate) const INQUIRY_FIRST_SECONDS: u32 = 1;
/// No pause between two questions is longer.
pub(crate) const INQUIRY_PAUSE_MAX_SECONDS: u32 = 60;
/// Questions of one second after a gap or a log-on: more would keep orders from leaving.
pub(crate) const INQUIRIES_AFTER_GAP_PER_SECOND: usize = 100;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct InquiryQueue {
    inquiries: SharedMap<OrderId, Inquiry>,
    /// Derived from the inquiries.
    due: BTreeSet<(Timestamp, OrderId)>,
    /// How many questions each second has, counted from 1970; derived too.
    per_second: BTreeMap<i64, usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Inquiry {
    /// Absent while the line is down: the next log-on answers or resumes it.
    #[n(0)]
    pub(crate) ask_at: Option<Timestamp>,
    /// The pause after the next question.
    #[n(1)]
    pub(crate) pause_seconds: u32,
    /// When a request that is still unanswered makes the order in doubt.
    #[n(2)]
    pub(crate) doubt_at: Option<Timestamp>,
    /// When reports may have been lost: the venue is asked even where the order has ended since.
    #[n(3)]
    pub(crate) gap_at: Option<Timestamp>,
    /// After it no request of unknown outcome can take effect.
    #[n(4)]
    pub(crate) dead_after: Option<Timestamp>,
    /// Reports of the order may be lost for good.
    #[n(5)]
    pub(crate) lost: Option<LostReports>,
    /// What is unclear in the newest report of the order. It is told once while the order is asked about.
    #[n(6)]
    pub(crate) unclear: Option<Text>,
}

/// Reports of an order are lost: it is asked about across log-ons until the venue has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct LostReports {
    /// When that was noticed. What is missing is inferred by the answer to a later question.
    #[n(0)]
    pub(crate) since: Timestamp,
    /// What the venue had filled and was not booked.
    #[n(1)]
    pub(crate) missing: Option<Quantity>,
}

impl Inquiry {
    /// From the first question on, at that instant.
    pub(crate) fn restart(&mut self, at: Timestamp) {
        self.ask_at = Some(self.ask_at.map_or(at, |asks| asks.min(at)));
        self.pause_seconds = INQUIRY_FIRST_SECONDS;
    }

    /// The venue was asked now.
    pub(crate) fn schedule_next(&mut self, now: Timestamp) {
        let pause_seconds = if PlantedBug::AskWithoutPause.is_planted() { 0 } else { self.pause_seconds };
        self.ask_at = Some(now.plus_seconds(pause_seconds.into()));
        self.pause_seconds = self.pause_seconds.saturating_mul(2).min(INQUIRY_PAUSE_MAX_SECONDS);
    }

    fn due(&self) -> Option<Timestamp> {
        [self.ask_at, self.doubt_at].into_iter().flatten().min()
    }
}

fn second_of(at: Timestamp) -> i64 {
    at.0.div_euclid(NANOS_PER_SECOND)
}

impl InquiryQueue {
    /// What is written to disk: what is due is made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self { inquiries: self.inquiries.clone(), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inquiries.is_empty()
    }

    pub(crate) fn get(&self, order: OrderId) -> Option<&Inquiry> {
        self.inquiries.get(&order)
    }

    pub(crate) fn orders(&self) -> Vec<OrderId> {
        self.inquiries.keys().copied().collect()
    }

    /// Changes an inquiry, or a new one.
    pub(crate) fn change(&mut self, order: OrderId, edit: impl FnOnce(&mut Inquiry)) {
        let inquiry = self.inquiries.or_default(order);
        let (before, asked_before) = (inquiry.due(), inquiry.ask_at);
        edit(inquiry);
        let (after, asked) = (inquiry.due(), inquiry.ask_at);
        if before != after {
            before.map(|due| self.due.remove(&(due, order)));
            self.due.extend(after.map(|due| (due, order)));
        }
        if asked_before != asked {
            self.uncount(asked_before);
            self.count(asked);
        }
    }

    fn count(&mut self, ask_at: Option<Timestamp>) {
        ask_at.iter().for_each(|at| *self.per_second.entry(second_of(*at)).or_default() += 1);
    }

    fn uncount(&mut self, ask_at: Option<Timestamp>) {
        let Some(second) = ask_at.map(second_of) else { return };
        if let Some(questions) = self.per_second.get_mut(&second) {
            *questions -= 1;
            if *questions == 0 {
                self.per_second.remove(&second);
            }
        }
    }

    /// The first instant, a whole number of seconds from this one on, in whose second another question has room.
    pub(crate) fn free_second(&self, from: Timestamp) -> Timestamp {
        let taken = self.per_second.range(second_of(from)..).zip(second_of(from)..);
        let full = taken
            .take_while(|((second, questions), next)| *second == next && **questions >= INQUIRIES_AFTER_GAP_PER_SECOND);
        from.plus_seconds(i64::try_from(full.count()).unwrap_or(i64::MAX))
    }

    /// Changes an inquiry, where there is one.
    pub(crate) fn change_known(&mut self, order: OrderId, edit: impl FnOnce(&mut Inquiry)) {
        if self.get(order).is_some() {
            self.change(order, edit);
        }
    }

    pub(crate) fn remove(&mut self, order: OrderId) {
        let Some(inquiry) = self.inquiries.remove(&order) else { return };
        self.uncount(inquiry.ask_at);
        if let Some(due) = inquiry.due() {
            self.due.remove(&(due, order));
        }
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    pub(crate) fn due_by(&self, at: Timestamp) -> Vec<OrderId> {
        self.due.range(..=(at, OrderId(u64::MAX))).map(|(_, order)| *order).collect()
    }
}

/// Written only where something is asked, so that the state of a quiet engine is what earlier builds wrote.
impl<C> Encode<C> for InquiryQueue {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.inquiries.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for InquiryQueue {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let inquiries: SharedMap<OrderId, Inquiry> = SharedMap::decode(d, ctx)?;
        let due = inquiries.iter().filter_map(|(order, inquiry)| Some((inquiry.due()?, *order))).collect();
        let asked: Vec<_> = inquiries.iter().map(|(_, inquiry)| inquiry.ask_at).collect();
        let mut queue = Self { inquiries, due, per_second: BTreeMap::new() };
        asked.into_iter().for_each(|ask_at| queue.count(ask_at));
        Ok(queue)
    }
}

/// In the order of their deadlines: all have the same timeout. They lie in chunks that a copy shares; none is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct VenueTimeouts(VecDeque<Arc<VecDeque<(Timestamp, OrderId)>>>);

/// A change after a copy copies so many timeouts at the most.
const CHUNK_TIMEOUTS: usize = 64;

impl VenueTimeouts {
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.front().map(|(due, _)| *due)
    }

    pub(crate) fn front(&self) -> Option<&(Timestamp, OrderId)> {
        self.0.front()?.front()
    }

    pub(crate) fn push_back(&mut self, timeout: (Timestamp, OrderId)) {
        match self.0.back_mut().filter(|chunk| chunk.len() < CHUNK_TIMEOUTS) {
            Some(chunk) => Arc::make_mut(chunk).push_back(timeout),
            None => self.0.push_back(Arc::new(VecDeque::from([timeout]))),
        }
    }

    pub(crate) fn pop_front(&mut self) -> Option<(Timestamp, OrderId)> {
        let chunk = self.0.front_mut()?;
        if chunk.len() == 1 {
            return Arc::unwrap_or_clone(self.0.pop_front()?).pop_front();
        }
        Arc::make_mut(chunk).pop_front()
    }

    fn iter(&self) -> impl Iterator<Item = &(Timestamp, OrderId)> {
        self.0.iter().flat_map(|chunk| chunk.iter())
    }
}

impl<C> Encode<C> for VenueTimeouts {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(self.0.iter().map(|chunk| chunk.len() as u64).sum())?;
        self.iter().try_for_each(|timeout| timeout.encode(e, ctx))
    }
}

impl<'b, C> Decode<'b, C> for VenueTimeouts {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let timeouts: Vec<(Timestamp, OrderId)> = Vec::decode(d, ctx)?;
        let mut queue = Self::default();
        timeouts.into_iter().for_each(|timeout| queue.push_back(timeout));
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let mut inquiry = Inquiry::default();
        inquiry.restart(Timestamp(0).plus_seconds(1));
        let mut asked = Vec::new();
        for _ in 0..9 {
            let at = inquiry.ask_at.unwrap();
            asked.push(at.seconds_since(Timestamp(0)));
            inquiry.schedule_next(at);
        }
        assert_eq!(asked, [1, 2, 4, 8, 16, 32, 64, 124, 184]);
    }

    #[test]
    fn a_second_has_room_for_so_many_questions_and_is_free_again_when_they_are_over() {
        let (mut queue, from) = (InquiryQueue::default(), Timestamp(0).plus_seconds(1).plus_millis(500));
        let orders = 2 * INQUIRIES_AFTER_GAP_PER_SECOND as u64 + 1;
        let mut asked = BTreeMap::new();
        for order in 0..orders {
            let at = queue.free_second(from);
            queue.change(OrderId(order), |inquiry| inquiry.restart(at));
            *asked.entry(at.nanos_since(from) / NANOS_PER_SECOND).or_insert(0) += 1;
        }
        assert_eq!(
            asked,
            BTreeMap::from([(0, INQUIRIES_AFTER_GAP_PER_SECOND), (1, INQUIRIES_AFTER_GAP_PER_SECOND), (2, 1)])
        );
        queue.remove(OrderId(0));
        assert_eq!(queue.free_second(from), from);
        (0..orders).for_each(|order| queue.remove(OrderId(order)));
        assert!(queue.per_second.is_empty());
    }

    /// Against a plain queue, with a copy at every step.
    #[test]
    fn timeouts_are_a_queue_that_is_encoded_as_a_list_and_a_copy_never_changes() {
        let (mut queue, mut model, mut copies) = (VenueTimeouts::default(), VecDeque::new(), Vec::new());
        for number in 0..500 {
            let timeout = (Timestamp(number), OrderId(7));
            queue.push_back(timeout);
            model.push_back(timeout);
            // The queue grows to some hundred, and is emptied at the end.
            for _ in 0..if number < 300 { number % 2 } else { 3 } {
                assert_eq!(queue.pop_front(), model.pop_front());
            }
            assert_eq!(queue.front(), model.front());
            copies.push((queue.clone(), model.clone()));
        }
        for (copy, model) in copies {
            let bytes = minicbor::to_vec(&copy).unwrap();
            assert_eq!(bytes, minicbor::to_vec(&model).unwrap());
            let read: VenueTimeouts = minicbor::decode(&bytes).unwrap();
            assert!(read.iter().eq(&model));
        }
    }

    #[test]
    fn an_inquiry_is_due_by_its_earliest_instant_and_read_back_from_disk() {
        let mut queue = InquiryQueue::default();
        assert!(Encode::<()>::is_nil(&queue));
        queue.change(OrderId(2), |inquiry| inquiry.restart(Timestamp(50)));
        queue.change(OrderId(1), |inquiry| {
            (inquiry.ask_at, inquiry.doubt_at) = (Some(Timestamp(70)), Some(Timestamp(40)));
        });
        queue.change(OrderId(3), |inquiry| inquiry.gap_at = Some(Timestamp(1)));
        assert_eq!(
            (queue.next_due(), queue.due_by(Timestamp(50))),
            (Some(Timestamp(40)), vec![OrderId(1), OrderId(2)])
        );
        let read: InquiryQueue = minicbor::decode(&minicbor::to_vec(&queue).unwrap()).unwrap();
        assert_eq!((&read.inquiries, &read.due), (&queue.inquiries, &queue.due));
        assert_eq!(read.per_second, queue.per_second);
        queue.remove(OrderId(1));
        queue.change(OrderId(2), |inquiry| inquiry.ask_at = None);
        assert_eq!((queue.next_due(), queue.orders()), (None, vec![OrderId(2), OrderId(3)]));
    }
}
