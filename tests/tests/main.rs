//! All that is asked of tilefit from outside: the program, its pages, its editors' protocol, and what it says of recorded kernels.

mod book;
mod citations;
mod cli;
mod conformance_tiles;
mod diagnostic_pages;
mod doors;
mod examples;
mod fuzz;
mod generated_code;
mod guide;
mod lsp;
mod memory_by_example;
mod misspelt;
mod mutants;
mod no_false_errors;
mod reference;
mod release;
mod rooms;
mod settings_schema;
mod soak;
mod stated;
mod tlx;
mod wording;
mod words;
