//! Step 1 of the compiler: the size of each spec.

use super::kernel::{Kernel, Known, Pair, SpecId};
use super::language::Storage;
use super::sizes::Sized;
use super::tree::Tree;
use super::{Rules, align_up};

/// What step 1 stores on a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecSize {
    /// Bytes that the allocations need.
    pub required: u64,
    /// Bytes of the spec: what is required, or the explicit size.
    pub bytes: u64,
    /// `[bytes]` in shared memory, `[rows, columns]` in tensor memory.
    pub shape: Vec<u64>,
}

impl SpecSize {
    /// Bytes or columns.
    pub fn units(&self) -> u64 {
        self.shape.last().copied().unwrap_or(0)
    }
}

/// The size of a spec from its users in program order, which are at least one. `E` is `buffer_size_bytes`.
pub fn spec_size(
    users: &[&Sized],
    tree: Option<&Tree>,
    explicit: Option<u64>,
    storage: Storage,
    rules: Rules,
) -> SpecSize {
    let whole = |sized: &&Sized| sized.bytes().saturating_mul(sized.num);
    let computed = match (rules, storage) {
        (Rules::Seed, _) => linear(users.iter().map(whole).max().unwrap_or(0)),
        (Rules::Compiler, Storage::Tmem) => tensor_memory(users),
        (Rules::Compiler, _) => match tree {
            Some(tree) => {
                let first = users.first().map_or(1, |user| user.num);
                linear(align_up(tree.size(), tree.align()).saturating_mul(first))
            }
            None => linear(users.iter().map(whole).max().unwrap_or(0)),
        },
    };
    match explicit {
        None => computed,
        Some(bytes) => {
            let mut shape = computed.shape;
            if let [rows, columns] = shape.as_mut_slice() {
                *columns = (*columns).max(bytes / rows.saturating_mul(4).max(1));
            } else {
                shape = vec![bytes];
            }
            SpecSize { required: computed.required, bytes, shape }
        }
    }
}

fn linear(bytes: u64) -> SpecSize {
    SpecSize { required: bytes, bytes, shape: vec![bytes] }
}

/// One array of 32-bit words that covers every user; a tree does not count.
fn tensor_memory(users: &[&Sized]) -> SpecSize {
    let (mut rows, mut columns) = (0, 0);
    for user in users {
        let [.., m, n] = user.shape.as_slice() else { continue };
        let (mut m, mut n) = (*m, n.saturating_mul(user.num));
        match user.dtype.bytes() {
            bytes if bytes > 4 => n = n.saturating_mul(bytes / 4),
            bytes => n = n.div_ceil(4 / bytes.max(1)),
        }
        match user.pair {
            Pair::Rhs => (m, n) = (m.saturating_mul(2), n / 2),
            Pair::Lhs => m = m.saturating_mul(2),
            Pair::None => {}
        }
        rows = rows.max(m);
        columns = columns.max(n);
    }
    let rows: u64 = if rows <= 64 { 64 } else { 128 };
    let bytes = rows.saturating_mul(columns).saturating_mul(4);
    SpecSize { required: bytes, bytes, shape: vec![rows, columns] }
}

/// The users of a spec with their sizes, in program order; the first reason where one is not known.
pub fn users(kernel: &Kernel, spec: SpecId, rules: Rules) -> Known<Vec<(super::BufferId, Sized)>> {
    kernel.users(spec).map(|id| Ok((id, Sized::of(kernel.buffer(id), rules)?))).collect()
}
