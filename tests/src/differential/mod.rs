//! Random kernels, and files of any origin, beside the real compiler: where the two differ, and the smallest kernel that shows it.
//!
//! `cargo xtask differential` runs it. The compiler is a command that answers ([`oracle`]); nothing here knows how it was built.

pub mod files;
pub mod generator;
pub mod judge;
pub mod kinds;
pub mod minimise;
pub mod oracle;
pub mod run;
