//! Slab allocator with 32-bit ids.

use std::ops::{Index, IndexMut};

/// The id of nothing.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Slab { items: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self[id] = item;
            return id;
        }
        let id = u32::try_from(self.items.len()).expect("MAX_ORDERS is far below 32 bits");
        self.grow();
        self.items.push(item);
        id
    }

    /// The newest released id is used first: it is still in the cache.
    pub(super) fn release(&mut self, id: u32) {
        self.free.push(id);
    }

    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }

    /// Growth by half rather than by double keeps a large book within its bytes per order.
    fn grow(&mut self) {
        let capacity = self.items.capacity();
        if self.items.len() == capacity {
            self.items.reserve_exact((capacity / 2).max(4));
        }
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, id: u32) -> &T {
        &self.items[id as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.items[id as usize]
    }
}
