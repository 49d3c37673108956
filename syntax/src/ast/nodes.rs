//! Nodes of a tree with ids that survive edits elsewhere.

/// Nodes in the order in which they were added. Their ids are numbered in pages, so that what is on one page has the same ids however
/// much stands on the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nodes<T> {
    all: Vec<T>,
    /// Index of the first node of each page.
    pages: Vec<u32>,
}

const BITS: u32 = 16;
const NODES_OF_A_PAGE: usize = 1 << BITS;
/// Turning goes on to here; those after it are left for pages that are full.
const MOST_TURNED: usize = 1 << 15;

impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Nodes { all: Vec::new(), pages: vec![0] }
    }
}

impl<T> Nodes<T> {
    /// Adds a node and returns its id.
    pub(super) fn push(&mut self, node: T) -> u32 {
        if self.all.len() - self.last_page() >= NODES_OF_A_PAGE {
            self.pages.push(self.all.len() as u32);
        }
        let id = (((self.pages.len() - 1) << BITS) + self.all.len() - self.last_page()) as u32;
        self.all.push(node);
        id
    }

    /// Begins a new page, even if there is nothing on this one.
    pub(super) fn turn(&mut self) {
        if self.pages.len() < MOST_TURNED {
            self.pages.push(self.all.len() as u32);
        }
    }

    pub(super) fn get(&self, id: u32) -> Option<&T> {
        let page = (id >> BITS) as usize;
        let start = *self.pages.get(page)? as usize;
        let end = self.pages.get(page + 1).map_or(self.all.len(), |&end| end as usize);
        self.all[start..end].get(id as usize & (NODES_OF_A_PAGE - 1))
    }

    /// Each node with its id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let ends = self.pages.iter().skip(1).copied().chain([self.all.len() as u32]);
        let pages = self.pages.iter().zip(ends).zip(0u32..);
        pages.flat_map(|((&start, end), page)| (page << BITS..).zip(&self.all[start as usize..end as usize]))
    }

    fn last_page(&self) -> usize {
        self.pages.last().map_or(0, |&start| start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_to_their_nodes_on_every_page() {
        let mut nodes = Nodes::default();
        let mut ids = Vec::new();
        for node in 0..200_000 {
            // Empty pages, short ones, and one that overflows.
            if node % 1_000 < 2 && node < 50_000 {
                nodes.turn();
                nodes.turn();
            }
            ids.push(nodes.push(node));
        }
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().zip(0..).all(|(&id, node)| nodes.get(id) == Some(&node)));
        assert!(nodes.iter().eq(ids.iter().copied().zip(&nodes.all)));
        let next = ids.last().map_or(0, |last| last + 1);
        assert_eq!((nodes.get(next), nodes.get(u32::MAX)), (None, None));
    }

    #[test]
    fn turned_pages_leave_room_for_full_ones() {
        let mut nodes = Nodes::default();
        for node in 0..3 * MOST_TURNED {
            nodes.turn();
            nodes.push(node);
        }
        let ids: Vec<u32> = nodes.iter().map(|(id, _)| id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().zip(0..).all(|(&id, node)| nodes.get(id) == Some(&node)));
    }
}
