//! Records in batches against the naive tree and against the tree computed as a whole.

use pi_event_search_core::tree::{
    FullTree, Irregular, Leaf, Needs, Node, Origin, Place, Segment, Tree, TreeDelta, rebuild,
    selected,
};

#[path = "../../core/src/tree/double.rs"]
mod double;
#[path = "../../core/src/tree/oracle.rs"]
mod oracle;

use super::input::Input;
use oracle::Record;

/// More records make the naive tree slow.
const MOST: usize = 48;

/// Content: three bytes a record (id, parent, kind). Orders: sizes of the batches.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let records: Vec<Record> = input
        .content
        .chunks_exact(3)
        .take(MOST)
        .map(record)
        .collect();
    let mut sizes = Vec::new();
    while input.has_more() {
        sizes.push(usize::from(input.byte() % 8));
    }
    double::run(&records, &sizes);
}

fn record(bytes: &[u8]) -> Record {
    let [id, parent, kind] = [bytes[0], bytes[1], bytes[2]];
    let name = |number: u8| format!("n{}", number % 32);
    Record {
        id: match kind % 16 {
            0 => None,
            1 => Some(String::new()),
            _ => Some(name(id)),
        },
        parent_id: match parent {
            0..=15 => None,
            16 => Some(String::new()),
            _ => Some(name(parent)),
        },
        detached: kind % 16 == 2,
    }
}
