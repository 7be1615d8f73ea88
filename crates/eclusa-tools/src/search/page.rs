//! One page of a sorted list that is found in any order, without holding the list.

use std::{
    collections::BinaryHeap,
    path::{Path, PathBuf},
};

/// The furthest that anybody can page: what is held to find a page grows with it.
pub(super) const FURTHEST: usize = 100_000;

/// The first names of a sorted list, and how long it is.
#[derive(Debug)]
pub(super) struct ResultPage<T> {
    offset: usize,
    limit: usize,
    heap: BinaryHeap<Item<T>>,
    total: usize,
}

/// A name, and what is known of it.
#[derive(Debug)]
pub(super) struct Item<T> {
    pub(super) path: PathBuf,
    pub(super) value: T,
}

impl<T> ResultPage<T> {
    /// The page that begins after `offset` names.
    pub(super) fn new(offset: usize, limit: usize) -> ResultPage<T> {
        ResultPage { offset, limit, heap: BinaryHeap::new(), total: 0 }
    }

    /// Another name of the list.
    pub(super) fn add(&mut self, path: &Path, value: T) {
        self.total += 1;
        if self.heap.len() < self.offset.saturating_add(self.limit) {
            self.heap.push(Item { path: path.to_owned(), value });
        } else if let Some(mut last) = self.heap.peek_mut()
            && path < last.path.as_path()
        {
            *last = Item { path: path.to_owned(), value };
        }
    }

    /// The names on the page, sorted, and how many there are in the list.
    pub(super) fn finish(self) -> (Vec<Item<T>>, usize) {
        let items = self.heap.into_sorted_vec().into_iter().skip(self.offset).collect();
        (items, self.total)
    }
}

impl<T> PartialEq for Item<T> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl<T> Eq for Item<T> {}

impl<T> PartialOrd for Item<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Item<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.path.cmp(&other.path)
    }
}
