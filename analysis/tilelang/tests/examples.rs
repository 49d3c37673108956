//! Kernels by others.
