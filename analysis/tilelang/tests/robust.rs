//! Texts that are no kernels.
