//! What tilefit answers to an editor: one function a request, from a [`View`] and the request's parameters to LSP types; [`requests`] is
//! the table of them. Each turns
//! positions into byte offsets, calls the feature and turns what it says into LSP types.
//!
//! Nothing here reads a file, knows a clock or a thread, or waits for a message: the same answers serve an editor over stdio and a
//! page in a browser.

mod abilities;
mod allocated_ir;
mod call_hierarchy;
pub mod capabilities;
mod code_action;
mod code_lens;
mod completion;
mod configurations;
mod content_change;
pub mod convert;
mod diagnostic;
mod document_symbol;
pub mod editor_settings;
mod execute_command;
pub mod ext;
mod generated_code;
mod hover;
mod inlay_hint;
mod last_whole;
mod lowered_ir;
pub mod markdown;
mod memory_map;
mod navigation;
mod notebook;
pub mod panics;
mod planned_for;
pub mod requests;
mod signature_help;
mod structure;
pub mod text_document_content;
mod view;
mod view_file_text;
mod watches;
mod workspace_diagnostic;
mod workspace_symbol;

pub use abilities::{Abilities, Shows};
pub use allocated_ir::allocated_ir;
pub use call_hierarchy::{incoming_calls, outgoing_calls, prepare_call_hierarchy};
pub use code_action::{SettingEdit, WriteSetting, missing_values};
pub use code_lens::{Unresolved as UnresolvedLens, code_lenses, resolve_code_lens};
pub use completion::{completion, resolve_completion};
pub use configurations::configurations;
pub use content_change::apply as apply_changes;
pub use diagnostic::{by_document, diagnostic, diagnostics, failed_diagnosis, lsp_diagnostic};
pub use document_symbol::document_symbols;
pub use execute_command::Command;
pub use generated_code::{generated_code, generated_code_of};
pub use hover::hover;
pub use inlay_hint::{Unresolved as UnresolvedHint, inlay_hints, resolve_inlay_hint};
pub use last_whole::LastWhole;
pub use lowered_ir::lowered_ir;
pub use memory_map::{memory_map, memory_map_changed};
pub use navigation::{Sought, definition, exported, highlights, prepare_rename, references, rename};
pub use notebook::{Cell, Cells, Notebooks};
pub use planned_for::planned_for;
pub use signature_help::signature_help;
pub use structure::{folding_ranges, selection_ranges};
pub use view::View;
pub use view_file_text::view_file_text;
pub use watches::{Watch, Watches};
pub use workspace_diagnostic::{Report, report};
pub use workspace_symbol::{KernelName, kernel_names, workspace_symbols};
