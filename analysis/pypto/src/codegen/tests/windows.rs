//! Parts of tiles: what is written into them, what they are passed to, and what cannot take them.

use expect_test::{Expect, expect};

use super::units::check;

/// Only what touches the same bytes waits.
#[test]
fn parts_beside_each_other_are_inserted_in_any_order() {
    let two = |first: &str, second: &str, expected: Expect| {
        check(
            &format!(
                "x = pl.load(a, [0, 0], [8, 32])
                 w = pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)
                 p = pl.tile.assemble(w, x, {first})
                 q = pl.tile.assemble(p, x, {second})
                 out = pl.store(q, [0, 0], out)"
            ),
            expected,
        );
    };
    two(
        "[0, 0]",
        "[0, 32]",
        expect![[r#"
        TLOAD(x, aGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TEXPANDS(w, 0.0f);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TINSERT(p, x, 0, 0);
        TINSERT(q, x, 0, 32);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, q);
        }
    "#]],
    );
    two(
        "[0, 0]",
        "[8, 0]",
        expect![[r#"
        TLOAD(x, aGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TEXPANDS(w, 0.0f);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TINSERT(p, x, 0, 0);
        TINSERT(q, x, 8, 0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, q);
        }
    "#]],
    );
    two(
        "[0, 0]",
        "[0, 16]",
        expect![[r#"
        TLOAD(x, aGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TEXPANDS(w, 0.0f);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TINSERT(p, x, 0, 0);
        pipe_barrier(PIPE_V);
        TINSERT(q, x, 0, 16);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, q);
        }
    "#]],
    );
    two(
        "[0, 32]",
        "[4, 32]",
        expect![[r#"
        TLOAD(x, aGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TEXPANDS(w, 0.0f);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TINSERT(p, x, 0, 32);
        pipe_barrier(PIPE_V);
        TINSERT(q, x, 4, 32);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, q);
        }
    "#]],
    );
}

/// A window has one value a row with gaps between them; of such a row the library would take a block of 32 bytes.
#[test]
fn a_column_of_a_wider_tile_is_no_column() {
    check(
        "x = pl.load(a, [0, 0], [16, 64])
         c = pl.slice(x, [16, 1], [0, 0])
         y = pl.tile.row_expand_sub(x, c)
         out = pl.store(y, [0, 0], out)",
        expect![[r#"
            TLOAD(x, aGlobal);
            TSUBVIEW(c, x, 0, 0);
            // Not generated: tile.row_expand_sub
            TSTORE(outGlobal, y);
            }
            no-instruction: `c` has one value a row, 64 elements apart, and TROWEXPANDSUB takes those of a tile of one column
        "#]],
    );
}

#[test]
fn a_column_lies_column_by_column() {
    check(
        "x = pl.load(a, [0, 0], [16, 64])
         t = pl.create_tile([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
         r = pl.tile.row_max(x, t)
         s = pl.tile.row_sum(r, t)
         y = pl.tile.row_expand_sub(x, s)
         out = pl.store(y, [0, 0], out)",
        expect![[r#"
            TLOAD(x, aGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TROWMAX(r, x, t);
            // Not generated: tile.row_sum
            pipe_barrier(PIPE_V);
            TROWEXPANDSUB(y, x, s);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outGlobal, y);
            }
            no-instruction: `r` is one column of 16 rows, and TROWSUM takes tiles that are stored row by row
        "#]],
    );
    check(
        "x = pl.load(a, [0, 0], [16, 64])
         t = pl.create_tile([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
         r = pl.tile.row_max(x, t)
         n = pl.tile.neg(r)
         y = pl.tile.row_expand_sub(x, n)
         out = pl.store(y, [0, 0], out)",
        expect![[r#"
            TLOAD(x, aGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TROWMAX(r, x, t);
            pipe_barrier(PIPE_V);
            TNEG(n_row, r_row);
            pipe_barrier(PIPE_V);
            TROWEXPANDSUB(y, x, n);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outGlobal, y);
            }
        "#]],
    );
}

/// The simulator of the library wants as many columns in the result as in the window.
#[test]
fn columns_of_a_window_are_reduced() {
    check(
        "x = pl.load(a, [0, 0], [16, 64])
         c = pl.slice(x, [16, 32], [0, 32])
         y = pl.tile.col_max(c)
         out = pl.store(y, [0, 0], out)",
        expect![[r#"
            TLOAD(x, aGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TSUBVIEW(c, x, 0, 32);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TMOV(c_mv, c);
            pipe_barrier(PIPE_V);
            TCOLMAX(y, c_mv);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outGlobal, y);
            }
        "#]],
    );
}

/// Each row is at an address of its own, at the distances of the whole tile.
#[test]
fn rows_are_gathered_into_boxes() {
    check(
        "m = pl.create_tile([32, 64], dtype=pl.FP32, target_memory=pl.Mem.Mat)
         n = pl.tile.gather_row(m, a, [3, 0], [5, 0], [1, 64])
         o = pl.tile.gather_row(n, a, [17, 16], [6, 0], [2, 48])
         l = pl.move(o, target_memory=pl.Mem.Left)",
        expect![[r#"
            using m_partType = Tile<TileType::Mat, float, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>;
            m_partType m_part(1, 64);
            TASSIGN(m_part, 0x0 + (3 * 8 + 0 * 32) * 4);
            TASSIGN(aGlobal, a + 5 * 64 + 0);
            TLOAD(m_part, aGlobal);
            using m_part_1Type = Tile<TileType::Mat, float, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>;
            m_part_1Type m_part_1(2, 48);
            TASSIGN(m_part_1, 0x0 + (17 * 8 + 16 * 32) * 4);
            TASSIGN(aGlobal_1, a + 6 * 64 + 0);
            TLOAD(m_part_1, aGlobal_1);
            set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            TMOV(l, m);
            }
        "#]],
    );
}
