//! Generated C++ compiles and computes the right numbers, on the host's own version of the instructions
//! (`tests/host_isa`).

mod array;
mod conformance;
mod cores;
mod corpora;
mod devices;
mod host;
mod jumps;
mod kernels;
mod library;
mod numerics;
mod operations;
mod overwritten;
mod pointers;
mod run_time;
mod seed;
