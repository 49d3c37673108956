//! SSA form, as the compiler's ConvertToSSA makes it: carries of a loop in the order explicit, rebound, escaping, each sorted
//! by name; one result of an `if` per name that its branches bind differently. The numbering of buffers depends on this order
//! (`docs/reference/memory.md`, "Buffers").

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Note, Origin, Reason};

use super::handover::runs_once;
use super::live_in::{LiveInAfter, collect_assigned};
use super::pre_ssa::{ExplicitCarry, PreSsa, Statement};
use crate::ir::{
    Call, Carry, For, If, LoopKind, Operand, Rejection, Role, Scalar, Stmt, TileType, Type, Value, Var, VarId, While,
    fold,
};
use crate::passes::simplify::Around;
use crate::typing::scalar;

pub(super) struct Converted {
    pub(super) vars: Vec<Var>,
    pub(super) params: Vec<VarId>,
    pub(super) body: Vec<Stmt>,
    pub(super) notes: Vec<Note>,
    /// What is refused of the code around the scopes.
    pub(super) rejections: Vec<Rejection>,
    /// What is said of each scope.
    pub(super) of_scopes: Vec<(Vec<Note>, Vec<Rejection>)>,
    /// The bodies of the scopes that become kernels, in the order of the text.
    pub(super) regions: Vec<Vec<Stmt>>,
    /// Of each scope, whether a loop around it hands something from one round to the next.
    pub(super) carried_around: Vec<bool>,
    /// Of each scope, whether no variable is mentioned after it, so that the compiler does not know what is read of it.
    pub(super) last: Vec<bool>,
    /// The branches and loops around each scope, outermost first.
    pub(super) around: Vec<Vec<Around>>,
    /// The author's variable that each version is of.
    authors: Vec<VarId>,
}

impl Converted {
    /// All versions of some of the author's variables.
    pub(super) fn versions_of(&self, variables: &FxHashSet<VarId>) -> FxHashSet<VarId> {
        let versions = self.authors.iter().enumerate().filter(|(_, author)| variables.contains(author));
        versions.map(|(version, _)| VarId(version as u32)).collect()
    }
}

pub(super) fn convert(pre_ssa: &PreSsa) -> Converted {
    let mut converter = Converter {
        author: &pre_ssa.vars,
        renamed: &pre_ssa.renamed,
        params: &pre_ssa.params,
        vars: Vec::new(),
        authors: Vec::new(),
        current: Versions::new(pre_ssa.vars.len()),
        needed_later: Rc::default(),
        notes: Vec::new(),
        rejections: Vec::new(),
        of_scopes: Vec::new(),
        lost: FxHashMap::default(),
        at: None,
        regions: Vec::new(),
        carried_around: Vec::new(),
        around_scopes: Vec::new(),
        last: Vec::new(),
        nothing_follows: true,
        around: Vec::new(),
        in_carrying_loop: false,
        nested: Vec::new(),
        depth: 0,
    };
    let params = pre_ssa.params.iter().map(|&param| {
        let var = &pre_ssa.vars[param.0 as usize];
        (param, var.clone())
    });
    let params: Vec<VarId> = params.map(|(param, var)| converter.define(param, var)).collect();
    let mut body = converter.sequence(&pre_ssa.body);
    let Converter {
        vars,
        authors,
        notes,
        rejections,
        of_scopes,
        mut regions,
        carried_around,
        around_scopes: around,
        last,
        nested,
        ..
    } = converter;
    let mut known = vec![None; vars.len()];
    forward_in(&mut body, &mut known, &vars, false);
    for (region, is_nested) in regions.iter_mut().zip(nested) {
        forward_in(region, &mut known, &vars, is_nested);
    }
    Converted { vars, params, body, notes, rejections, of_scopes, regions, carried_around, last, around, authors }
}

struct Converter<'d> {
    /// The author's variables.
    author: &'d [Var],
    renamed: &'d FxHashMap<VarId, String>,
    params: &'d [VarId],
    /// Versions.
    vars: Vec<Var>,
    authors: Vec<VarId>,
    /// The version that each of the author's variables has here.
    current: Versions,
    /// The author's variables that statements after the present one read. Kept up where loops need it only.
    needed_later: Rc<FxHashSet<VarId>>,
    notes: Vec<Note>,
    rejections: Vec<Rejection>,
    of_scopes: Vec<(Vec<Note>, Vec<Rejection>)>,
    /// Variables that only one branch assigns, and where: they have no value after it.
    lost: FxHashMap<VarId, Origin>,
    /// The present statement.
    at: Option<Origin>,
    regions: Vec<Vec<Stmt>>,
    carried_around: Vec<bool>,
    around_scopes: Vec<Vec<Around>>,
    last: Vec<bool>,
    /// No variable is mentioned after the present statement, nor after those that it stands in.
    nothing_follows: bool,
    /// Branches and loops around the present statement.
    around: Vec<Around>,
    in_carrying_loop: bool,
    /// Of each scope, whether a loop or branch is around it, or it is launched on blocks.
    nested: Vec<bool>,
    /// Loops and branches around the present statement.
    depth: u32,
}

impl Converter<'_> {
    fn author(&self, var: VarId) -> &Var {
        &self.author[var.0 as usize]
    }

    /// What the compiler calls one of the author's variables.
    fn name(&self, var: VarId) -> &str {
        self.renamed.get(&var).unwrap_or(&self.author(var).name)
    }

    fn version(&mut self, author: VarId, var: Var) -> VarId {
        self.vars.push(var);
        self.authors.push(author);
        VarId(self.vars.len() as u32 - 1)
    }

    fn define(&mut self, author: VarId, version: Var) -> VarId {
        let id = self.version(author, version);
        self.current.set(author, id);
        id
    }

    fn sequence(&mut self, statements: &[Statement]) -> Vec<Stmt> {
        // The compiler looks ahead in sequences only; a body of one statement sees what follows around it.
        if let [only] = statements {
            return self.statement(only).into_iter().collect();
        }
        let mut live_in_after = LiveInAfter::of(statements);
        let mut converted = Vec::with_capacity(statements.len());
        let nothing_follows = self.nothing_follows;
        let says_nothing = |statement: &Statement| match statement {
            Statement::Return { values, .. } => values.is_empty(),
            _ => false,
        };
        let silent = statements.iter().rev().take_while(|statement| says_nothing(statement)).count();
        for (at, statement) in statements.iter().enumerate() {
            if let Some(needed) = live_in_after.next() {
                self.needed_later = needed;
            }
            self.nothing_follows = nothing_follows && at + 1 + silent >= statements.len();
            converted.extend(self.statement(statement));
        }
        self.nothing_follows = nothing_follows;
        converted
    }

    fn statement(&mut self, statement: &Statement) -> Option<Stmt> {
        self.at = statement.origin().or(self.at);
        Some(match statement {
            Statement::Let { var, value, ty, origin } => {
                let value = self.value(value);
                let ty = self.ty(ty);
                let author = self.author(*var).clone();
                // What the compiler copies before a loop is assigned in it by the author.
                let inserted = author.inserted.filter(|_| author.origin == *origin);
                let version = Var { ty, role: Role::Def, inserted, origin: *origin, ..author };
                let var = self.define(*var, version);
                Stmt::Let { var, value, origin: *origin }
            }
            Statement::Eval { call, origin } => Stmt::Eval { call: self.call(call), origin: *origin },
            Statement::For { kind, index, bounds, carries, body, origin } => {
                let [start, stop, step] = bounds.each_ref().map(|bound| self.scalar(bound));
                let is_unrolled = *kind == LoopKind::Unroll && fold::trip_count(&start, &stop, &step) != Some(0);
                let before = self.current.mark();
                let opened = self.open_loop(is_unrolled, Some(*index), carries, body, *origin);
                let opened = OpenLoop { runs_once: runs_once(*kind, &start, &stop, &step), ..opened };
                let index = opened.index.unwrap_or(VarId(0));
                self.around.push(Around::Loop { index, start: start.clone(), stop: stop.clone() });
                let outside = self.nothing_follows;
                self.nothing_follows &= opened.carries.is_empty();
                let (index, carries, body) = self.close_loop(opened, before, carries, body, *origin);
                self.nothing_follows = outside;
                self.around.pop();
                let index = index.unwrap_or(VarId(0));
                Stmt::For(For { kind: *kind, index, start, stop, step, carries, body, origin: *origin })
            }
            Statement::While { condition, carries, body, origin } => self.while_loop(condition, carries, body, *origin),
            Statement::If { condition, then, otherwise, results, origin } => {
                self.branch(condition, then, otherwise.as_deref(), results, *origin)
            }
            Statement::Yield { values, origin } => Stmt::Yield { values: self.operands(values), origin: *origin },
            Statement::Return { values, origin } => Stmt::Return { values: self.operands(values), origin: *origin },
            Statement::Break(origin) => Stmt::Break(*origin),
            Statement::Continue(origin) => Stmt::Continue(*origin),
            Statement::Region(region) => {
                let known = self.needed_later.iter().copied().filter(|var| self.current.get(*var).is_some());
                let known = Rc::new(known.collect());
                let needed_later = std::mem::replace(&mut self.needed_later, known);
                let (notes, rejections) = (self.notes.len(), self.rejections.len());
                let body = self.sequence(&region.body);
                self.of_scopes.push((self.notes.split_off(notes), self.rejections.split_off(rejections)));
                self.needed_later = needed_later;
                self.regions.push(body);
                self.carried_around.push(self.in_carrying_loop);
                self.around_scopes.push(self.around.clone());
                self.last.push(self.nothing_follows);
                self.nested.push(self.depth > 0 || region.on_blocks);
                return None;
            }
        })
    }

    fn while_loop(
        &mut self,
        condition: &Scalar,
        carries: &[ExplicitCarry],
        body: &[Statement],
        origin: Origin,
    ) -> Stmt {
        let before = self.current.mark();
        let opened = self.open_loop(false, None, carries, body, origin);
        let condition = self.scalar(condition);
        let (_, carries, body) = self.close_loop(opened, before, carries, body, origin);
        Stmt::While(While { condition, carries, body, origin })
    }

    /// Makes the carries and lets the body see them.
    fn open_loop(
        &mut self,
        is_unrolled: bool,
        index: Option<VarId>,
        explicit: &[ExplicitCarry],
        body: &[Statement],
        origin: Origin,
    ) -> OpenLoop {
        let needed_later = self.needed_later.clone();
        let mut assigned = FxHashSet::default();
        collect_assigned(body, &mut assigned);
        assigned.retain(|var| Some(*var) != index && !explicit.iter().any(|carry| carry.iter == *var));
        let by_name = |vars: Vec<VarId>| {
            let mut vars = vars;
            vars.sort_by(|a, b| self.name(*a).cmp(self.name(*b)).then(a.cmp(b)));
            vars
        };
        let is_bound = |var: &VarId| self.current.get(*var).is_some();
        let rebound = by_name(assigned.iter().copied().filter(is_bound).collect());
        let escaping = assigned.iter().copied().filter(|var| !is_bound(var) && needed_later.contains(var));
        let escaping = by_name(escaping.collect());

        let mut carries = Vec::new();
        let mut inside = Vec::new();
        for carry in explicit {
            let init = self.operand(&carry.init);
            let ty = self.operand_type(&init).unwrap_or_else(|| self.author(carry.iter).ty.clone());
            let iter = self.carried(carry.iter, ty.clone(), Role::IterArg, origin);
            let result = self.carried(carry.result, ty, Role::LoopResult, origin);
            inside.push((carry.iter, iter));
            carries.push(Carry { init, iter, result, explicit: true });
        }
        for &var in &rebound {
            let Some(init) = self.current.get(var) else { continue };
            let ty = self.vars[init.0 as usize].ty.clone();
            let iter = self.carried(var, ty.clone(), Role::IterArg, origin);
            let result = self.carried(var, ty, Role::LoopResult, origin);
            inside.push((var, iter));
            carries.push(Carry { init: Operand::Var(init), iter, result, explicit: false });
        }
        for &var in &escaping {
            let ty = self.author(var).ty.clone();
            let in_while = index.is_none();
            let init = match is_unrolled {
                // The copies stand one after the other, so that what they assign has a value after them.
                true => Operand::Unknown(Reason::new("a value before the copies of a loop")),
                false => self.escaping_init(var, &ty, body, in_while, origin),
            };
            let iter = self.carried(var, ty.clone(), Role::IterArg, origin);
            let result = self.carried(var, ty, Role::LoopResult, origin);
            inside.push((var, iter));
            carries.push(Carry { init, iter, result, explicit: false });
        }
        let index = index.map(|index| {
            let version = Var { role: Role::LoopIndex, ..self.author(index).clone() };
            self.define(index, version)
        });
        inside.into_iter().for_each(|(var, version)| self.current.set(var, version));
        OpenLoop { index, carries, rebound: rebound.into_iter().chain(escaping).collect(), runs_once: false }
    }

    /// Converts the body and gives the names their values after the loop.
    fn close_loop(
        &mut self,
        opened: OpenLoop,
        before: Mark,
        explicit: &[ExplicitCarry],
        body: &[Statement],
        origin: Origin,
    ) -> (Option<VarId>, Vec<Carry>, Vec<Stmt>) {
        let OpenLoop { index, carries, rebound, runs_once } = opened;
        let outside = self.in_carrying_loop;
        self.in_carrying_loop |= !carries.is_empty() && !runs_once;
        self.depth += 1;
        let mut body = self.sequence(body);
        self.depth -= 1;
        self.in_carrying_loop = outside;
        let after: Vec<Option<VarId>> = rebound.iter().map(|&var| self.current.get(var)).collect();
        self.current.forget(before);
        let mut yielded = match body.last() {
            Some(Stmt::Yield { .. }) => match body.pop() {
                Some(Stmt::Yield { values, .. }) => values,
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        if !yielded.is_empty() && explicit.is_empty() && !rebound.is_empty() {
            let name = &self.author(rebound[0]).name;
            let message = format!(
                "the loop yields {}, but carries {} (`{name}` is assigned again in it); use `init_values=` for what it yields, or do not yield",
                count(yielded.len()),
                count(rebound.len())
            );
            self.rejections.push(Rejection::new(origin, Code::Rejected, message));
        }
        yielded.extend(after.into_iter().flatten().map(Operand::Var));
        if !yielded.is_empty() {
            body.push(Stmt::Yield { values: yielded, origin });
        }
        let (written, implicit) = carries.split_at(explicit.len());
        for (var, carry) in rebound.iter().zip(implicit) {
            self.current.set(*var, carry.result);
        }
        for (carry, converted) in explicit.iter().zip(written) {
            self.current.set(carry.result, converted.result);
        }
        (index, carries, body)
    }

    fn carried(&mut self, author: VarId, ty: Type, role: Role, origin: Origin) -> VarId {
        let version = Var { ty, role, origin, ..self.author(author).clone() };
        self.version(author, version)
    }

    /// What a name that only a loop defines begins with, since it is read after the loop.
    fn escaping_init(&mut self, var: VarId, ty: &Type, body: &[Statement], in_while: bool, origin: Origin) -> Operand {
        let is_new = first_value(body, var).is_some_and(has_new_type);
        if let (false, Some(init)) = (is_new, self.initial_value(ty)) {
            return Operand::Var(init);
        }
        let name = &self.author(var).name;
        let reason = Reason::new(format!("`{name}` is used after the loop that defines it"));
        if is_new && !self.around.iter().any(is_decided) {
            let fix = match in_while && self.renamed.contains_key(&var) {
                true => {
                    "in a `@pl.jit` function, a `while` does not carry a name that is first assigned next to it; assign it before the scope, loop or branch that contains the `while`"
                }
                false => "it has no value if the loop does not run; assign it before the loop",
            };
            let message =
                format!("variable `{name}` is used outside its defining scope, after the loop that assigns it: {fix}");
            self.rejections.push(Rejection::new(origin, Code::Rejected, message));
        } else if !matches!(ty, Type::Scalar(_)) {
            self.notes.push(Note { at: origin, reason: reason.clone() });
        }
        Operand::Unknown(reason)
    }

    /// What a name that a loop defines has before it: an output parameter, or a variable, of the very same type.
    fn initial_value(&self, ty: &Type) -> Option<VarId> {
        if !matches!(ty, Type::Tensor(_)) {
            return None;
        }
        let outputs = self.params.iter().filter(|param| match &self.author(**param).ty {
            Type::Tensor(tensor) => tensor.is_output,
            _ => false,
        });
        let mut versions = outputs.filter_map(|param| self.current.get(*param));
        versions.find(|version| self.vars[version.0 as usize].ty == *ty)
    }

    fn branch(
        &mut self,
        condition: &Scalar,
        then: &[Statement],
        otherwise: Option<&[Statement]>,
        results: &[VarId],
        origin: Origin,
    ) -> Stmt {
        let condition = self.scalar(condition);
        let before = self.current.mark();
        self.depth += 1;
        self.around.push(Around::Branch(condition.clone(), true, origin));
        let mut then = self.sequence(then);
        self.around.pop();
        let in_then = self.current.back_to(before);
        let is_decided = matches!(condition, Scalar::Bool(_));
        if !is_decided {
            let current = &self.current;
            self.lost.extend(in_then.keys().filter(|var| current.get(**var).is_none()).map(|&var| (var, origin)));
        }
        self.around.push(Around::Branch(condition.clone(), false, origin));
        let converted = otherwise.map(|otherwise| self.sequence(otherwise));
        self.around.pop();
        self.depth -= 1;
        let in_else = self.current.back_to(before);
        let has_else = converted.is_some();
        let mut otherwise = converted.unwrap_or_default();

        // What was bound before and is bound anew in a branch, or is bound in both.
        let bound_in_both = |var: &VarId| in_then.contains_key(var) && in_else.contains_key(var);
        let names: FxHashSet<VarId> = in_then.keys().chain(in_else.keys()).copied().collect();
        let is_merged = |var: &VarId| self.current.get(*var).is_some() || bound_in_both(var);
        if !is_decided {
            self.lost.extend(names.iter().filter(|var| !is_merged(var)).map(|&var| (var, origin)));
        }
        let mut merged: Vec<VarId> = names.into_iter().filter(is_merged).collect();
        merged.sort_by(|a, b| self.name(*a).cmp(self.name(*b)).then(a.cmp(b)));

        if merged.is_empty() {
            let results = results.iter().map(|&result| self.explicit_result(result, origin)).collect();
            return Stmt::If(If { condition, then, otherwise, has_else, results, origin });
        }
        if !results.is_empty() {
            let name = &self.author(merged[0]).name;
            let reason = format!(
                "the branches yield values and also assign `{name}` again, which the compiler cannot merge; yield `{name}` too"
            );
            self.notes.push(Note { at: origin, reason: Reason::new(reason.clone()) });
            self.rejections.push(Rejection::new(origin, Code::Rejected, reason));
        }
        let mut results = Vec::new();
        let (mut from_then, mut from_else) = (Vec::new(), Vec::new());
        for var in merged {
            let old = self.current.get(var);
            let version = |branch: &FxHashMap<VarId, VarId>| branch.get(&var).copied().or(old);
            let (Some(in_then), Some(in_else)) = (version(&in_then), version(&in_else)) else { continue };
            let ty = self.vars[in_then.0 as usize].ty.clone();
            let result = self.carried(var, ty, Role::IfResult, origin);
            self.current.set(var, result);
            results.push(result);
            from_then.push(Operand::Var(in_then));
            from_else.push(Operand::Var(in_else));
        }
        let replace_yield = |body: &mut Vec<Stmt>, values| {
            if matches!(body.last(), Some(Stmt::Yield { .. })) {
                body.pop();
            }
            body.push(Stmt::Yield { values, origin });
        };
        replace_yield(&mut then, from_then);
        replace_yield(&mut otherwise, from_else);
        Stmt::If(If { condition, then, otherwise, has_else, results, origin })
    }

    fn explicit_result(&mut self, result: VarId, origin: Origin) -> VarId {
        let version = Var { role: Role::IfResult, origin, ..self.author(result).clone() };
        self.define(result, version)
    }

    fn operand_type(&self, operand: &Operand) -> Option<Type> {
        operand.var().and_then(|var| self.vars.get(var.0 as usize)).map(|var| var.ty.clone())
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Call(call) => Value::Call(self.call(call)),
            Value::Copy(var) => match self.current.get(*var) {
                Some(var) => Value::Copy(var),
                None => Value::Scalar(Scalar::Unknown(self.unbound(*var))),
            },
            Value::Scalar(scalar) => Value::Scalar(self.scalar(scalar)),
            Value::Element { tuple, index } => match self.current.get(*tuple) {
                Some(tuple) => Value::Element { tuple, index: *index },
                None => Value::Scalar(Scalar::Unknown(self.unbound(*tuple))),
            },
        }
    }

    /// Why a variable has no value here, which the compiler refuses where a branch assigns it (SSAVerify).
    fn unbound(&mut self, var: VarId) -> Reason {
        let name = &self.author(var).name;
        let reason = Reason::new(format!("`{name}` has no value on some paths to here"));
        if let (Some(&branch), Some(at)) = (self.lost.get(&var), self.at) {
            let message = format!(
                "variable `{name}` is used outside its defining scope: only one branch assigns it, so it has no value if the other one runs; assign it before the branch, or in both branches"
            );
            let related = vec![(branch, format!("`{name}` gets its value in one branch of this"))];
            let rejection = Rejection { at, code: Code::Rejected, message, related };
            if !self.rejections.contains(&rejection) {
                self.rejections.push(rejection);
            }
        }
        reason
    }

    fn call(&mut self, call: &Call) -> Call {
        Call { args: self.operands(&call.args), ..call.clone() }
    }

    fn operands(&mut self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn operand(&mut self, operand: &Operand) -> Operand {
        match operand {
            Operand::Var(var) => match self.current.get(*var) {
                Some(var) => Operand::Var(var),
                None => Operand::Unknown(self.unbound(*var)),
            },
            // The operation's result may have its element type.
            Operand::Scalar(number @ Scalar::Const(..)) => Operand::Scalar(number.clone()),
            Operand::Scalar(scalar) => Operand::Scalar(self.scalar(scalar)),
            Operand::List(list) => Operand::List(list.iter().map(|scalar| self.scalar(scalar)).collect()),
            Operand::Unknown(reason) => Operand::Unknown(reason.clone()),
        }
    }

    fn scalar(&mut self, scalar: &Scalar) -> Scalar {
        match scalar {
            Scalar::Var(var) => match self.current.get(*var) {
                Some(var) => Scalar::Var(var),
                None => Scalar::Unknown(self.unbound(*var)),
            },
            Scalar::Dim { tensor, axis } => match self.current.get(*tensor) {
                Some(tensor) => Scalar::Dim { tensor, axis: *axis },
                None => Scalar::Unknown(self.unbound(*tensor)),
            },
            Scalar::Unary(op, operand) => Scalar::Unary(*op, Box::new(self.scalar(operand))),
            Scalar::Binary(op, left, right) => {
                Scalar::Binary(*op, Box::new(self.scalar(left)), Box::new(self.scalar(right)))
            }
            Scalar::Cast(dtype, operand) => Scalar::Cast(*dtype, Box::new(self.scalar(operand))),
            Scalar::Const(_, number) => self.scalar(number),
            Scalar::Call(call) => Scalar::Call(Box::new(self.call(call))),
            Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) | Scalar::Unknown(_) => {
                scalar.clone()
            }
        }
    }

    fn ty(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Tile(tile) => Type::Tile(self.tile(tile)),
            Type::Tuple(elements) => Type::Tuple(elements.iter().map(|element| self.ty(element)).collect()),
            Type::Tensor(_) | Type::Scalar(_) | Type::Array { .. } | Type::Unknown(_) => ty.clone(),
        }
    }

    fn tile(&mut self, tile: &TileType) -> TileType {
        let mut tile = tile.clone();
        if let Some(valid) = &mut tile.view.valid_shape {
            *valid = valid.iter().map(|extent| self.scalar(extent)).collect();
        }
        if let Some(binding) = &mut tile.binding {
            binding.slot = self.scalar(&binding.slot);
        }
        tile
    }
}

/// The version that each of the author's variables has, and what it was before.
struct Versions {
    of: Vec<Option<VarId>>,
    /// What was replaced, the latest last.
    journal: Vec<(VarId, Option<VarId>)>,
}

/// A state to go back to.
#[derive(Clone, Copy)]
struct Mark(usize);

impl Versions {
    fn new(variables: usize) -> Versions {
        Versions { of: vec![None; variables], journal: Vec::new() }
    }

    fn get(&self, author: VarId) -> Option<VarId> {
        self.of.get(author.0 as usize).copied().flatten()
    }

    fn set(&mut self, author: VarId, version: VarId) {
        if let Some(slot) = self.of.get_mut(author.0 as usize) {
            self.journal.push((author, slot.replace(version)));
        }
    }

    fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Goes back, and returns the versions that this takes away.
    fn back_to(&mut self, mark: Mark) -> FxHashMap<VarId, VarId> {
        let mut taken = FxHashMap::default();
        while self.journal.len() > mark.0
            && let Some((author, before)) = self.journal.pop()
        {
            let slot = &mut self.of[author.0 as usize];
            if let Some(version) = std::mem::replace(slot, before) {
                taken.entry(author).or_insert(version);
            }
        }
        taken
    }

    fn forget(&mut self, mark: Mark) {
        for (author, before) in self.journal.drain(mark.0..).rev() {
            self.of[author.0 as usize] = before;
        }
    }
}

/// A branch whose condition is a constant.
fn is_decided(around: &Around) -> bool {
    matches!(around, Around::Branch(Scalar::Bool(_), ..))
}

/// What statements give to a variable first.
fn first_value(body: &[Statement], var: VarId) -> Option<&Value> {
    body.iter().find_map(|statement| match statement {
        Statement::Let { var: assigned, value, .. } => (*assigned == var).then_some(value),
        Statement::For { body, .. } | Statement::While { body, .. } => first_value(body, var),
        Statement::If { then, otherwise, .. } => {
            first_value(then, var).or_else(|| first_value(otherwise.as_deref()?, var))
        }
        Statement::Region(region) => first_value(&region.body, var),
        _ => None,
    })
}

/// Whether the type of a result is no other variable's: for the compiler two types are the same where they are one object.
fn has_new_type(value: &Value) -> bool {
    use crate::ops::Category::{Broadcast, CompareSelect, Elementwise, Reduction, Unary};
    match value {
        Value::Call(call) => {
            matches!(call.op.op().category, Elementwise | CompareSelect | Unary | Broadcast(_) | Reduction)
        }
        _ => false,
    }
}

fn count(values: usize) -> String {
    format!("{values} {}", if values == 1 { "value" } else { "values" })
}

struct OpenLoop {
    index: Option<VarId>,
    carries: Vec<Carry>,
    /// The author's variables of the implicit carries, in their order.
    rebound: Vec<VarId>,
    runs_once: bool,
}

/// Puts the value of scalar variables that are constant where they are used, as the compiler's Simplify does: of those that a loop
/// or branch assigns it knows the value, and leaves the name.
fn forward_in(body: &mut [Stmt], known: &mut Vec<Option<Scalar>>, vars: &[Var], is_nested: bool) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value, .. } => {
                match value {
                    Value::Call(call) => forward_operands(&mut call.args, known, vars),
                    Value::Scalar(scalar) => forward_scalar(scalar, known),
                    Value::Copy(_) | Value::Element { .. } => {}
                }
                if let (Value::Scalar(scalar @ (Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_))), false) =
                    (value, is_nested)
                {
                    known[var.0 as usize] = Some(scalar.clone());
                }
            }
            Stmt::Eval { call, .. } => forward_operands(&mut call.args, known, vars),
            Stmt::For(looped) => {
                for bound in [&mut looped.start, &mut looped.stop, &mut looped.step] {
                    forward_scalar(bound, known);
                }
                // These are no loops any more when the compiler gets there.
                let is_flat = matches!(looped.kind, LoopKind::Unroll | LoopKind::SplitAiv);
                forward_in(&mut looped.body, known, vars, is_nested || !is_flat);
            }
            Stmt::While(looped) => {
                forward_scalar(&mut looped.condition, known);
                forward_in(&mut looped.body, known, vars, true);
            }
            Stmt::If(branch) => {
                forward_scalar(&mut branch.condition, known);
                forward_in(&mut branch.then, known, vars, true);
                forward_in(&mut branch.otherwise, known, vars, true);
            }
            Stmt::Yield { .. } | Stmt::Return { .. } | Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }
}

fn forward_operands(operands: &mut [Operand], known: &[Option<Scalar>], vars: &[Var]) {
    for operand in operands {
        match operand {
            Operand::Scalar(Scalar::Var(var)) => {
                if let Some(Some(number)) = known.get(var.0 as usize) {
                    *operand = Operand::Scalar(typed(number.clone(), &vars[var.0 as usize].ty));
                }
            }
            Operand::Scalar(scalar) => forward_scalar(scalar, known),
            Operand::List(list) => list.iter_mut().for_each(|scalar| forward_scalar(scalar, known)),
            Operand::Var(_) | Operand::Unknown(_) => {}
        }
    }
}

/// A number with the element type of the variable that it was.
fn typed(number: Scalar, ty: &Type) -> Scalar {
    match ty {
        Type::Scalar(dtype) if scalar::dtype(&number, &[]) != Some(*dtype) => Scalar::Const(*dtype, Box::new(number)),
        _ => number,
    }
}

fn forward_scalar(scalar: &mut Scalar, known: &[Option<Scalar>]) {
    match scalar {
        Scalar::Var(var) => {
            if let Some(Some(value)) = known.get(var.0 as usize) {
                *scalar = value.clone();
            }
        }
        Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => forward_scalar(operand, known),
        Scalar::Binary(op, left, right) => {
            forward_scalar(left, known);
            forward_scalar(right, known);
            if let Some(folded) = scalar::folded(*op, left, right) {
                *scalar = folded;
            }
        }
        _ => {}
    }
}
