//! Conflation slots: one per topic, holding its newest value until its turn.

/// Queues of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotQueue {
    /// Sent at once.
    Urgent,
    /// The first value after a pause.
    Quiet,
    Ordinary,
    /// A last value from before the subscription.
    Snapshot,
    /// Its subscription has no room at the moment.
    Parked,
}

const SLOT_QUEUES: usize = 5;

/// A value that leaves its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released<K, V> {
    pub key: K,
    pub value: V,
    /// How many older values it replaced.
    pub conflated: u64,
    /// It is a last value from before the subscription.
    pub snapshot: bool,
}

impl<K, V> Released<K, V> {
    pub(crate) fn map<W>(self, convert: impl FnOnce(V) -> W) -> Released<K, W> {
        let Self { key, value, conflated, snapshot } = self;
        Released { key, value: convert(value), conflated, snapshot }
    }
}

#[derive(Debug)]
struct ConflationSlot<K, V> {
    key: K,
    value: V,
    conflated: u64,
    snapshot: bool,
    queue: SlotQueue,
    /// The queue to which it returns when it is no longer parked.
    home_queue: SlotQueue,
    before: Option<usize>,
    behind: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct QueueEnds {
    first: Option<usize>,
    last: Option<usize>,
}

/// Waiting values by key. A slot exists only while its value waits, so memory is bounded by the number of waiting
/// topics, and nothing is allocated once the connection has reached its usual number of them.
#[derive(Debug)]
pub(crate) struct ConflationSlots<K, V> {
    slots: Vec<Option<ConflationSlot<K, V>>>,
    free: Vec<usize>,
    /// Sorted by key.
    index: Vec<(K, usize)>,
    queues: [QueueEnds; SLOT_QUEUES],
}

/// Capacity that an empty connection keeps.
const SLOTS_KEPT: usize = 64;

impl<K, V> Default for ConflationSlots<K, V> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), index: Vec::new(), queues: [QueueEnds::default(); SLOT_QUEUES] }
    }
}

impl<K: Copy + Ord, V> ConflationSlots<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub(crate) fn contains(&self, key: K) -> bool {
        self.index_of(key).is_ok()
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.find(key).map(|slot| &slot.value)
    }

    /// The queue in which the value of a key waits.
    pub(crate) fn queue_of(&self, key: K) -> Option<SlotQueue> {
        self.find(key).map(|slot| slot.queue)
    }

    fn find(&self, key: K) -> Option<&ConflationSlot<K, V>> {
        let (_, at) = self.index[self.index_of(key).ok()?];
        self.slots[at].as_ref()
    }

    pub(crate) fn first(&self, line: SlotQueue) -> Option<K> {
        let at = self.queues[line as usize].first?;
        self.slots[at].as_ref().map(|slot| slot.key)
    }

    /// A newer value replaces the waiting one and keeps its turn. Returns the value where none waits.
    pub(crate) fn replace(&mut self, key: K, value: V, snapshot: bool) -> Result<(), V> {
        let Ok(place) = self.index_of(key) else {
            return Err(value);
        };
        let slot = self.slot(self.index[place].1);
        slot.value = value;
        slot.conflated += u64::from(!slot.snapshot);
        slot.snapshot = snapshot;
        Ok(())
    }

    /// Adds to the number of older values that the waiting one replaced.
    pub(crate) fn count_conflated(&mut self, key: K, count: u64) {
        if let Ok(place) = self.index_of(key) {
            self.slot(self.index[place].1).conflated += count;
        }
    }

    /// Parks a value whose subscription has no room; it replaces an older parked value.
    pub(crate) fn park_value(&mut self, key: K, value: V, conflated: u64) {
        if let Err(value) = self.replace(key, value, false) {
            self.push(key, value, SlotQueue::Ordinary, false);
        }
        self.count_conflated(key, conflated);
        self.park(key);
    }

    /// Adds a slot at the end of a queue. The key must have none.
    pub(crate) fn push(&mut self, key: K, value: V, line: SlotQueue, snapshot: bool) {
        let Err(place) = self.index_of(key) else {
            return;
        };
        let slot = ConflationSlot {
            key,
            value,
            conflated: 0,
            snapshot,
            queue: line,
            home_queue: line,
            before: None,
            behind: None,
        };
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[at] = Some(slot);
        self.index.insert(place, (key, at));
        self.link(at, line);
    }

    pub(crate) fn move_to(&mut self, key: K, line: SlotQueue) {
        if let Ok(place) = self.index_of(key) {
            let at = self.index[place].1;
            self.unlink(at);
            self.slot(at).home_queue = line;
            self.link(at, line);
        }
    }

    /// Parks the slot of a key, which continues to conflate: its subscription has no room.
    pub(crate) fn park(&mut self, key: K) {
        if let Ok(place) = self.index_of(key) {
            let at = self.index[place].1;
            self.unlink(at);
            self.link(at, SlotQueue::Parked);
        }
    }

    /// Some subscription has room again: all parked slots return to their queues.
    pub(crate) fn unpark(&mut self) {
        let mut next = std::mem::take(&mut self.queues[SlotQueue::Parked as usize]).first;
        while let Some(at) = next {
            let slot = self.slot(at);
            next = slot.behind;
            let home = slot.home_queue;
            self.link(at, home);
        }
    }

    /// Removes the value of a key from its slot.
    pub(crate) fn release(&mut self, key: K) -> Option<Released<K, V>> {
        let (_, at) = self.index.remove(self.index_of(key).ok()?);
        self.unlink(at);
        self.free.push(at);
        let slot = self.slots[at].take()?;
        self.shrink_when_empty();
        Some(Released { key, value: slot.value, conflated: slot.conflated, snapshot: slot.snapshot })
    }

    /// Drops all slots for whose key `gone` holds.
    pub(crate) fn remove_where(&mut self, gone: impl Fn(K) -> bool) {
        let keys: Vec<K> = self.index.iter().map(|(key, _)| *key).filter(|key| gone(*key)).collect();
        keys.into_iter().for_each(|key| drop(self.release(key)));
    }

    fn shrink_when_empty(&mut self) {
        if self.index.is_empty() && self.slots.capacity() > SLOTS_KEPT {
            *self = Self::default();
        }
    }

    fn index_of(&self, key: K) -> Result<usize, usize> {
        self.index.binary_search_by_key(&key, |(known, _)| *known)
    }

    fn slot(&mut self, at: usize) -> &mut ConflationSlot<K, V> {
        self.slots[at].as_mut().expect("the index and the lines name slots in use only")
    }

    fn link(&mut self, at: usize, line: SlotQueue) {
        let last = self.queues[line as usize].last.replace(at);
        match last {
            Some(last) => self.slot(last).behind = Some(at),
            None => self.queues[line as usize].first = Some(at),
        }
        let slot = self.slot(at);
        (slot.queue, slot.before, slot.behind) = (line, last, None);
    }

    fn unlink(&mut self, at: usize) {
        let slot = self.slot(at);
        let (line, before, behind) = (slot.queue, slot.before, slot.behind);
        match before {
            Some(before) => self.slot(before).behind = behind,
            None => self.queues[line as usize].first = behind,
        }
        match behind {
            Some(behind) => self.slot(behind).before = before,
            None => self.queues[line as usize].last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(slots: &mut ConflationSlots<u32, char>, line: SlotQueue) -> String {
        let mut out = String::new();
        while let Some(key) = slots.first(line) {
            let released = slots.release(key).unwrap();
            out.push_str(&format!("{key}{}", released.value));
            out.push_str(&"+".repeat(usize::try_from(released.conflated).unwrap()));
        }
        out
    }

    #[test]
    fn the_newest_value_keeps_the_turn_of_the_oldest() {
        let mut slots = ConflationSlots::default();
        slots.push(2, 'a', SlotQueue::Ordinary, false);
        slots.push(1, 'a', SlotQueue::Ordinary, false);
        assert_eq!(slots.replace(2, 'b', false), Ok(()));
        assert_eq!(slots.replace(2, 'c', false), Ok(()));
        assert_eq!(slots.replace(3, 'd', false), Err('d'));
        assert_eq!(drain(&mut slots, SlotQueue::Ordinary), "2c++1a");
        assert!(slots.is_empty());
    }

    #[test]
    fn a_slot_can_leave_the_middle_of_a_line() {
        let mut slots = ConflationSlots::default();
        (1..=4).for_each(|key| slots.push(key, 'x', SlotQueue::Quiet, false));
        slots.move_to(2, SlotQueue::Urgent);
        slots.park(4);
        slots.remove_where(|key| key == 1);
        assert_eq!(drain(&mut slots, SlotQueue::Urgent), "2x");
        assert_eq!(drain(&mut slots, SlotQueue::Quiet), "3x");
        slots.push(5, 'y', SlotQueue::Ordinary, false);
        slots.unpark();
        assert_eq!(
            (drain(&mut slots, SlotQueue::Quiet), drain(&mut slots, SlotQueue::Ordinary)),
            ("4x".into(), "5y".into())
        );
        assert_eq!(slots.len(), 0);
    }

    #[test]
    fn a_snapshot_that_an_event_replaces_is_an_event() {
        let mut slots = ConflationSlots::default();
        slots.push(1, 'a', SlotQueue::Snapshot, true);
        assert_eq!(slots.replace(1, 'b', false), Ok(()));
        assert_eq!(slots.release(1), Some(Released { key: 1, value: 'b', conflated: 0, snapshot: false }));
    }
}
