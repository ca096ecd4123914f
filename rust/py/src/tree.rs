//! The tree of a session, driven from Python: it looks rows up and stores what changes.

use pi_event_search_core::tree::{
    self, CompactionFact, Leaf, Node, Origin, Place, Segment, TreeDelta as Delta,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::batch::Batch;

type PlaceTuple = (u32, u32);
/// Number, parent place, origin code, missing parent.
type SegmentTuple = (u32, Option<PlaceTuple>, u8, Option<String>);

#[pyclass]
pub struct Tree {
    /// Empty once finished.
    tree: Option<tree::Tree>,
    /// Ord of the last record that can be the leaf.
    last: Option<u64>,
}

#[pyclass(frozen, get_all)]
pub struct TreeNeeds {
    parents: Vec<String>,
    ids: Vec<String>,
    branches: bool,
}

#[pyclass(frozen, get_all)]
pub struct TreeDelta {
    new_segments: Vec<SegmentTuple>,
    next_segment: u32,
    leaf_ord: Option<u64>,
    leaf_unknown: bool,
    removed: Vec<u32>,
    set: Vec<(u32, u32)>,
    orphans: Vec<u64>,
}

#[pyclass(frozen, get_all)]
pub struct FullTree {
    places: Vec<Option<PlaceTuple>>,
    segments: Vec<SegmentTuple>,
    path: Vec<(u32, u32)>,
    leaf_ord: Option<u64>,
    leaf_unknown: bool,
    superseded: usize,
    orphans: usize,
    cycles: usize,
}

#[pymethods]
impl Tree {
    #[new]
    fn new(next_segment: u32, leaf: Option<(String, u32, u32, bool)>, leaf_unknown: bool) -> Self {
        let leaf = match leaf {
            Some((id, segment, depth, has_first_child)) => Leaf::At {
                id,
                place: Place { segment, depth },
                has_first_child,
            },
            None if leaf_unknown => Leaf::Unknown,
            None => Leaf::None,
        };
        Self {
            tree: Some(tree::Tree::resume(next_segment, leaf)),
            last: None,
        }
    }

    fn needs(&mut self, batch: &Batch) -> PyResult<TreeNeeds> {
        let needs = self.tree()?.needs(&batch.nodes(0));
        Ok(TreeNeeds {
            parents: needs.parents,
            ids: needs.ids,
            branches: needs.branches,
        })
    }

    fn learn_place(
        &mut self,
        entry_id: String,
        segment: u32,
        depth: u32,
        has_first_child: bool,
    ) -> PyResult<()> {
        let place = Place { segment, depth };
        self.tree()?.learn_place(entry_id, place, has_first_child);
        Ok(())
    }

    fn learn_segment(
        &mut self,
        number: u32,
        parent: Option<PlaceTuple>,
        origin: u8,
    ) -> PyResult<()> {
        let origin = Origin::from_code(origin).unwrap_or(Origin::Cycle);
        self.tree()?
            .learn_segment(number, parent.map(place_from), origin);
        Ok(())
    }

    fn learn_path(&mut self, segment: u32, upto: u32) -> PyResult<()> {
        self.tree()?.learn_path(segment, upto);
        Ok(())
    }

    fn learn_awaited(&mut self, entry_id: String) -> PyResult<()> {
        self.tree()?.learn_awaited(entry_id);
        Ok(())
    }

    fn append(&mut self, batch: &Batch, first_ord: u64) -> PyResult<Option<Vec<PlaceTuple>>> {
        let nodes = batch.nodes(first_ord);
        if let Some(last) = last_ord(&nodes) {
            self.last = Some(last);
        }
        let tree = self.tree()?;
        let mut places = Vec::with_capacity(nodes.len());
        for node in &nodes {
            match tree.append(node) {
                Ok(place) => places.push(tuple_of(place)),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(places))
    }

    fn finish(&mut self) -> PyResult<Option<TreeDelta>> {
        let tree = self.tree.take().ok_or_else(finished)?;
        let Ok(delta) = tree.finish() else {
            return Ok(None);
        };
        let (leaf_ord, leaf_unknown) = leaf_of(&delta.leaf, self.last);
        let Delta {
            new_segments,
            next_segment,
            path,
            orphans,
            ..
        } = delta;
        Ok(Some(TreeDelta {
            new_segments: segments_of(new_segments),
            next_segment,
            leaf_ord,
            leaf_unknown,
            removed: path.removed,
            set: path.set,
            orphans,
        }))
    }
}

impl Tree {
    fn tree(&mut self) -> PyResult<&mut tree::Tree> {
        self.tree.as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the tree is finished; make a new one for the next batch")
}

/// Computes the tree of stored records (ord, id, parent id, detached) and a batch behind them.
#[pyfunction]
pub fn rebuild_tree(
    stored: Vec<(u64, Option<String>, Option<String>, bool)>,
    batch: &Batch,
    first_ord: u64,
) -> FullTree {
    let mut nodes: Vec<Node<'_>> = stored
        .iter()
        .map(|(ord, id, parent_id, detached)| Node {
            ord: *ord,
            id: id.as_deref(),
            parent_id: parent_id.as_deref(),
            detached: *detached,
        })
        .collect();
    nodes.extend(batch.nodes(first_ord));
    let full = tree::rebuild(&nodes);
    let (leaf_ord, leaf_unknown) = leaf_of(&full.leaf, last_ord(&nodes));
    FullTree {
        places: full
            .places
            .into_iter()
            .map(|place| place.map(tuple_of))
            .collect(),
        segments: segments_of(full.segments),
        path: full.path,
        leaf_ord,
        leaf_unknown,
        superseded: full.superseded.len(),
        orphans: full.orphans.len(),
        cycles: full.cycles.len(),
    }
}

/// The newest compaction on a path and the depth its kept range begins at. `path` runs from the
/// root to the leaf; a compaction is its place and that of its first kept entry.
#[pyfunction]
pub fn window(
    path: Vec<(u32, u32)>,
    compactions: Vec<(PlaceTuple, Option<PlaceTuple>)>,
) -> Option<(PlaceTuple, u32)> {
    let facts: Vec<CompactionFact> = compactions
        .into_iter()
        .map(|(place, first_kept)| CompactionFact {
            place: place_from(place),
            first_kept: first_kept.map(place_from),
        })
        .collect();
    tree::window(&path, &facts).map(|found| (tuple_of(found.compaction), found.kept_depth))
}

fn last_ord(nodes: &[Node<'_>]) -> Option<u64> {
    nodes
        .iter()
        .rev()
        .find(|node| !node.detached)
        .map(|node| node.ord)
}

fn leaf_of(leaf: &Leaf, last: Option<u64>) -> (Option<u64>, bool) {
    match leaf {
        Leaf::None => (None, false),
        Leaf::Unknown => (None, true),
        Leaf::At { .. } => (last, false),
    }
}

fn segments_of(segments: Vec<Segment>) -> Vec<SegmentTuple> {
    segments
        .into_iter()
        .map(|s| {
            (
                s.number,
                s.parent.map(tuple_of),
                s.origin.code(),
                s.missing_parent,
            )
        })
        .collect()
}

fn tuple_of(place: Place) -> PlaceTuple {
    (place.segment, place.depth)
}

fn place_from((segment, depth): PlaceTuple) -> Place {
    Place { segment, depth }
}
