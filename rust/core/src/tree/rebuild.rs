//! The tree of a whole session at once, whatever the order of its records.

use std::collections::HashMap;

use super::{FullTree, Leaf, Node, Origin, Place, Segment};

/// Computes every place, segment and the selected path of a session from all its records, given
/// in append order. Takes any input: duplicate ids (the last record wins), parents after their
/// children, missing parents, cycles (cut at the earliest member).
///
/// ```
/// use pi_event_search_core::tree::{Node, rebuild};
/// let node = |ord, id, parent_id| Node { ord, id: Some(id), parent_id, detached: false };
/// let tree = rebuild(&[node(0, "child", Some("root")), node(1, "root", None)]);
/// let depths: Vec<_> = tree.places.iter().flatten().map(|place| place.depth).collect();
/// assert_eq!((depths, tree.path), (vec![1, 0], vec![(0, 0)]));
/// ```
pub fn rebuild(nodes: &[Node<'_>]) -> FullTree {
    let mut links = link(nodes);
    cut_cycles(&mut links);
    let kin = Kin::of(&links);
    let (segments, places) = place_all(nodes, &links, &kin);
    let leaf = leaf_of(nodes, &places, &kin, &segments);
    let path = match leaf {
        Leaf::At { place, .. } => path_to(place, &segments),
        Leaf::None | Leaf::Unknown => Vec::new(),
    };
    let ords_of = |wanted: Link| {
        let matching = nodes
            .iter()
            .zip(&links)
            .filter(|(_, link)| **link == wanted);
        matching.map(|(node, _)| node.ord).collect()
    };
    FullTree {
        superseded: ords_of(Link::Superseded),
        orphans: ords_of(Link::Begins(Origin::Orphan)),
        cycles: ords_of(Link::Begins(Origin::Cycle)),
        places,
        segments,
        path,
        leaf,
    }
}

/// What stands above a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// A later record has the same id: the node is nowhere.
    Superseded,
    /// Nothing: the node begins a chain of this origin.
    Begins(Origin),
    /// The node with this index.
    Under(usize),
}

fn link(nodes: &[Node<'_>]) -> Vec<Link> {
    let mut winners = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(id) = node.standing_id() {
            winners.insert(id, index);
        }
    }
    let link_one = |(index, node): (usize, &Node<'_>)| {
        let Some(id) = node.standing_id() else {
            return Link::Begins(node.lone_origin());
        };
        if winners.get(id) != Some(&index) {
            return Link::Superseded;
        }
        match node.parent() {
            None => Link::Begins(Origin::Root),
            Some(parent) => winners
                .get(parent)
                .map_or(Link::Begins(Origin::Orphan), |&above| Link::Under(above)),
        }
    };
    nodes.iter().enumerate().map(link_one).collect()
}

/// Makes the earliest member of each cycle the beginning of its chain.
fn cut_cycles(links: &mut [Link]) {
    const UNSEEN: usize = usize::MAX;
    // Which walk upwards came by first. A walk that meets itself has found a new cycle.
    let mut walk = vec![UNSEEN; links.len()];
    for start in 0..links.len() {
        let mut at = start;
        while walk[at] == UNSEEN {
            walk[at] = start;
            let Link::Under(above) = links[at] else { break };
            at = above;
        }
        if walk[at] == start && matches!(links[at], Link::Under(_)) {
            links[earliest_in_cycle(links, at)] = Link::Begins(Origin::Cycle);
        }
    }
}

fn earliest_in_cycle(links: &[Link], member: usize) -> usize {
    let mut earliest = member;
    let mut at = member;
    while let Link::Under(above) = links[at] {
        earliest = earliest.min(above);
        at = above;
        if at == member {
            break;
        }
    }
    earliest
}

/// Children of all nodes, each list in append order.
struct Kin {
    first_child: Vec<Option<usize>>,
    next_sibling: Vec<Option<usize>>,
}

impl Kin {
    fn of(links: &[Link]) -> Self {
        let mut kin = Self {
            first_child: vec![None; links.len()],
            next_sibling: vec![None; links.len()],
        };
        for (index, link) in links.iter().enumerate().rev() {
            if let Link::Under(above) = *link {
                kin.next_sibling[index] = kin.first_child[above].replace(index);
            }
        }
        kin
    }

    fn later_children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let second = self.first_child[parent].and_then(|first| self.next_sibling[first]);
        std::iter::successors(second, |&child| self.next_sibling[child])
    }
}

/// Walks down each segment from its topmost node, parents' segments before their children's.
fn place_all(nodes: &[Node<'_>], links: &[Link], kin: &Kin) -> (Vec<Segment>, Vec<Option<Place>>) {
    let mut places: Vec<Option<Place>> = vec![None; nodes.len()];
    let (mut segments, numbers) = number_segments(nodes, links, kin);
    let begins = |&index: &usize| matches!(links[index], Link::Begins(_));
    let mut heads: Vec<usize> = (0..nodes.len()).filter(begins).collect();
    while let Some(head) = heads.pop() {
        let number = numbers[head];
        let mut depth = 0;
        if let Link::Under(above) = links[head]
            && let Some(parent) = places[above]
        {
            let origin = segments[parent.segment as usize].origin;
            let segment = &mut segments[number as usize];
            segment.parent = Some(parent);
            segment.origin = origin;
            depth = parent.depth + 1;
        }
        let mut at = Some(head);
        while let Some(index) = at {
            places[index] = Some(Place {
                segment: number,
                depth,
            });
            heads.extend(kin.later_children(index));
            depth += 1;
            at = kin.first_child[index];
        }
    }
    (segments, places)
}

/// Gives each topmost node of a segment a number, in append order. Of the segments that branch
/// off, origin and parent are still to be filled in. The numbers of other nodes mean nothing.
fn number_segments(nodes: &[Node<'_>], links: &[Link], kin: &Kin) -> (Vec<Segment>, Vec<u32>) {
    let mut segments = Vec::new();
    let mut numbers = vec![0; nodes.len()];
    let mut next = 0;
    for (index, node) in nodes.iter().enumerate() {
        let origin = match links[index] {
            Link::Superseded => continue,
            Link::Under(above) if kin.first_child[above] == Some(index) => continue,
            Link::Under(_) => Origin::Root,
            Link::Begins(origin) => origin,
        };
        let missing = node
            .parent()
            .filter(|_| links[index] == Link::Begins(Origin::Orphan));
        segments.push(Segment {
            number: next,
            parent: None,
            origin,
            missing_parent: missing.map(str::to_owned),
        });
        numbers[index] = next;
        next += 1;
    }
    (segments, numbers)
}

fn leaf_of(nodes: &[Node<'_>], places: &[Option<Place>], kin: &Kin, segments: &[Segment]) -> Leaf {
    let Some(last) = nodes.iter().rposition(|node| !node.detached) else {
        return Leaf::None;
    };
    match (nodes[last].standing_id(), places[last]) {
        (Some(id), Some(place)) if segments[place.segment as usize].origin != Origin::Cycle => {
            Leaf::At {
                id: id.to_owned(),
                place,
                has_first_child: kin.first_child[last].is_some(),
            }
        }
        _ => Leaf::Unknown,
    }
}

fn path_to(leaf: Place, segments: &[Segment]) -> Vec<(u32, u32)> {
    let above = |place: &Place| segments[place.segment as usize].parent;
    let mut path: Vec<_> = std::iter::successors(Some(leaf), above)
        .map(|place| (place.segment, place.depth))
        .collect();
    path.reverse();
    path
}
