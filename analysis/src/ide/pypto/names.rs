//! How the tiles of a kernel are called for a reader: by the name that the source gives, and which copy of a loop's body they are of.

use rustc_hash::FxHashMap;
use tilefit_pypto::ir::{BodyCopy, Kernel, Part, Role};
use tilefit_pypto::memory::{Order, Plan, PlannedTile};
use tilefit_python::finding::{Node, Origin};
use tilefit_syntax::ast::{Ast, ExprId, Stmt, StmtId};

use crate::db::{self, Outcome};
use crate::ide::memory_map::CopyMark;
use crate::ide::memory_map::steps::mark;
use crate::ide::{Context, PlacedUnit};

/// The names of all tiles of a plan, in its order.
pub(super) struct Names {
    copies: Vec<Vec<BodyCopy>>,
    /// By the statement at which a tile of a copy is made or read.
    of_statement: FxHashMap<Order, usize>,
    statements: Statements,
}

/// The author's statements that expressions are in.
struct Statements(FxHashMap<ExprId, StmtId>);

impl Names {
    pub(super) fn of(context: &Context<'_>, placed: &PlacedUnit<'_>, outcome: &Outcome, plan: &Plan) -> Names {
        let ast = db::syntax(context.db, placed.unit);
        let copies = copies(placed, outcome.kernel(), plan);
        let mut of_statement = FxHashMap::default();
        let all = || plan.tiles.iter().enumerate().filter(|&(index, _)| !copies[index].is_empty());
        for (index, tile) in all().filter(|(_, tile)| tile.role == Role::Def) {
            of_statement.entry(tile.first).or_insert(index);
        }
        // Where nothing is made, such as at a store, what is read there tells.
        for (index, tile) in all() {
            of_statement.entry(tile.last).or_insert(index);
        }
        let statements = Statements::of(ast, plan.origin);
        Names { copies, of_statement, statements }
    }

    pub(super) fn copy(&self, tile: usize) -> Option<CopyMark> {
        mark(&self.copies[tile])
    }

    /// The copies that a statement belongs to, outer loops first.
    pub(super) fn copies_at(&self, order: Order) -> &[BodyCopy] {
        self.of_statement.get(&order).map_or(&[], |&tile| &self.copies[tile])
    }

    /// The author's statement that something stems from: of a part of one, the whole.
    pub(super) fn statement(&self, origin: Origin) -> Origin {
        self.statements.around(origin)
    }
}

impl Statements {
    /// Those of a kernel, of which a block may have many.
    fn of(ast: &Ast, kernel: Origin) -> Statements {
        let simple = |stmt: &Stmt| {
            matches!(stmt, Stmt::Assign { .. } | Stmt::AugAssign { .. } | Stmt::Expr(_) | Stmt::Return(_))
        };
        let mut of_expr = FxHashMap::default();
        let mut open: Vec<StmtId> = match kernel {
            Origin::Stmt(statement) => vec![statement],
            Origin::Expr(_) | Origin::Inlined { .. } => ast.body.clone(),
        };
        while let Some(id) = open.pop() {
            let statement = ast.stmt(id);
            if simple(statement) {
                of_expr.extend(ast.exprs_in(&[id]).into_iter().map(|expr| (expr, id)));
            }
            match statement {
                Stmt::Function(function) => open.extend(&function.body),
                _ => open.extend(statement.bodies().flatten()),
            }
        }
        Statements(of_expr)
    }

    fn around(&self, origin: Origin) -> Origin {
        match origin.shown() {
            Node::Expr(expr) => self.0.get(&expr).map_or(origin, |&statement| Origin::Stmt(statement)),
            Node::Stmt(_) => origin,
        }
    }
}

/// The copies that each tile belongs to, outer loops first.
fn copies(placed: &PlacedUnit<'_>, kernel: Option<&Kernel>, plan: &Plan) -> Vec<Vec<BodyCopy>> {
    let Some(kernel) = kernel.filter(|kernel| !kernel.copies.is_empty()) else {
        return vec![Vec::new(); plan.tiles.len()];
    };
    let known = |tile: &PlannedTile| {
        let mut copies: Vec<BodyCopy> = kernel.copies.of(tile.var).collect();
        copies.sort_by_key(|copy| placed.range(copy.of).start);
        copies
    };
    let mut all: Vec<Vec<BodyCopy>> = plan.tiles.iter().map(known).collect();
    // These copies are made before the compiler adds tiles: those that it adds before the value that the author names belong to the
    // same one.
    let is_early = |copies: &[BodyCopy]| copies.iter().all(|copy| matches!(copy.part, Part::Unrolled | Part::Unit));
    let mut next: FxHashMap<Origin, usize> = FxHashMap::default();
    for index in (0..plan.tiles.len()).rev() {
        let tile = &plan.tiles[index];
        let Some(&statement) = plan.statements.get(tile.first.0 as usize) else { continue };
        if !all[index].is_empty() {
            next.insert(statement, index);
        } else if let Some(&of) = next.get(&statement).filter(|&&of| tile.inserted.is_some() && is_early(&all[of])) {
            all[index] = all[of].clone();
        }
    }
    all
}
