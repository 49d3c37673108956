//! Reads dumps and sketches: allocations, tiles and where each is defined and used. Operations need not be understood.

use std::collections::HashMap;

use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Stmt, StmtId};

use super::memref::{self, MemRef};
use super::{Allocation, PrintedKernel, Tile};
use crate::memory::Order;
use crate::target::Space;

/// Whether a block prints memory: an allocation, or a reference to memory with more than a name.
pub fn is_printed(ast: &Ast) -> bool {
    ast.exprs().any(|(_, expr)| match expr {
        Expr::Call { func, .. } if is_alloc(ast, *func) => true,
        Expr::Call { func, args } => match ast.dotted(*func).as_deref() {
            Some([.., "MemRef"]) => {
                let by_number = args.iter().any(|arg| matches!(arg.keyword.as_deref(), Some("id" | "addr" | "space")));
                by_number || args.iter().filter(|arg| arg.keyword.is_none()).count() >= 3
            }
            _ => false,
        },
        _ => false,
    })
}

fn is_alloc(ast: &Ast, func: ExprId) -> bool {
    let path = ast.dotted(func);
    matches!(path.as_deref(), Some(["alloc"] | ["block" | "tile", "alloc"] | ["pl", "tile" | "block", "alloc"]))
}

/// The arguments, if a value is a call of `alloc`.
fn allocation_arguments(ast: &Ast, value: ExprId) -> Option<&[Arg]> {
    match ast.expr(value) {
        Expr::Call { func, args } if is_alloc(ast, *func) => Some(args),
        _ => None,
    }
}

/// The kernels of a block that [`is_printed`]: its functions, or all of its statements as one sketch.
pub fn kernels(ast: &Ast) -> Vec<PrintedKernel> {
    let mut kernels = Vec::new();
    for &stmt in &ast.body {
        if let Stmt::Function(function) = ast.stmt(stmt) {
            let name = ast.name(function.name).unwrap_or_default().to_owned();
            kernels.push(read(ast, name, Origin::Stmt(stmt), Origin::Expr(function.name), &function.body));
        }
    }
    if let ([], [first, ..]) = (kernels.as_slice(), ast.body.as_slice()) {
        kernels.push(read(ast, "sketch".to_owned(), Origin::Stmt(*first), Origin::Stmt(*first), &ast.body));
    }
    kernels.retain(|kernel| !kernel.tiles.is_empty() || !kernel.allocations.is_empty());
    kernels
}

fn read(ast: &Ast, name: String, origin: Origin, name_origin: Origin, body: &[StmtId]) -> PrintedKernel {
    let kernel = PrintedKernel {
        name,
        origin,
        name_origin,
        allocations: Vec::new(),
        tiles: Vec::new(),
        statements: Vec::new(),
        notes: Vec::new(),
    };
    let mut reader = Reader { ast, kernel, names: HashMap::new(), branches: Vec::new(), ifs: 0 };
    reader.body(body);
    reader.kernel
}

struct Reader<'a> {
    ast: &'a Ast,
    kernel: PrintedKernel,
    /// The tile that a name refers to now.
    names: HashMap<String, usize>,
    branches: Vec<(u32, bool)>,
    ifs: u32,
}

impl Reader<'_> {
    fn next_order(&mut self, stmt: StmtId) -> Order {
        self.kernel.statements.push(Origin::Stmt(stmt));
        Order(self.kernel.statements.len() as u32 - 1)
    }

    fn now(&self) -> Order {
        Order(self.kernel.statements.len().saturating_sub(1) as u32)
    }

    fn body(&mut self, body: &[StmtId]) {
        for &stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: StmtId) {
        let ast = self.ast;
        match ast.stmt(stmt) {
            Stmt::Assign { targets, annotation, value } => {
                let order = self.next_order(stmt);
                if let Some(value) = value {
                    self.uses(*value, order);
                }
                if let [target] = targets.as_slice() {
                    self.definition(*target, *annotation, *value, order);
                }
            }
            Stmt::Expr(expr) => {
                let order = self.next_order(stmt);
                self.uses(*expr, order);
                self.allocation_statement(*expr);
            }
            Stmt::Return(Some(value)) => {
                let order = self.next_order(stmt);
                self.uses(*value, order);
            }
            Stmt::For { target, iter, body, .. } => {
                let order = self.next_order(stmt);
                self.uses(*iter, order);
                self.carry(*target, *iter);
                self.looped(body);
            }
            Stmt::While { condition, body, .. } => {
                let order = self.next_order(stmt);
                self.uses(*condition, order);
                self.looped(body);
            }
            Stmt::If { condition, body, or_else } => {
                let order = self.next_order(stmt);
                self.uses(*condition, order);
                self.ifs += 1;
                let number = self.ifs;
                for (side, body) in [(true, body), (false, or_else)] {
                    self.branches.push((number, side));
                    self.body(body);
                    self.branches.pop();
                }
            }
            Stmt::With { body, .. } => self.body(body),
            _ => {}
        }
    }

    /// A tile from before a loop that is used inside is needed until the loop ends.
    fn looped(&mut self, body: &[StmtId]) {
        let from = Order(self.kernel.statements.len() as u32);
        self.body(body);
        let end = self.now();
        for tile in self.kernel.tiles.iter_mut().filter(|tile| tile.first < from && tile.last >= from) {
            tile.last = end;
        }
    }

    fn uses(&mut self, expr: ExprId, order: Order) {
        let ast = self.ast;
        let mut waiting = vec![expr];
        while let Some(expr) = waiting.pop() {
            match ast.expr(expr) {
                Expr::Name(name) => {
                    if let Some(&tile) = self.names.get(name) {
                        let tile = &mut self.kernel.tiles[tile];
                        tile.last = tile.last.max(order);
                    }
                }
                Expr::Attribute { value, .. } => waiting.push(*value),
                Expr::Call { func, args } => {
                    waiting.push(*func);
                    waiting.extend(args.iter().map(|arg| arg.value));
                }
                Expr::Subscript { value, index } => waiting.extend([*value, *index]),
                Expr::Tuple(elements) | Expr::List(elements) => waiting.extend(elements),
                Expr::Unary { operand, .. } => waiting.push(*operand),
                Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => waiting.extend([*left, *right]),
                Expr::Compare { left, rest } => {
                    waiting.push(*left);
                    waiting.extend(rest.iter().map(|(_, operand)| *operand));
                }
                _ => {}
            }
        }
    }

    /// `for i, (acc,) in pl.range(..., init_values=(x,))`: `acc` is where `x` is.
    fn carry(&mut self, target: ExprId, iter: ExprId) {
        let ast = self.ast;
        let Expr::Call { args, .. } = ast.expr(iter) else { return };
        let Some(inits) = args.iter().find(|arg| arg.keyword.as_deref() == Some("init_values")) else { return };
        let names = match ast.elements(target) {
            Some([_, carried]) => ast.elements(*carried).unwrap_or_default(),
            elements => elements.unwrap_or_default(),
        };
        for (&name, &init) in names.iter().zip(ast.elements(inits.value).unwrap_or_default()) {
            if let (Some(name), Some(init)) = (ast.name(name), ast.name(init))
                && let Some(&tile) = self.names.get(init)
            {
                self.names.insert(name.to_owned(), tile);
            }
        }
    }

    fn definition(&mut self, target: ExprId, annotation: Option<ExprId>, value: Option<ExprId>, order: Order) {
        let Some(name) = self.ast.name(target).map(str::to_owned) else { return };
        if let Some(args) = value.and_then(|value| allocation_arguments(self.ast, value)) {
            let allocation = self.allocation(name, args);
            return self.kernel.allocations.push(allocation);
        }
        self.names.remove(&name);
        if let Some(tile) = annotation.and_then(|annotation| self.tile(&name, target, annotation, order)) {
            self.names.insert(name, self.kernel.tiles.len());
            self.kernel.tiles.push(tile);
        }
    }

    fn allocation(&self, name: String, args: &[Arg]) -> Allocation {
        let integer = |arg: Option<&Arg>| arg.and_then(|arg| memref::integer(self.ast, arg.value));
        let size = |arg: Option<&Arg>| integer(arg).and_then(|value| u64::try_from(value).ok());
        let positional: Vec<&Arg> = args.iter().filter(|arg| arg.keyword.is_none()).collect();
        let space = positional.first().and_then(|arg| memref::space(self.ast, arg.value));
        let pinned = args.iter().any(|arg| arg.keyword.as_deref() == Some("pinned"));
        let declared =
            Allocation { name, space, size: None, address: None, id: None, pinned, address_at: None, declared: true };
        let get = |index: usize| positional.get(index).copied();
        match positional.len() {
            // (space, bytes)
            0..=2 => Allocation { size: size(get(1)), ..declared },
            // (space, address, bytes, id)
            _ => Allocation {
                size: size(get(2)),
                address: size(get(1)),
                id: size(get(3)),
                address_at: get(1).map(|address| address.value),
                ..declared
            },
        }
    }

    /// `alloc(memref=MemRef(id=0, space=UB, size=16384, addr=0))`
    fn allocation_statement(&mut self, expr: ExprId) {
        let Expr::Call { func, args } = self.ast.expr(expr) else { return };
        if self.ast.dotted(*func).as_deref() != Some(&["alloc"]) {
            return;
        }
        let memref = args.iter().find_map(|arg| memref::read(self.ast, arg.value));
        if let Some(index) = memref.and_then(|memref| self.allocation_of(memref)) {
            self.kernel.allocations[index].declared = true;
        }
    }

    /// Index of the allocation that a reference names; it is made where nothing declares it.
    fn allocation_of(&mut self, memref: MemRef) -> Option<usize> {
        let name = memref.base.clone()?;
        let index = self.kernel.allocations.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.kernel.allocations.push(Allocation {
                name,
                space: None,
                size: None,
                address: None,
                id: memref.id,
                pinned: false,
                address_at: None,
                declared: false,
            });
            self.kernel.allocations.len() - 1
        });
        let allocation = &mut self.kernel.allocations[index];
        allocation.space = allocation.space.or(memref.space);
        allocation.size = allocation.size.or(memref.size);
        allocation.address = allocation.address.or(memref.address.and_then(|address| u64::try_from(address).ok()));
        Some(index)
    }

    /// The tile that a type annotation describes.
    fn tile(&mut self, name: &str, target: ExprId, annotation: ExprId, order: Order) -> Option<Tile> {
        let ast = self.ast;
        let Expr::Subscript { value, index } = ast.expr(annotation) else { return None };
        if ast.dotted(*value)?.last() != Some(&"Tile") {
            return None;
        }
        let &[shape, dtype, ref extras @ ..] = ast.elements(*index)? else { return None };
        let extents = ast.elements(shape)?.iter().map(|&extent| {
            let extent = memref::integer(ast, extent)?;
            u64::try_from(extent).ok().filter(|&extent| extent > 0)
        });
        let (Some(shape), Some(dtype)) = (extents.collect::<Option<Vec<_>>>(), self.dtype(dtype)) else {
            let reason = Reason::new(format!("the type of `{name}` is not understood"));
            self.kernel.notes.push(Note { at: Origin::Expr(annotation), reason });
            return None;
        };
        let mut space: Option<Space> = None;
        let mut memref = None;
        let mut memref_at = None;
        for &extra in extras {
            match memref::space(ast, extra) {
                Some(known) => space = Some(known),
                None if memref.is_none() => {
                    memref = memref::read(ast, extra);
                    memref_at = memref.is_some().then_some(extra);
                }
                None => {}
            }
        }
        let (offset, dynamic) = memref.as_ref().map_or((None, false), |memref| (memref.offset, memref.dynamic));
        let allocation = memref.and_then(|memref| self.allocation_of(memref));
        let known = allocation.map(|index| &mut self.kernel.allocations[index]);
        if let Some(known) = known {
            space = space.or(known.space);
            known.space = known.space.or(space);
        }
        Some(Tile {
            name: name.to_owned(),
            origin: Origin::Expr(target),
            shape,
            dtype,
            space,
            allocation,
            offset: if dynamic { None } else { Some(offset.and_then(|offset| offset.try_into().ok()).unwrap_or(0)) },
            first: order,
            last: order,
            branches: self.branches.clone(),
            memref_at,
        })
    }

    fn dtype(&self, expr: ExprId) -> Option<Dtype> {
        Dtype::from_name(self.ast.dotted(expr)?.last()?)
    }
}
