//! What the compiler accepts and the instruction library refuses later, and transfers that are slower than they could be.
//! Looks at a kernel after [`crate::passes`], whose tiles all have a space and a layout. The tiles of a kernel on tensors are
//! the compiler's own: their shapes are no advice to the author.

use rustc_hash::FxHashSet;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;

use crate::ir::{BLayout, Call, Kernel, Layout, Operand, Role, SLayout, Stmt, TileType, VarId, visit};
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

pub fn findings(kernel: &Kernel, target: Target) -> Vec<Finding> {
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
