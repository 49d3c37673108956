//! The tiles that one definition becomes: one, or one in each copy of a loop's body. A name is told with all of them wherever it stands.

use rustc_hash::FxHashMap;
use tilefit_pypto::memory::{Plan, PlannedTile};
use tilefit_pypto::target::Space;
use tilefit_python::finding::Origin;

use crate::ide::extent::{Extent, Places, Site};
use crate::ide::language::Placement;

/// A tile, and those of the same definition that are of its kind.
pub(super) struct Copies<'p> {
    pub(super) first: &'p PlannedTile,
    further: Vec<&'p PlannedTile>,
}

impl<'p> Copies<'p> {
    /// Of the definition of a tile, in the order in which they are made.
    pub(super) fn of(plan: &'p Plan, tile: &'p PlannedTile) -> Copies<'p> {
        let mut all = plan.tiles.iter().filter(|other| is_copy(tile, other));
        Copies { first: all.next().unwrap_or(tile), further: all.collect() }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'p PlannedTile> + '_ {
        std::iter::once(self.first).chain(self.further.iter().copied())
    }

    pub(super) fn count(&self) -> usize {
        1 + self.further.len()
    }

    pub(super) fn placement(&self) -> Placement<'p> {
        Placement { name: &self.first.name, at: self.first.origin, extent: Some(self.extent()) }
    }

    /// Where all of them lie.
    pub(super) fn extent(&self) -> Extent {
        match self.places() {
            Some(places) => {
                let site = Site::Copies { space: self.first.space.map(Space::name), places };
                Extent { site, size: self.first.bytes, unit: "bytes", times: 1 }
            }
            None => super::extent(self.first),
        }
    }

    /// `None` where all have one address, or where one is not known.
    pub(super) fn places(&self) -> Option<Places> {
        let addresses: Option<Vec<u64>> = self.all().map(|tile| tile.address).collect();
        Places::of(addresses?.into_iter())
    }
}

/// By definition, in the order in which the first of each is made.
pub(super) fn grouped<'p>(tiles: impl Iterator<Item = &'p PlannedTile>) -> Vec<Copies<'p>> {
    let mut groups: Vec<Copies<'p>> = Vec::new();
    let mut by_definition: FxHashMap<(Origin, &str), usize> = FxHashMap::default();
    for tile in tiles {
        let group = *by_definition.entry((tile.origin, &tile.name)).or_insert(groups.len());
        match groups.get_mut(group) {
            None => groups.push(Copies { first: tile, further: Vec::new() }),
            Some(copies) if is_copy(copies.first, tile) => copies.further.push(tile),
            // Of another kind, which the first speaks for.
            Some(_) => {}
        }
    }
    groups
}

fn is_copy(tile: &PlannedTile, other: &PlannedTile) -> bool {
    let kind = |tile: &PlannedTile| (tile.origin, tile.role, tile.inserted, tile.space, tile.bytes);
    kind(tile) == kind(other) && tile.name == other.name
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::Fixture;

    /// What a hint, the hover over a use, and the outline say of `chunk` in a loop.
    fn check(header: &str, expected: &Expect) {
        let fixture = Fixture::new(&format!(
            "import pypto.language as pl\n\n@pl.jit\ndef host(x: pl.Tensor[[64, 1024], pl.BF16], o: pl.Out[pl.Tensor[[64, 1024], pl.BF16]]):\n    \
             with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"norm\"):\n        for i in {header}:\n            \
             chunk = pl.cast(x[0:64, i * 64 : i * 64 + 64], pl.FP32)\n            \
             o[0:64, i * 64 : i * 64 + 64] = pl.cast(pl.mul(chunk, chunk), pl.BF16)\n    return o\n"
        ));
        let hints = fixture.inlay_hints(fixture.whole());
        let of_chunk: Vec<_> = hints.iter().filter(|hint| fixture.text[..hint.offset].ends_with("chunk")).collect();
        let [hint] = of_chunk.as_slice() else { panic!("{of_chunk:?}") };
        let hover = fixture.hover(fixture.find("(chunk") + 1).expect("a tile").markdown;
        let rows = ["| address", "| size", "| reuse"].map(|row| hover.lines().find(|line| line.starts_with(row)));
        let symbols = fixture.document_symbols();
        let tiles = symbols[0].children.iter().filter(|tile| tile.name == "chunk").map(|tile| tile.detail.as_str());
        let said = [hint.label.as_str()].into_iter().chain(tiles).chain(rows.into_iter().flatten());
        expected.assert_eq(&said.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_tile_of_several_copies_is_told_with_all_of_them_everywhere() {
        check(
            "pl.pipeline(16, stage=2)",
            &expect![[r#"
                Vec 2 copies: 0x4000, 0x8000, 16 KiB each
                Vec 2 copies: 0x4000, 0x8000, 16 KiB each
                | address | 2 copies: 0x4000, 0x8000 |
                | size | 16384 bytes (16 KiB) each |
                | reuse groups | `mem_vec_4`, `mem_vec_7`, 32768 bytes together, shared with `o:mul`, `o:cast` |"#]],
        );
    }

    #[test]
    fn many_copies_are_a_range_and_a_count() {
        check(
            "pl.pipeline(16, stage=4)",
            &expect![[r#"
                Vec 4 copies: 0x0 … 0x14000, 16 KiB each
                Vec 4 copies: 0x0 … 0x14000, 16 KiB each
                | address | 4 copies: 0x0 … 0x14000 |
                | size | 16384 bytes (16 KiB) each |
                | reuse groups | `mem_vec_12`, `mem_vec_15`, `mem_vec_6` and 1 more, 65536 bytes together, shared with `o:mul`, `o:cast` |"#]],
        );
    }

    #[test]
    fn copies_at_one_address_are_told_as_one_tile() {
        check(
            "pl.unroll(3)",
            &expect![[r#"
                Vec 0x2000 16 KiB
                Vec 0x2000 16 KiB
                | address | `0x2000` – `0x6000`, the same for 3 copies |
                | size | 16384 bytes (16 KiB) each |
                | reuse group | `mem_vec_3`, 16384 bytes, shared with `o:mul`, `o:cast` |"#]],
        );
        check(
            "pl.range(16)",
            &expect![[r#"
                Vec 0x2000 16 KiB
                Vec 0x2000 16 KiB
                | address | `0x2000` – `0x6000` |
                | size | 16384 bytes (16 KiB) |
                | reuse group | `mem_vec_3`, 16384 bytes, shared with `o:mul`, `o:cast` |"#]],
        );
    }
}
