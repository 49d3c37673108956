//! What the compiler accepts and the instruction library refuses later, and transfers that are slower than they could be.
//! Looks at a kernel after [`crate::passes`], whose tiles all have a space and a layout. The tiles of a kernel on tensors are
//! the compiler's own: their shapes are no advice to the author.

use rustc_hash::FxHashSet;

use crate::diagnostics::Code;
use crate::ir::{BLayout, Call, Dtype, Kernel, Layout, Operand, Origin, Role, SLayout, Stmt, TileType, VarId, visit};
use crate::memory::Finding;
use crate::ops::OpId;
use crate::target::{Space, Target};

/// Rows and columns of tiles without boxes start at multiples of so many bytes
/// (`docs/reference/memory.md`, "Shapes that the instruction library refuses").
const ROW_BYTES: u64 = 32;
/// The unit of a matrix product, in elements along each of M, N and K
/// (`docs/reference/memory.md`, "Shapes that the instruction library refuses").
const PRODUCT_UNIT: u64 = 16;

/// Tiles with more rows or columns fit into no memory, and need no advice on their shape.
const LARGEST_EXTENT: u64 = 1 << 32;

/// Products of whole tiles, and where their left operand is; the right one follows it.
const PRODUCTS: [(OpId, usize); 3] = [(OpId::MATMUL, 0), (OpId::MATMUL_ACC, 1), (OpId::MATMUL_BIAS, 0)];

pub(crate) fn findings(kernel: &Kernel, target: Target) -> Vec<Finding> {
    let touched = touched(kernel);
    let mut found = UniqueFindings::default();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        if let Some(message) = narrow_transfer(kernel, target, stmt, call) {
            found.add(Code::NarrowTransfer, call.origin, message);
        }
        let Stmt::Let { var, .. } = stmt else { return };
        let authored = kernel.var(*var);
        if authored.inserted.is_some() || authored.role != Role::Def || kernel.on_tensors {
            return;
        }
        let shape = || kernel.tile(*var).filter(|_| touched.contains(var));
        let message = uneven_product(kernel, call).or_else(|| refused_shape(&authored.name, shape()?));
        if let Some(message) = message {
            found.add(Code::TileLayout, authored.origin, message);
        }
    });
    found.findings
}

/// One finding of a code at a place, although unrolling and pipelining copy statements.
#[derive(Default)]
struct UniqueFindings {
    findings: Vec<Finding>,
    places: FxHashSet<(Code, Origin)>,
}

impl UniqueFindings {
    fn add(&mut self, code: Code, at: Origin, message: String) {
        if self.places.insert((code, at)) {
            self.findings.push(Finding::new(code, at, message));
        }
    }
}

/// The tiles that instructions read or write. Views make no instruction; a slice has the rows of what it is cut from.
fn touched(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut touched = FxHashSet::default();
    let mut slices = FxHashSet::default();
    let mut views = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        let result = match stmt {
            Stmt::Let { var, .. } => Some(*var),
            _ => None,
        };
        if call.op == OpId::SLICE {
            slices.extend(result);
        }
        if let Some(source) = call.op.op().view_of {
            let source = call.args.get(usize::from(source)).and_then(Operand::var);
            // The compiler's own views stand for the author's tile, such as `[1, N]` for a column.
            let inserted = |var: &VarId| kernel.var(*var).inserted.is_some();
            views.extend(source.zip(result).filter(|(source, result)| inserted(source) || inserted(result)));
            return;
        }
        if call.op == OpId::CREATE {
            return;
        }
        touched.extend(result);
        touched.extend(call.args.iter().filter_map(Operand::var));
    });
    for (source, result) in views {
        if touched.contains(&source) || touched.contains(&result) {
            touched.extend([source, result]);
        }
    }
    touched.retain(|var| !slices.contains(var));
    touched
}

/// Why the instruction library has no tile of this shape, and the nearest that it has.
fn refused_shape(name: &str, tile: &TileType) -> Option<String> {
    let &[rows, cols] = tile.shape.as_slice() else { return None };
    let Refused { problem, fine } = refused(rows, cols, tile.dtype, tile.space?, tile.layout())?;
    Some(format!(
        "`{name}` has {problem}. The compiler accepts it, but the build of the generated code fails; make it [{}, {}], with valid_shape=[{rows}, {cols}] if only that part is data",
        fine.0, fine.1
    ))
}

/// A shape that the instruction library has no tile of.
pub(crate) struct Refused {
    pub(crate) problem: String,
    /// Rows and columns of the next larger shape that it has.
    pub(crate) fine: (u64, u64),
}

/// Whether the instruction library's static assertions refuse a shape
/// (`docs/reference/memory.md`, "Shapes that the instruction library refuses").
pub(crate) fn refused(rows: u64, cols: u64, dtype: Dtype, space: Space, layout: Layout) -> Option<Refused> {
    let bytes = dtype.storage_bits() / 8;
    if bytes == 0 || !(1..=LARGEST_EXTENT).contains(&rows) || !(1..=LARGEST_EXTENT).contains(&cols) {
        return None;
    }
    let (box_rows, unit_cols) = unit(dtype, layout)?;
    let any_rows = layout.slayout != SLayout::NoneBox && (space == Space::Vec || rows == 1 || layout.fractal == 32);
    let unit_rows = if any_rows { 1 } else { box_rows };
    if rows.is_multiple_of(unit_rows) && cols.is_multiple_of(unit_cols) {
        return None;
    }
    let problem = match (layout.slayout, layout.blayout) {
        (SLayout::NoneBox, BLayout::RowMajor) => {
            format!(
                "rows of {} bytes ({cols} {dtype}); the instruction library takes multiples of 32 bytes",
                cols.saturating_mul(bytes)
            )
        }
        (SLayout::NoneBox, BLayout::ColMajor) => format!(
            "columns of {} bytes ({rows} {dtype}); the instruction library takes multiples of 32 bytes",
            rows.saturating_mul(bytes)
        ),
        _ => format!(
            "{rows} x {cols} elements, but {dtype} is stored in {space} in boxes of {box_rows} x {unit_cols}; the instruction library takes whole boxes"
        ),
    };
    Some(Refused { problem, fine: (rows.next_multiple_of(unit_rows), cols.next_multiple_of(unit_cols)) })
}

/// Rows and columns come in multiples of these; `None` where the rule is not known.
pub(crate) fn unit(dtype: Dtype, layout: Layout) -> Option<(u64, u64)> {
    let row = ROW_BYTES.checked_div(dtype.storage_bits() / 8)?.max(1);
    match (layout.slayout, layout.fractal, layout.blayout) {
        (SLayout::NoneBox, _, BLayout::RowMajor) => Some((1, row)),
        (SLayout::NoneBox, _, BLayout::ColMajor) => Some((row, 1)),
        (_, 1024, _) => Some((16, 16)),
        (SLayout::RowMajor, 512, _) => Some((16, row)),
        (SLayout::ColMajor, 512, _) => Some((row, 16)),
        (SLayout::RowMajor, 32, _) => Some((16, 2)),
        (SLayout::ColMajor, 32, _) => Some((2, 16)),
        _ => None,
    }
}

/// A product whose extents are no multiples of the unit. One row is a product with a vector, which has rules of its own.
fn uneven_product(kernel: &Kernel, call: &Call) -> Option<String> {
    let (_, lhs) = PRODUCTS.iter().find(|(op, _)| *op == call.op)?;
    let shape = |arg: usize| kernel.tile(call.args.get(arg)?.var()?).map(|tile| tile.shape.as_slice());
    let (&[m, k], &[inner, n]) = (shape(*lhs)?, shape(lhs + 1)?) else { return None };
    if m == 1 || k != inner || [m, k, n].iter().any(|extent| !(1..=LARGEST_EXTENT).contains(extent)) {
        return None;
    }
    let extents = [("M", m), ("N", n), ("K", k)];
    let uneven: Vec<String> = extents
        .iter()
        .filter(|(_, extent)| !extent.is_multiple_of(PRODUCT_UNIT))
        .map(|(name, extent)| format!("{name} = {extent} (use {})", extent.next_multiple_of(PRODUCT_UNIT)))
        .collect();
    (!uneven.is_empty()).then(|| {
        format!(
            "a product of [{m}, {k}] and [{k}, {n}]: the matrix unit takes multiples of 16, but this has {}. The compiler accepts it, but the build of the generated code fails; load larger tiles, with valid_shape for the part that is data",
            uneven.join(", ")
        )
    })
}

/// Bytes along the innermost axis from which on a transfer has full speed (`docs/reference/memory.md`, "Hints": PH001).
fn full_width(target: Target) -> u64 {
    match target {
        Target::Ascend910b => 512,
        Target::Ascend950 => 128,
    }
}

fn narrow_transfer(kernel: &Kernel, target: Target, stmt: &Stmt, call: &Call) -> Option<String> {
    // The compiler measures a load by its window, even where less of it is valid.
    let (verb, tile, cols) = match (call.op, stmt) {
        (OpId::LOAD, Stmt::Let { var, .. }) => {
            let tile = kernel.tile(*var)?;
            ("load", tile, *tile.shape.last()?)
        }
        (OpId::STORE, _) => {
            let tile = kernel.tile(call.args.first()?.var()?)?;
            ("store", tile, u64::try_from(tile.valid_shape().last()?.as_int()?).ok()?)
        }
        _ => return None,
    };
    let bits = tile.dtype.storage_bits();
    let (width, full) = (cols.checked_mul(bits)? / 8, full_width(target));
    (width < full).then(|| {
        format!(
            "this {verb} moves rows of {width} bytes ({cols} {}); on {target}, transfers reach full speed at {full} bytes or more: use at least {} columns",
            tile.dtype,
            full * 8 / bits
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::{Expect, expect};
    use tilefit_syntax::Document;

    use super::*;
    use crate::AnalysisHost;
    use crate::diagnostics::Severity;
    use crate::project::Config;

    /// What is said about a kernel body, by its line.
    fn check(target: Target, body: &str, expect: Expect) {
        let body: String = body.lines().map(|line| format!("        {}\n", line.trim())).collect();
        let text = format!(
            "@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[512, 512], pl.FP32], \
             b: pl.Tensor[[512, 512], pl.FP16], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):\n{body}        return out\n"
        );
        let mut host = AnalysisHost::new();
        let severity = [(Code::NarrowTransfer, Some(Severity::Hint))].into();
        host.set_config(Config { target, severity, ..Config::default() });
        let (file, document) = (host.file_id("k.py"), Document::new(&text));
        host.set_document(file, document.clone());
        let mut said = String::new();
        for diagnostic in host.snapshot().diagnostics(file).expect("nothing is edited") {
            let line = document.rope().byte_to_line(diagnostic.range.start) - 3;
            writeln!(said, "{line} {}: {}", diagnostic.code, diagnostic.message).expect("memory");
        }
        expect.assert_eq(&said);
    }

    #[test]
    fn rows_and_columns_take_multiples_of_32_bytes() {
        check(
            Target::Ascend910b,
            "t = pl.tile.create([16, 5], dtype=pl.FP32)
            x = pl.exp(t)
            c = pl.tile.create([12, 1], dtype=pl.FP32)
            d = pl.exp(c)
            e = pl.tile.create([8, 1], dtype=pl.FP32)
            f = pl.exp(e)
            g = pl.exp(pl.tile.create([16, 128], dtype=pl.FP32))
            out = pl.store(g, [0, 0], out)",
            expect![[r#"
                1 tile-layout: `t` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
                2 tile-layout: `x` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
                3 tile-layout: `c` has columns of 48 bytes (12 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 1], with valid_shape=[12, 1] if only that part is data
                4 tile-layout: `d` has columns of 48 bytes (12 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 1], with valid_shape=[12, 1] if only that part is data
            "#]],
        );
    }

    #[test]
    fn tiles_that_no_instruction_touches_are_not_looked_at() {
        check(
            Target::Ascend910b,
            "t = pl.tile.create([16, 5], dtype=pl.FP32)
            x = pl.load(a, [0, 0], [16, 128])
            s = pl.slice(x, [16, 5], [0, 0])
            y = pl.exp(s)
            out = pl.store(x, [0, 0], out)",
            expect![[r#"
                4 tile-layout: `y` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
            "#]],
        );
    }

    #[test]
    fn products_take_multiples_of_16() {
        check(
            Target::Ascend910b,
            "x = pl.load(b, [0, 0], [24, 256], target_memory=pl.Mem.Mat)
            y = pl.load(b, [0, 0], [256, 256], target_memory=pl.Mem.Mat)
            z = pl.matmul(x, y)
            out = pl.store(z, [0, 0], out)",
            expect![[r#"
                1 tile-layout: `x` has 24 x 256 elements, but FP16 is stored in Mat in boxes of 16 x 16; the instruction library takes whole boxes. The compiler accepts it, but the build of the generated code fails; make it [32, 256], with valid_shape=[24, 256] if only that part is data
            "#]],
        );
    }

    #[test]
    fn narrow_transfers_depend_on_the_target_and_the_window() {
        let body = "x = pl.load(a, [0, 0], [16, 128], valid_shape=[16, 64])
            y = pl.load(a, [0, 0], [16, 24])
            n = pl.load(a, [0, 0], [16, 128])
            out = pl.store(n, [0, 0], out)
            out = pl.store(y, [0, 0], out)";
        check(
            Target::Ascend910b,
            body,
            expect![[r#"
                2 narrow-transfer: this load moves rows of 96 bytes (24 FP32); on ascend910b, transfers reach full speed at 512 bytes or more: use at least 128 columns
                5 narrow-transfer: this store moves rows of 96 bytes (24 FP32); on ascend910b, transfers reach full speed at 512 bytes or more: use at least 128 columns
            "#]],
        );
        check(
            Target::Ascend950,
            body,
            expect![[r#"
                2 narrow-transfer: this load moves rows of 96 bytes (24 FP32); on ascend950, transfers reach full speed at 128 bytes or more: use at least 32 columns
                5 narrow-transfer: this store moves rows of 96 bytes (24 FP32); on ascend950, transfers reach full speed at 128 bytes or more: use at least 32 columns
            "#]],
        );
    }
}
