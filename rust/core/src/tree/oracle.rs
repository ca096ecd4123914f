//! The naive tree: plain parent pointers, everything found by scanning and walking.

use std::collections::{BTreeSet, HashSet};

use super::{Node, Origin};

/// A record of a test, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub id: Option<String>,
    pub parent_id: Option<String>,
    pub detached: bool,
}

impl Record {
    pub fn node(&self, index: usize) -> Node<'_> {
        Node {
            ord: index as u64 * 10,
            id: self.id.as_deref(),
            parent_id: self.parent_id.as_deref(),
            detached: self.detached,
        }
    }

    fn stands(&self) -> bool {
        !self.detached && self.id.as_deref().is_some_and(|id| !id.is_empty())
    }

    pub fn parent(&self) -> Option<&str> {
        self.parent_id
            .as_deref()
            .filter(|parent| !parent.is_empty())
    }
}

/// The naive tree of some records.
pub struct Oracle<'r> {
    pub records: &'r [Record],
    /// The standing record that each record names, cycles included.
    recorded: Vec<Option<usize>>,
    cuts: Vec<bool>,
}

impl<'r> Oracle<'r> {
    pub fn new(records: &'r [Record]) -> Self {
        let mut oracle = Self {
            records,
            recorded: Vec::new(),
            cuts: Vec::new(),
        };
        oracle.recorded = (0..records.len())
            .map(|i| oracle.recorded_parent(i))
            .collect();
        oracle.cuts = (0..records.len()).map(|i| oracle.is_cut(i)).collect();
        oracle
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.records
            .iter()
            .rposition(|r| r.stands() && r.id.as_deref() == Some(id))
    }

    pub fn superseded(&self, index: usize) -> bool {
        let record = &self.records[index];
        record.stands() && record.id.as_deref().and_then(|id| self.find(id)) != Some(index)
    }

    fn recorded_parent(&self, index: usize) -> Option<usize> {
        let record = &self.records[index];
        let parent = record
            .parent()
            .filter(|_| record.stands() && !self.superseded(index));
        parent.and_then(|parent| self.find(parent))
    }

    /// The cycle that the node is a member of.
    fn cycle(&self, index: usize) -> Option<BTreeSet<usize>> {
        let mut members = BTreeSet::new();
        let mut at = index;
        while members.insert(at) {
            at = self.recorded[at]?;
        }
        (at == index).then_some(members)
    }

    /// Whether the node is the earliest of a cycle.
    pub fn cut(&self, index: usize) -> bool {
        self.cuts[index]
    }

    fn is_cut(&self, index: usize) -> bool {
        self.cycle(index)
            .is_some_and(|members| members.first() == Some(&index))
    }

    pub fn parent(&self, index: usize) -> Option<usize> {
        self.recorded[index].filter(|_| !self.cut(index))
    }

    pub fn children(&self, index: usize) -> Vec<usize> {
        (0..self.records.len())
            .filter(|&i| self.parent(i) == Some(index))
            .collect()
    }

    fn chain(&self, index: usize) -> Vec<usize> {
        let mut chain = vec![index];
        let mut visited = HashSet::from([index]);
        while let Some(above) = self.parent(chain[chain.len() - 1]) {
            assert!(visited.insert(above), "a cycle was not cut");
            chain.push(above);
        }
        chain
    }

    pub fn depth(&self, index: usize) -> usize {
        self.chain(index).len() - 1
    }

    pub fn orphan(&self, index: usize) -> bool {
        let record = &self.records[index];
        record.stands()
            && !self.superseded(index)
            && record
                .parent()
                .is_some_and(|parent| self.find(parent).is_none())
    }

    pub fn origin(&self, index: usize) -> Origin {
        let root = *self.chain(index).last().expect("a chain has its own node");
        match &self.records[root] {
            record if record.detached => Origin::Detached,
            record if !record.stands() => Origin::Idless,
            _ if self.cut(root) => Origin::Cycle,
            _ if self.orphan(root) => Origin::Orphan,
            _ => Origin::Root,
        }
    }

    /// The last record that Pi sees.
    pub fn last(&self) -> Option<usize> {
        self.records.iter().rposition(|record| !record.detached)
    }

    /// The last record, when a path leads to it.
    pub fn leaf(&self) -> Option<usize> {
        self.last()
            .filter(|&i| self.records[i].stands() && self.origin(i) != Origin::Cycle)
    }

    pub fn selected(&self) -> BTreeSet<usize> {
        let chain = self.leaf().map(|leaf| self.chain(leaf));
        chain.into_iter().flatten().collect()
    }

    /// Whether the record at `index` breaks the order of all records before it.
    pub fn irregular(&self, index: usize) -> bool {
        let before = Oracle::new(&self.records[..index]);
        let record = &self.records[index];
        let Some(id) = record.id.as_deref().filter(|_| record.stands()) else {
            return false;
        };
        let awaited = |i| before.orphan(i) && before.records[i].parent() == Some(id);
        record.parent() == Some(id) || before.find(id).is_some() || (0..index).any(awaited)
    }
}
