//! The language server for a page in a browser: what `tilefit lsp` does for one editor, without threads, files and a clock. The answers are
//! those of `tilefit-answers`; [`Session`] has the documents, as the main loop of the server has them.

#[cfg(target_family = "wasm")]
mod exports;
mod session;

pub use session::Session;
