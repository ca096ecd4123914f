//! Python binding: conversions, the GIL, the error map; nothing else.
//!
//! The classes and functions are documented where Python looks for them, in
//! `python/pi_event_search/_core.pyi`; a test compares that file with this module.

// Python hands over owned values and calls methods as they are written there.
#![allow(clippy::needless_pass_by_value, missing_docs)]

mod batch;
mod dictionary;
mod errors;
mod records;
mod session;
mod text;
mod tree;

use pyo3::prelude::*;

/// The native half of `pi_event_search`.
#[pymodule]
mod _core {
    use pi_event_search_core::document;
    use pi_event_search_core::entry::Receipt;
    use pi_event_search_core::project::{
        ContextRole, Contribution, Kind, Omission, RelationshipKind,
    };
    use pi_event_search_core::text::INDEXED_LIMIT;
    use pi_event_search_core::tree::Origin;
    use pi_event_search_core::{PROJECTOR_VERSION, TOKENIZER_VERSION};
    use pyo3::prelude::*;

    use super::batch;

    #[pymodule_export]
    use super::batch::{Batch, Rows};
    #[pymodule_export]
    use super::dictionary::Dictionary;
    #[pymodule_export]
    use super::errors::{NotASession, SourceChanged};
    #[pymodule_export]
    use super::records::{Header, ParsedEvent, ParsedFragment, ParsedRelationship};
    #[pymodule_export]
    use super::session::{SessionReader, first_changed, is_settled, read_header, read_record};
    #[pymodule_export]
    use super::text::{
        Query, bounded_text, parse_query, preview, preview_bounded, snippet, stamp_document,
        stored_document, tokens, window_bounded,
    };
    #[pymodule_export]
    use super::tree::{FullTree, Tree, TreeDelta, TreeNeeds, rebuild_tree, window};

    /// Facets and flags exist once, here.
    fn vocabulary(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("FACET_ERROR", document::ERROR)?;
        module.add("FACET_RETRIEVAL", document::RETRIEVAL)?;
        module.add("FACET_STAMP", document::STAMP)?;
        module.add("FACET_LIMIT", batch::FACET_LIMIT)?;
        for (name, flag) in [
            ("ERROR", batch::ERROR),
            ("DETACHED", batch::DETACHED),
            ("IDLESS", batch::IDLESS),
            ("SUPERSEDED", batch::SUPERSEDED),
            ("RETRIEVAL", batch::RETRIEVAL),
            ("INFERRED", batch::INFERRED),
        ] {
            module.add(format!("FLAG_{name}"), flag)?;
        }
        Ok(())
    }

    #[pymodule_init]
    fn constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("PROJECTOR_VERSION", PROJECTOR_VERSION)?;
        module.add("TOKENIZER_VERSION", TOKENIZER_VERSION)?;
        module.add("INDEXED_LIMIT", INDEXED_LIMIT)?;
        module.add("KINDS", Kind::ALL.map(Kind::as_str).to_vec())?;
        module.add(
            "CONTEXT_ROLES",
            ContextRole::ALL.map(ContextRole::as_str).to_vec(),
        )?;
        module.add("OMISSIONS", Omission::ALL.map(Omission::as_str).to_vec())?;
        for kind in RelationshipKind::ALL {
            let name = kind.as_str().to_uppercase().replace('-', "_");
            module.add(format!("RELATIONSHIP_{name}"), kind as u8)?;
        }
        for contribution in Contribution::ALL {
            let name = contribution.as_str().to_uppercase();
            module.add(format!("CONTRIBUTION_{name}"), contribution as u8)?;
        }
        module.add("ORIGIN_ROOT", Origin::Root.code())?;
        module.add("ORIGIN_CYCLE", Origin::Cycle.code())?;
        module.add("EDIT_OMITS", "omit")?;
        let losing: Vec<&str> = Receipt::ALL
            .into_iter()
            .filter(|receipt| receipt.loses_record())
            .map(Receipt::as_str)
            .collect();
        module.add("LOSING_RECEIPTS", losing)?;
        vocabulary(module)
    }
}
