//! The packing library from outside: golden cases, brute force, properties.

mod golden;
mod properties;
