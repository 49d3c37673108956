//! Which instruction an operation is, and in which order its operands are printed (`docs/reference/codegen.md`, "Operations").

use Slot::*;

use crate::ir::AttrName;

/// One printed operand after the destination.
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
    Flag(AttrName),
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
    pub(super) columns: Columns,
    pub(super) alike: Alike,
    pub(super) unit: Unit,
}

/// What becomes of tiles of one column, which are column-major: most instructions of the library assert that tiles are row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Taken,
    /// They are passed as one row at the same address.
    AsRows,
    /// These printed operands must be row-major; the destination is number 0. Out of `column` comes one value for each row.
    Refused {
        row_major: &'static [usize],
        column: Option<usize>,
    },
}

/// The unit that executes an instruction. What the headers of pto-isa are made of decides, where they differ by machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// That of the memories of its operands.
    OfSpaces,
    /// The scalar unit, in a loop over the elements: a form without scratch has no vector instructions, on neither machine.
    Scalar,
    /// None: it points its result to the bytes of its operand.
    Nothing,
    /// On 910B elements after columns that fill no whole block of 32 bytes are copied by the scalar unit, for which nothing waits.
    ScalarBehindBlocks,
}

/// What the tiles of an instruction must have in common with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    Nothing,
    /// The C++ type; only the simulator of the instruction library asks for it.
    Simulated,
    /// The columns of the C++ type; likewise.
    SimulatedColumns,
    /// The C++ type.
    Type,
}

const fn row(op: &'static str, instruction: &'static str, slots: &'static [Slot]) -> Row {
    Row { op, instruction, template: &[], slots, columns: Columns::Taken, alike: Alike::Nothing, unit: Unit::OfSpaces }
}

const fn on(unit: Unit, row: Row) -> Row {
    Row { unit, ..row }
}

/// On each element by itself.
const fn each(row: Row) -> Row {
    Row { columns: Columns::AsRows, ..row }
}

/// These printed operands are row-major.
const fn major(operands: &'static [usize], row: Row) -> Row {
    Row { columns: Columns::Refused { row_major: operands, column: None }, ..row }
}

/// The last printed operand has one value for each row, the others are row-major.
const fn spread(row: Row) -> Row {
    let columns = match row.slots.len() {
        1 => Columns::Refused { row_major: &[0], column: Some(1) },
        _ => Columns::Refused { row_major: &[0, 1], column: Some(2) },
    };
    Row { columns, ..row }
}

const fn alike(op: &'static str, instruction: &'static str, alike: Alike, slots: &'static [Slot]) -> Row {
    Row { alike, ..row(op, instruction, slots) }
}

const fn typed(
    op: &'static str,
    instruction: &'static str,
    template: &'static [Template],
    slots: &'static [Slot],
) -> Row {
    Row { template, ..row(op, instruction, slots) }
}

const fn scalar(op: &'static str, instruction: &'static str) -> Row {
    Row { columns: Columns::AsRows, ..row(op, instruction, BINARY) }
}

const UNARY: &[Slot] = &[Arg(0)];
const BINARY: &[Slot] = &[Arg(0), Arg(1)];
const TERNARY: &[Slot] = &[Arg(0), Arg(1), Arg(2)];
const REDUCTION: &[Slot] = &[Arg(0), Tmp(1)];

const ROWS: &[Row] = &[
    each(alike("abs", "TABS", Alike::Simulated, UNARY)),
    each(alike("add", "TADD", Alike::Simulated, BINARY)),
    each(alike("addc", "TADDC", Alike::Type, TERNARY)),
    scalar("adds", "TADDS"),
    each(alike("addsc", "TADDSC", Alike::Type, TERNARY)),
    each(row("and", "TAND", BINARY)),
    scalar("ands", "TANDS"),
    row("assemble", "TINSERT", &[Arg(1), Item(2, 0), Item(2, 1)]),
    row("cast", "TCVT", &[Arg(0), Round]),
    on(
        Unit::Scalar,
        typed("ci", "TCI", &[Template::Result, Template::Element, Template::Flag(AttrName::Descending)], &[Arg(0)]),
    ),
    row("cmp", "TCMP", &[Arg(0), Arg(1), Compare]),
    row("cmps", "TCMPS", &[Arg(0), Arg(1), Compare]),
    major(&[0, 1], row("col_argmax", "TCOLARGMAX", REDUCTION)),
    major(&[0, 1], row("col_argmin", "TCOLARGMIN", REDUCTION)),
    major(&[0, 1], row("col_expand", "TCOLEXPAND", &[Arg(1)])),
    major(&[0, 1, 2], row("col_expand_add", "TCOLEXPANDADD", BINARY)),
    major(&[0, 1, 2], row("col_expand_div", "TCOLEXPANDDIV", BINARY)),
    major(&[0, 1, 2], row("col_expand_expdif", "TCOLEXPANDEXPDIF", BINARY)),
    major(&[0, 1, 2], row("col_expand_max", "TCOLEXPANDMAX", BINARY)),
    major(&[0, 1, 2], row("col_expand_min", "TCOLEXPANDMIN", BINARY)),
    major(&[0, 1, 2], row("col_expand_mul", "TCOLEXPANDMUL", BINARY)),
    major(&[0, 1, 2], row("col_expand_sub", "TCOLEXPANDSUB", BINARY)),
    major(&[0, 1], alike("col_max", "TCOLMAX", Alike::SimulatedColumns, UNARY)),
    major(&[0, 1], row("col_min", "TCOLMIN", UNARY)),
    major(&[0, 1], row("col_prod", "TCOLPROD", UNARY)),
    major(&[0, 1], alike("col_sum", "TCOLSUM", Alike::SimulatedColumns, UNARY)),
    on(Unit::ScalarBehindBlocks, row("concat", "TCONCAT", BINARY)),
    each(row("div", "TDIV", BINARY)),
    scalar("divs", "TDIVS"),
    each(row("exp", "TEXP", UNARY)),
    row("expands", "TEXPANDS", &[Arg(1)]),
    row("extract", "TEXTRACT", TERNARY),
    row("fillpad", "TFILLPAD", UNARY),
    row("fillpad_expand", "TFILLPAD_EXPAND", UNARY),
    row("fillpad_inplace", "TFILLPAD_INPLACE", UNARY),
    each(row("fmod", "TFMOD", BINARY)),
    scalar("fmods", "TFMODS"),
    row("full", "TEXPANDS", &[Arg(1)]),
    row("gather", "TGATHER", &[Arg(0), Arg(1), Tmp(2)]),
    typed("gather_mask", "TGATHER", &[Template::Result, Template::Type(0), Template::Pattern], UNARY),
    row("gatherb", "TGATHERB", BINARY),
    row("gemv", "TGEMV", BINARY),
    row("gemv_acc", "TGEMV_ACC", TERNARY),
    row("gemv_bias", "TGEMV_BIAS", TERNARY),
    each(row("log", "TLOG", UNARY)),
    scalar("lrelu", "TLRELU"),
    row("matmul", "TMATMUL", BINARY),
    row("matmul_acc", "TMATMUL_ACC", TERNARY),
    row("matmul_bias", "TMATMUL_BIAS", TERNARY),
    row("matmul_mx", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3)]),
    row("matmul_mx_acc", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3), Arg(4)]),
    row("matmul_mx_bias", "TMATMUL_MX", &[Arg(0), Arg(1), Arg(2), Arg(3), Arg(4)]),
    each(row("maximum", "TMAX", BINARY)),
    scalar("maximums", "TMAXS"),
    each(row("minimum", "TMIN", BINARY)),
    scalar("minimums", "TMINS"),
    row("move", "TMOV", UNARY),
    row("mrgsort_format1", "TMRGSORT", BINARY),
    each(row("mul", "TMUL", BINARY)),
    scalar("muls", "TMULS"),
    each(row("neg", "TNEG", UNARY)),
    each(row("not", "TNOT", UNARY)),
    each(row("or", "TOR", BINARY)),
    scalar("ors", "TORS"),
    major(&[0, 1, 2], row("part_add", "TPARTADD", BINARY)),
    major(&[0, 1, 2], row("part_max", "TPARTMAX", BINARY)),
    major(&[0, 1, 2], row("part_min", "TPARTMIN", BINARY)),
    major(&[0, 1, 2], row("part_mul", "TPARTMUL", BINARY)),
    each(row("prelu", "TPRELU", &[Arg(0), Arg(1), Tmp(2)])),
    each(row("recip", "TRECIP", UNARY)),
    each(row("relu", "TRELU", UNARY)),
    each(row("rem", "TREM", &[Arg(0), Arg(1), Tmp(2)])),
    row("rems", "TREMS", &[Arg(0), Arg(1), Tmp(2)]),
    on(Unit::Nothing, row("reshape", "TRESHAPE", UNARY)),
    major(&[1], row("row_argmax", "TROWARGMAX", REDUCTION)),
    major(&[1], row("row_argmin", "TROWARGMIN", REDUCTION)),
    spread(row("row_expand", "TROWEXPAND", &[Arg(1)])),
    spread(row("row_expand_add", "TROWEXPANDADD", BINARY)),
    spread(row("row_expand_div", "TROWEXPANDDIV", BINARY)),
    spread(row("row_expand_expdif", "TROWEXPANDEXPDIF", BINARY)),
    spread(row("row_expand_max", "TROWEXPANDMAX", BINARY)),
    spread(row("row_expand_min", "TROWEXPANDMIN", BINARY)),
    spread(row("row_expand_mul", "TROWEXPANDMUL", BINARY)),
    spread(row("row_expand_sub", "TROWEXPANDSUB", BINARY)),
    major(&[1], row("row_max", "TROWMAX", REDUCTION)),
    major(&[1], row("row_min", "TROWMIN", REDUCTION)),
    major(&[1], row("row_prod", "TROWPROD", REDUCTION)),
    major(&[1], row("row_sum", "TROWSUM", REDUCTION)),
    each(row("rsqrt", "TRSQRT", UNARY)),
    row("scatter", "TSCATTER", &[Arg(1), Arg(2)]),
    typed("scatter_mask", "TSCATTER", &[Template::Pattern], &[Arg(1)]),
    major(&[0, 2], alike("sel", "TSEL", Alike::Type, &[Arg(0), Arg(1), Arg(2), Tmp(3)])),
    major(&[0, 2], row("sels", "TSELS", &[Arg(0), Arg(1), Tmp(2), Arg(3)])),
    each(row("shl", "TSHL", BINARY)),
    scalar("shls", "TSHLS"),
    each(row("shr", "TSHR", BINARY)),
    scalar("shrs", "TSHRS"),
    row("slice", "TEXTRACT", &[Arg(0), Item(2, 0), Item(2, 1)]),
    major(&[0, 1, 2], row("sort32", "TSORT32", BINARY)),
    each(row("sqrt", "TSQRT", UNARY)),
    each(row("sub", "TSUB", BINARY)),
    each(alike("subc", "TSUBC", Alike::Type, TERNARY)),
    scalar("subs", "TSUBS"),
    each(alike("subsc", "TSUBSC", Alike::Type, TERNARY)),
    row("tget_scale_addr", "TGET_SCALE_ADDR", &[Arg(1)]),
    major(&[1], row("transpose", "TTRANS", &[Arg(0), Tmp(3)])),
    typed("tri", "TTRI", &[Template::Result, Template::Flag(AttrName::Upper)], &[Arg(0)]),
    each(row("xor", "TXOR", &[Arg(0), Arg(1), Tmp(2)])),
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
