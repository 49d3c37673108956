//! The requests. Each one turns positions into offsets, calls the feature and turns the result into LSP types.

mod allocated_ir;
mod call_hierarchy;
mod code_action;
mod code_lens;
mod completion;
mod diagnostic;
mod document_symbol;
mod generated_code;
mod hover;
mod inlay_hint;
mod lowered_ir;
mod memory_map;
mod navigation;
mod signature_help;
mod structure;
mod view_file_text;

pub(super) mod test_hooks;

pub(super) use allocated_ir::allocated_ir;
pub(super) use call_hierarchy::{incoming_calls, outgoing_calls, prepare_call_hierarchy};
pub(super) use code_action::code_actions;
pub(super) use code_lens::{Untold as UntoldLens, code_lenses, resolve_code_lens};
pub(super) use completion::{completion, resolve_completion};
pub(super) use diagnostic::{diagnostic, diagnostics, diagnostics_id};
pub(super) use document_symbol::document_symbols;
pub(super) use generated_code::{generated_code, generated_code_of};
pub(super) use hover::hover;
pub(super) use inlay_hint::{Untold as UntoldHint, inlay_hints, resolve_inlay_hint};
pub(super) use lowered_ir::lowered_ir;
pub(super) use memory_map::{memory_map, memory_map_at};
pub(super) use navigation::{definition, exported, highlights, prepare_rename, references, rename};
pub(super) use signature_help::signature_help;
pub(super) use structure::{folding_ranges, selection_ranges};
pub(super) use view_file_text::view_file_text;
