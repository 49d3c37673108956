//! Rows that are written where an index says.

use expect_test::expect;

use super::check;

#[test]
fn a_scatter_of_rows_becomes_one_of_elements_and_a_choice() {
    check(
        "
rows = pl.load(b, [0, 0], [64, 32])
index = pl.cast(pl.load(a, [0, 0], [1, 16]), pl.INT32, mode=\"rint\")
new = pl.load(b, [64, 0], [16, 32])
done = pl.tile.scatter_update(rows, index, new, dim=-2)",
        expect![[r#"
            AIV k
            rows: Tile[[64, 32], FP16, Vec]
            t__tmp_v0: Tile[[1, 16], FP32, Vec]
            index: Tile[[1, 16], INT32, Vec] = tile.cast(t__tmp_v0, target_type=INT32, mode=1)
            new: Tile[[16, 32], FP16, Vec]
            su_col: Tile[[1, 32], INT32, Vec] = tile.ci(0, [1, 32], dtype=INT32, descending=false)
            su_tmpl: Tile[[16, 32], INT32, Vec] = tile.full([16, 32], 0, dtype=INT32)
            su_col_nd: Tile[[16, 32], INT32, Vec] = tile.col_expand(su_tmpl, su_col)
            su_idx_flat: Tile[[16, 1], INT32, Vec] = tile.reshape(index, [16, 1])
            su_row_base__rm_a0_tmp_v0: Tile[[1, 16], INT32, Vec] = tile.reshape(su_idx_flat, [1, 16])
            su_row_base__row_major_tmp_v1: Tile[[1, 16], INT32, Vec] = tile.muls(su_row_base__rm_a0_tmp_v0, 32)
            su_row_base: Tile[[16, 1], INT32, Vec] = tile.reshape(su_row_base__row_major_tmp_v1, [16, 1])
            su_flat_idx: Tile[[16, 32], INT32, Vec] = tile.row_expand_add(su_col_nd, su_row_base)
            su_flat_idx_cast: Tile[[16, 32], INT16, Vec] = tile.cast(su_flat_idx, target_type=INT16, mode=0)
            su_v0: Tile[[64, 32], FP16, Vec] = tile.full([64, 32], 0.0, dtype=FP16)
            su_vals: Tile[[64, 32], FP16, Vec] = tile.scatter(su_v0, new, su_flat_idx_cast)
            su_m0: Tile[[64, 32], FP16, Vec] = tile.full([64, 32], 0.0, dtype=FP16)
            su_ones: Tile[[16, 32], FP16, Vec] = tile.full([16, 32], 1.0, dtype=FP16)
            su_mask: Tile[[64, 32], FP16, Vec] = tile.scatter(su_m0, su_ones, su_flat_idx_cast)
            su_pred: Tile[[64, 32], UINT8, Vec, valid=[64, 4]] = tile.cmps(su_mask, 0.0, cmp_type=1)
            su_tmp: Tile[[1, 32], UINT8, Vec] = tile.create([1, 32], dtype=UINT8, target_memory=Vec)
            done: Tile[[64, 32], FP16, Vec] = tile.sel(su_pred, su_vals, rows, su_tmp)
        "#]],
    );
}

#[test]
fn a_scatter_takes_a_row_for_each_index() {
    check(
        "
rows = pl.load(b, [0, 0], [64, 32])
index = pl.cast(pl.load(a, [0, 0], [1, 8]), pl.INT32, mode=\"rint\")
new = pl.load(b, [64, 0], [16, 32])
done = pl.tile.scatter_update(rows, index, new, dim=-2)",
        expect![[r#"
            AIV k
            rows: Tile[[64, 32], FP16, Vec]
            t__tmp_v0: Tile[[1, 8], FP32, Vec]
            index: Tile[[1, 8], INT32, Vec] = tile.cast(t__tmp_v0, target_type=INT32, mode=1)
            new: Tile[[16, 32], FP16, Vec]
            done: ? = <`tile.scatter_update` that the compiler refuses>
            invalid-operand: `scatter_update` writes a row of `src` for each index: `src` has 16 rows, `index` 8 elements
        "#]],
    );
}
