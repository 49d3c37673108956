//! The requests. Each one turns positions into offsets, calls the feature and turns the result into LSP types.

mod allocated_ir;
mod code_action;
mod code_lens;
mod completion;
mod document_symbol;
mod generated_code;
mod hover;
mod inlay_hint;
mod lowered_ir;
mod memory_map;
mod signature_help;
mod view_file_text;

pub(super) mod test_hooks;

pub(super) use allocated_ir::allocated_ir;
pub(super) use code_action::code_actions;
pub(super) use code_lens::code_lenses;
pub(super) use completion::{completion, resolve_completion};
pub(super) use document_symbol::document_symbols;
pub(super) use generated_code::generated_code;
pub(super) use hover::hover;
pub(super) use inlay_hint::inlay_hints;
pub(super) use lowered_ir::lowered_ir;
pub(super) use memory_map::{memory_map, memory_map_at};
pub(super) use signature_help::signature_help;
pub(super) use view_file_text::view_file_text;
