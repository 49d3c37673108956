//! The free bytes of a memory space in address order, each operation O(log n): a treap of gaps that knows, for every
//! subtree, the largest gap in it.

/// No node.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    start: u64,
    len: u64,
    /// Largest `len` in the subtree.
    largest: u64,
    priority: u32,
    left: u32,
    right: u32,
}

pub(super) struct FreeList {
    nodes: Vec<Node>,
    unused: Vec<u32>,
    root: u32,
    random: u64,
}

/// Where the lowest free bytes are.
enum Front {
    /// Already taken.
    Taken(u64),
    /// Still to be cut out of a gap.
    Found(u64),
}

impl FreeList {
    /// Everything free from address 0 upwards.
    pub(super) fn new() -> Self {
        let mut list = Self { nodes: Vec::new(), unused: Vec::new(), root: NIL, random: 0x9e37_79b9_7f4a_7c15 };
        list.root = list.node(0, u64::MAX);
        list
    }

    /// Takes `size` bytes at the lowest aligned address at which they are free, and returns it.
    pub(super) fn take_lowest(&mut self, size: u64, align: u64) -> Option<u64> {
        match self.take_front(self.root, size, align)? {
            Front::Taken(offset) => Some(offset),
            Front::Found(offset) => self.take(offset, size).then_some(offset),
        }
    }

    /// Takes `[start, start + size)` out of the gap that contains it; says whether one does.
    pub(super) fn take(&mut self, start: u64, size: u64) -> bool {
        let (below, rest) = self.split(self.root, start.saturating_add(1));
        let (below, gap) = self.pop_last(below);
        let Some((gap_start, gap_len)) = gap else {
            self.root = self.merge(below, rest);
            return false;
        };
        let fits = start - gap_start <= gap_len && gap_len - (start - gap_start) >= size;
        let mut left = below;
        let pieces = if fits {
            [(gap_start, start - gap_start), (start + size, gap_len - (start - gap_start) - size)]
        } else {
            [(gap_start, gap_len), (0, 0)]
        };
        for (piece_start, piece_len) in pieces {
            if piece_len > 0 {
                let piece = self.node(piece_start, piece_len);
                left = self.merge(left, piece);
            }
        }
        self.root = self.merge(left, rest);
        fits
    }

    /// Gives `[start, start + size)` back and joins it with the gaps beside it.
    pub(super) fn free(&mut self, start: u64, size: u64) {
        let (below, above) = self.split(self.root, start);
        let (mut start, mut len) = (start, size);
        let (below, gap) = self.pop_last(below);
        let mut left = below;
        match gap {
            Some((gap_start, gap_len)) if gap_start + gap_len == start => {
                start = gap_start;
                len += gap_len;
            }
            Some((gap_start, gap_len)) => {
                let gap = self.node(gap_start, gap_len);
                left = self.merge(left, gap);
            }
            None => {}
        }
        let (first, rest) = self.split(above, (start + len).saturating_add(1));
        let mut right = rest;
        if let Some(&Node { start: next, len: next_len, .. }) = self.nodes.get(first as usize) {
            if next == start + len {
                len += next_len;
                self.unused.push(first);
            } else {
                right = self.merge(first, rest);
            }
        }
        let joined = self.node(start, len);
        let left = self.merge(left, joined);
        self.root = self.merge(left, right);
    }

    /// Shortens the lowest gap that will do from its front, if that is where the bytes are and some of it is left.
    fn take_front(&mut self, at: u32, size: u64, align: u64) -> Option<Front> {
        let &Node { start, len, left, right, .. } = self.nodes.get(at as usize).filter(|node| node.largest >= size)?;
        let mut front = self.take_front(left, size, align);
        if front.is_none() {
            let aligned = start.checked_next_multiple_of(align);
            let offset = aligned.filter(|offset| offset - start <= len && len - (offset - start) >= size);
            front = offset.map(Front::Found);
            if offset == Some(start) && len > size {
                let node = &mut self.nodes[at as usize];
                (node.start, node.len) = (start + size, len - size);
                front = Some(Front::Taken(start));
            }
        }
        if front.is_none() {
            front = self.take_front(right, size, align);
        }
        if let Some(Front::Taken(_)) = front {
            self.update(at);
        }
        front
    }

    fn node(&mut self, start: u64, len: u64) -> u32 {
        // xorshift: the shape of the tree must be the same in every run.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let node = Node { start, len, largest: len, priority: (self.random >> 32) as u32, left: NIL, right: NIL };
        match self.unused.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn update(&mut self, at: u32) {
        let Node { len, left, right, .. } = self.nodes[at as usize];
        let largest = |child: u32| self.nodes.get(child as usize).map_or(0, |node| node.largest);
        self.nodes[at as usize].largest = len.max(largest(left)).max(largest(right));
    }

    /// Gaps that start before `key`, and the others.
    fn split(&mut self, at: u32, key: u64) -> (u32, u32) {
        let Some(&Node { start, left, right, .. }) = self.nodes.get(at as usize) else { return (NIL, NIL) };
        if start < key {
            let (low, high) = self.split(right, key);
            self.nodes[at as usize].right = low;
            self.update(at);
            (at, high)
        } else {
            let (low, high) = self.split(left, key);
            self.nodes[at as usize].left = high;
            self.update(at);
            (low, at)
        }
    }

    /// All of `low` before all of `high`.
    fn merge(&mut self, low: u32, high: u32) -> u32 {
        let (Some(&below), Some(&above)) = (self.nodes.get(low as usize), self.nodes.get(high as usize)) else {
            return if low == NIL { high } else { low };
        };
        if below.priority >= above.priority {
            self.nodes[low as usize].right = self.merge(below.right, high);
            self.update(low);
            low
        } else {
            self.nodes[high as usize].left = self.merge(low, above.left);
            self.update(high);
            high
        }
    }

    /// Removes the highest gap of a subtree and returns its start and length.
    fn pop_last(&mut self, at: u32) -> (u32, Option<(u64, u64)>) {
        let Some(&Node { start, len, left, right, .. }) = self.nodes.get(at as usize) else { return (NIL, None) };
        if right == NIL {
            self.unused.push(at);
            return (left, Some((start, len)));
        }
        let (rest, last) = self.pop_last(right);
        self.nodes[at as usize].right = rest;
        self.update(at);
        (at, last)
    }
}
