//! The packing library from outside: golden cases, brute force, properties.

mod brute_force;
mod golden;
mod properties;
mod threads;
