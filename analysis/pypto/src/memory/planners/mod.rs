//! The planners that `docs/packing.md` lists, a file each: [`sequential`], [`packed`], [`dsa_rp`]. `auto` is one of the first two.

pub(super) mod background_search;
pub(super) mod dsa_rp;
pub(super) mod input;
pub(super) mod packed;
pub(super) mod sequential;
pub(super) mod verdict;
