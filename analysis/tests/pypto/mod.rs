//! Kernels of PyPTO in files.

mod isa_rules;
mod overwritten;
mod pairs;
