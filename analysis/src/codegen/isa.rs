//! Which instruction an operation is, and in which order its operands are printed (`reference/codegen.md` §4).

use Slot::*;

/// One printed operand behind the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Operand of the IR call.
    Arg(u8),
    /// Element of a list operand of the IR call.
    Item(u8, u8),
    /// Scratch operand: written as well as read. Missing ones get a tile of their own.
    Tmp(u8),
    /// `mode` as `RoundMode::CAST_…`
    Round,
    /// `cmp_type` as `CmpMode::…`
    Compare,
}

/// One template argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// Type of the result.
    Result,
    /// Its element type.
    Element,
    /// Type of an operand of the IR call.
    Type(u8),
    /// An attribute as `0` or `1`.
    Flag(&'static str),
    /// `mask_pattern` as `MaskPattern::P…`
    Pattern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// In the IR, without `tile.`.
    op: &'static str,
    pub(super) instruction: &'static str,
    pub(super) template: &'static [Template],
    pub(super) slots: &'static [Slot],
    /// The instruction library refuses column-major tiles here; they are passed as one row at the same address.
    pub(super) row_major: bool,
    pub(super) alike: Alike,
}

/// What the tiles of an instruction must have in common with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    Nothing,
    /// The C++ type; only the simulator of the instruction library asks for it.
    Simulated,
    /// The C++ type.
    Type,
}

const fn row(op: &'static str, instruction: &'static str, slots: &'static [Slot]) -> Row {
    Row { op, instruction, template: &[], slots, row_major: false, alike: Alike::Nothing }
}

const fn alike(op: &'static str, instruction: &'static str, alike: Alike, slots: &'static [Slot]) -> Row {
    Row { op, instruction, template: &[], slots, row_major: false, alike }
}

const fn typed(
    op: &'static str,
    instruction: &'static str,
    template: &'static [Template],
    slots: &'static [Slot],
) -> Row {
    Row { op, instruction, template, slots, row_major: false, alike: Alike::Nothing }
}

const fn scalar(op: &'static str, instruction: &'static str) -> Row {
    Row { op, instruction, template: &[], slots: &[Arg(0), Arg(1)], row_major: true, alike: Alike::Nothing }
}

const UNARY: &[Slot] = &[Arg(0)];
const BINARY: &[Slot] = &[Arg(0), Arg(1)];
const TERNARY: &[Slot] = &[Arg(0), Arg(1), Arg(2)];
const REDUCTION: &[Slot] = &[Arg(0), Tmp(1)];

const ROWS: &[Row] = &[
    alike("abs", "TABS", Alike::Simulated, UNARY),
    alike("add", "TADD", Alike::Simulated, BINARY),
    alike("addc", "TADDC", Alike::Type, TERNARY),
    scalar("adds", "TADDS"),
    alike("addsc", "TADDSC", Alike::Type, TERNARY),
    row("and", "TAND", BINARY),
    scalar("ands", "TANDS"),
    row("assemble", "TINSERT", &[Arg(1), Item(2, 0), Item(2, 1)]),
    row("cast", "TCVT", &[Arg(0), Round]),
    typed("ci", "TCI", &[Template::Result, Template::Element, Template::Flag("descending")], &[Arg(0)]),
    row("cmp", "TCMP", &[Arg(0), Arg(1), Compare]),
    row("cmps", "TCMPS", &[Arg(0), Arg(1), Compare]),
    row("col_argmax", "TCOLARGMAX", REDUCTION),
    row("col_argmin", "TCOLARGMIN", REDUCTION),
    row("col_expand", "TCOLEXPAND", &[Arg(1)]),
    row("col_expand_add", "TCOLEXPANDADD", BINARY),
    row("col_expand_div", "TCOLEXPANDDIV", BINARY),
    row("col_expand_expdif", "TCOLEXPANDEXPDIF", BINARY),
    row("col_expand_max", "TCOLEXPANDMAX", BINARY),
    row("col_expand_min", "TCOLEXPANDMIN", BINARY),
    row("col_expand_mul", "TCOLEXPANDMUL", BINARY),
    row("col_expand_sub", "TCOLEXPANDSUB", BINARY),
    row("col_max", "TCOLMAX", UNARY),
    row("col_min", "TCOLMIN", UNARY),
    row("col_prod", "TCOLPROD", UNARY),
    row("col_sum", "TCOLSUM", UNARY),
    row("concat", "TCONCAT", BINARY),
    row("div", "TDIV", BINARY),
    scalar("divs", "TDIVS"),
    row("exp", "TEXP", UNARY),
    row("expands", "TEXPANDS", &[Arg(1)]),
    row("extract", "TEXTRACT", TERNARY),
    row("fillpad", "TFILLPAD", UNARY),
    row("fillpad_expand", "TFILLPAD_EXPAND", UNARY),
    row("fillpad_inplace", "TFILLPAD_INPLACE", UNARY),
    row("fmod", "TFMOD", BINARY),
    scalar("fmods", "TFMODS"),
    row("full", "TEXPANDS", &[Arg(1)]),
    row("gather", "TGATHER", &[Arg(0), Arg(1), Tmp(2)]),
    typed("gather_mask", "TGATHER", &[Template::Result, Template::Type(0), Template::Pattern], UNARY),
    row("gatherb", "TGATHERB", BINARY),
    row("gemv", "TGEMV", BINARY),
    row("gemv_acc", "TGEMV_ACC", TERNARY),
    row("gemv_bias", "TGEMV_BIAS", TERNARY),
    row("log", "TLOG", UNARY),
    scalar("lrelu", "TLRELU"),
    row("matmul", "TMATMUL", BINARY),
    row("matmul_acc", "TMATMUL_ACC", TERNARY),
    row("matmul_bias", "TMATMUL_BIAS", TERNARY),
    row("matmul_mx", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3)]),
    row("matmul_mx_acc", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3), Arg(4)]),
    row("matmul_mx_bias", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3), Arg(4)]),
    row("maximum", "TMAX", BINARY),
    scalar("maximums", "TMAXS"),
    row("minimum", "TMIN", BINARY),
    scalar("minimums", "TMINS"),
    row("move", "TMOV", UNARY),
    row("mrgsort_format1", "TMRGSORT", BINARY),
    row("mul", "TMUL", BINARY),
    scalar("muls", "TMULS"),
    row("neg", "TNEG", UNARY),
    row("not", "TNOT", UNARY),
    row("or", "TOR", BINARY),
    scalar("ors", "TORS"),
    row("part_add", "TPARTADD", BINARY),
    row("part_max", "TPARTMAX", BINARY),
    row("part_min", "TPARTMIN", BINARY),
    row("part_mul", "TPARTMUL", BINARY),
    row("prelu", "TPRELU", &[Arg(0), Arg(1), Tmp(2)]),
    row("recip", "TRECIP", UNARY),
    row("relu", "TRELU", UNARY),
    row("rem", "TREM", &[Arg(0), Arg(1), Tmp(2)]),
    row("rems", "TREMS", &[Arg(0), Arg(1), Tmp(2)]),
    row("reshape", "TRESHAPE", UNARY),
    row("row_argmax", "TROWARGMAX", REDUCTION),
    row("row_argmin", "TROWARGMIN", REDUCTION),
    row("row_expand", "TROWEXPAND", &[Arg(1)]),
    row("row_expand_add", "TROWEXPANDADD", BINARY),
    row("row_expand_div", "TROWEXPANDDIV", BINARY),
    row("row_expand_expdif", "TROWEXPANDEXPDIF", BINARY),
    row("row_expand_max", "TROWEXPANDMAX", BINARY),
    row("row_expand_min", "TROWEXPANDMIN", BINARY),
    row("row_expand_mul", "TROWEXPANDMUL", BINARY),
    row("row_expand_sub", "TROWEXPANDSUB", BINARY),
    row("row_max", "TROWMAX", REDUCTION),
    row("row_min", "TROWMIN", REDUCTION),
    row("row_prod", "TROWPROD", REDUCTION),
    row("row_sum", "TROWSUM", REDUCTION),
    row("rsqrt", "TRSQRT", UNARY),
    row("scatter", "TSCATTER", &[Arg(1), Arg(2)]),
    typed("scatter_mask", "TSCATTER", &[Template::Pattern], &[Arg(1)]),
    alike("sel", "TSEL", Alike::Type, &[Arg(0), Arg(1), Arg(2), Tmp(3)]),
    row("sels", "TSELS", &[Arg(0), Arg(1), Tmp(2), Arg(3)]),
    row("shl", "TSHL", BINARY),
    scalar("shls", "TSHLS"),
    row("shr", "TSHR", BINARY),
    scalar("shrs", "TSHRS"),
    row("slice", "TEXTRACT", &[Arg(0), Item(2, 0), Item(2, 1)]),
    row("sort32", "TSORT32", BINARY),
    row("sqrt", "TSQRT", UNARY),
    row("sub", "TSUB", BINARY),
    alike("subc", "TSUBC", Alike::Type, TERNARY),
    scalar("subs", "TSUBS"),
    alike("subsc", "TSUBSC", Alike::Type, TERNARY),
    row("tget_scale_addr", "TGET_SCALE_ADDR", &[Arg(1)]),
    row("transpose", "TTRANS", &[Arg(0), Tmp(3)]),
    typed("tri", "TTRI", &[Template::Result, Template::Flag("upper")], &[Arg(0)]),
    row("xor", "TXOR", &[Arg(0), Arg(1), Tmp(2)]),
    row("xors", "TXORS", &[Arg(0), Arg(1), Tmp(2)]),
];

/// The instruction of an operation (`tile.add`; `block.add` before March 2026). Loads, stores and what has no instruction
/// of its own are not in the table.
pub(super) fn instruction(op: &str) -> Option<&'static Row> {
    let op = op.strip_prefix("tile.").or_else(|| op.strip_prefix("block."))?;
    let at = ROWS.binary_search_by_key(&op, |row| row.op).ok()?;
    ROWS.get(at)
}

/// The instruction of `block.sum`, `block.max`, `block.min` (before March 2026): along axis 1 a row reduction with
/// scratch, along axis 0 a column reduction.
pub(super) fn axis_reduction(op: &str, axis: i64) -> Option<&'static Row> {
    let (across_columns, across_rows) = match op.strip_prefix("tile.").or_else(|| op.strip_prefix("block."))? {
        "sum" => ("tile.row_sum", "tile.col_sum"),
        "max" => ("tile.row_max", "tile.col_max"),
        "min" => ("tile.row_min", "tile.col_min"),
        _ => return None,
    };
    match axis {
        1 => instruction(across_columns),
        0 => instruction(across_rows),
        _ => None,
    }
}

/// The instruction of an operation of two tiles, of which the second has one row (or one column) for all of the first.
pub(super) fn expanding(op: &str, one_row: bool) -> Option<&'static Row> {
    let operator = match op.strip_prefix("tile.").or_else(|| op.strip_prefix("block."))? {
        operator @ ("add" | "sub" | "mul" | "div") => operator,
        "maximum" => "max",
        "minimum" => "min",
        _ => return None,
    };
    instruction(&format!("tile.{}_expand_{operator}", if one_row { "col" } else { "row" }))
}

/// `mask_pattern` of a gather or scatter: the bits, from the right, of the elements of each two or four that it takes.
pub(super) fn mask_pattern(pattern: i64) -> Option<&'static str> {
    let patterns = ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"];
    usize::try_from(pattern - 1).ok().and_then(|pattern| patterns.get(pattern)).copied()
}

/// `mode` of a cast.
pub(super) fn round_mode(mode: i64) -> Option<&'static str> {
    let modes = [
        "RoundMode::CAST_NONE",
        "RoundMode::CAST_RINT",
        "RoundMode::CAST_ROUND",
        "RoundMode::CAST_FLOOR",
        "RoundMode::CAST_CEIL",
        "RoundMode::CAST_TRUNC",
        "RoundMode::CAST_ODD",
    ];
    usize::try_from(mode).ok().and_then(|mode| modes.get(mode)).copied()
}

/// `cmp_type` of a comparison.
pub(super) fn compare_mode(mode: i64) -> Option<&'static str> {
    let modes = ["CmpMode::EQ", "CmpMode::NE", "CmpMode::LT", "CmpMode::LE", "CmpMode::GT", "CmpMode::GE"];
    usize::try_from(mode).ok().and_then(|mode| modes.get(mode)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPS;

    #[test]
    fn the_table_is_sorted() {
        assert!(ROWS.is_sorted_by_key(|row| row.op));
    }

    #[test]
    fn maps_the_operations_of_the_seed() {
        let of = |op| instruction(op).map(|row| row.instruction);
        assert_eq!(of("block.add"), Some("TADD"));
        assert_eq!(of("tile.divs"), Some("TDIVS"));
        assert_eq!(of("block.sqrt"), Some("TSQRT"));
        assert_eq!(of("tile.sort32"), Some("TSORT32"));
        assert_eq!(of("tile.sin"), None);
        assert_eq!(axis_reduction("block.sum", 0).map(|row| row.instruction), Some("TCOLSUM"));
        assert_eq!(axis_reduction("block.sum", 1).map(|row| row.instruction), Some("TROWSUM"));
        assert_eq!(axis_reduction("block.sum", 2), None);
        assert_eq!(expanding("tile.maximum", true).map(|row| row.instruction), Some("TCOLEXPANDMAX"));
        assert_eq!(expanding("tile.sub", false).map(|row| row.instruction), Some("TROWEXPANDSUB"));
        assert_eq!(expanding("tile.xor", false), None);
    }

    /// Operations with an instruction, of which `selection` makes more than one row of the table can say.
    const OTHER_ROOMS: &[&str] = &[
        "tile.alloc",
        "tile.create",
        "tile.gather_compare",
        "tile.gather_row",
        "tile.load",
        "tile.mgather",
        "tile.mrgsort_format2",
        "tile.mscatter",
        "tile.random",
        "tile.read",
        "tile.set_validshape",
        "tile.store",
        "tile.tpop_from_aic",
        "tile.tpop_from_aiv",
        "tile.tpush_to_aic",
        "tile.tpush_to_aiv",
        "tile.write",
    ];

    #[test]
    fn every_operation_with_an_instruction_has_a_row_or_a_room() {
        for op in OPS.iter().filter(|op| op.name.starts_with("tile.") && !op.pto.is_empty()) {
            let known = instruction(op.name).is_some() || OTHER_ROOMS.contains(&op.name);
            assert!(known, "{}: {}", op.name, op.pto);
        }
    }

    #[test]
    fn modes_are_names() {
        assert_eq!(mask_pattern(1), Some("P0101"));
        assert_eq!(mask_pattern(0), None);
        assert_eq!(round_mode(2), Some("RoundMode::CAST_ROUND"));
        assert_eq!(round_mode(7), None);
        assert_eq!(compare_mode(5), Some("CmpMode::GE"));
        assert_eq!(compare_mode(-1), None);
    }
}
