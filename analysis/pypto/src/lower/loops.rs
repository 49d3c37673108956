//! Loops: over ranges, pipelines and `while`, with the values that they carry.

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::ast::{Arg, Expr, ExprId, Stmt, StmtId};

use super::body::{Lowering, Rhs, Term, keyword};
use super::pre_ssa::{ExplicitCarry, Statement};
use super::renaming::Bridge;
use super::scopes::Launched;
use super::tensor_view::Followed;
use crate::ir::{LoopKind, Operand, Role, Scalar, Type, Value, Var, VarId, VectorRegion, Why, fold};
use crate::ops::OpId;

impl Lowering<'_> {
    pub(super) fn loop_control(&mut self, at: Origin, keyword: &str) {
        let message = match self.state.loops.last() {
            None => format!("`{keyword}` is outside a loop"),
            Some(LoopKind::Parallel) => format!("`{keyword}` is not possible in `pl.parallel`; use `pl.range`"),
            Some(LoopKind::Unroll) => format!("`{keyword}` is not possible in `pl.unroll`; use `pl.range`"),
            Some(LoopKind::SplitAiv) => format!("`{keyword}` is not possible in `pl.split_aiv`, which is not a loop"),
            Some(_) => return,
        };
        self.reject_at(at, Code::Rejected, message);
    }

    /// The copies that the compiler makes before a loop of what the loop hands on.
    fn bridges(&mut self, stmt: StmtId) {
        let origin = self.at_stmt(stmt);
        for Bridge { from, to } in self.renaming.bridges(stmt) {
            let Some(term) = self.lookup(from).cloned() else { continue };
            let Term::Var(source) = term else {
                self.bind(to, term);
                continue;
            };
            let ty = self.ty(source).clone();
            let value = match ty {
                Type::Scalar(_) => Value::Scalar(Scalar::Var(source)),
                _ => Value::Copy(source),
            };
            let var = self.var(Var {
                name: to.clone(),
                ty: ty.clone(),
                role: Role::Def,
                inserted: Some(Why::Intermediate),
                origin,
            });
            self.set_view(var, self.view_of(source));
            self.emit(Statement::Let { var, value, ty, origin });
            self.bind(to, Term::Var(var));
        }
    }

    pub(super) fn for_loop(&mut self, stmt: StmtId, target: ExprId, iter: ExprId, body: &[StmtId]) {
        let at = self.at_stmt(stmt);
        self.bridges(stmt);
        let Expr::Call { func, args } = self.ast.expr(iter) else {
            return self.no_iterator(iter);
        };
        let path = self.ast.dotted(*func).unwrap_or_default();
        let ["pl", iterator] = path.as_slice() else { return self.no_iterator(iter) };
        self.check_keywords(iterator, args);
        let kind = match *iterator {
            "range" => LoopKind::Range,
            "parallel" => LoopKind::Parallel,
            "unroll" => LoopKind::Unroll,
            "pipeline" => match self.stages(iter, args) {
                Some(stages) => LoopKind::Pipeline { stages, asked: self.asked_stages(args) },
                None => return,
            },
            "while_" => return self.while_with_carries(at, target, args, body),
            "spmd" if self.state.host => {
                self.check_core_num(args);
                let launched = Launched { args, index: Some(target), is_called: false, on_blocks: true };
                return self.region(stmt, launched, body);
            }
            "spmd" => {
                self.note(iter, "`pl.spmd` inside a kernel".to_owned());
                let reason = Reason::new("the index of `pl.spmd`");
                self.bind_index(target, Rhs::Term(Term::Scalar(Scalar::Unknown(reason))));
                return self.block(body);
            }
            "split_aiv" => return self.for_each_vector_unit(target, iter, args, body),
            _ => return self.no_iterator(iter),
        };
        let (index, carried) = match self.ast.expr(target) {
            Expr::Name(_) => (target, None),
            Expr::Tuple(parts) => match parts.as_slice() {
                [index, carried] if self.ast.elements(*carried).is_some() => (*index, Some(*carried)),
                _ => return self.reject(target, Code::Rejected, LOOP_TARGET.to_owned()),
            },
            _ => return self.reject(target, Code::Rejected, LOOP_TARGET.to_owned()),
        };
        let Some(name) = self.ast.name(index) else {
            return self.reject(index, Code::Rejected, LOOP_TARGET.to_owned());
        };
        let bounds = self.bounds(iter, kind, args);
        if self.state.host && kind == LoopKind::Unroll && super::may_hold_regions(self.ast, self.scope) {
            return self.unrolled_scopes(name, bounds, body);
        }
        let inits = keyword(args, "init_values").map(|inits| self.ast.elements(inits).unwrap_or_default().to_vec());
        let inits: Vec<Term> = inits.unwrap_or_default().into_iter().map(|init| self.expression(init)).collect();

        let origin = self.at_expr(index);
        let index = self.var(Var {
            name: name.to_owned(),
            ty: Type::Scalar(Dtype::Index),
            role: Role::LoopIndex,
            inserted: None,
            origin,
        });
        let runs = fold::trip_count(&bounds[0], &bounds[1], &bounds[2]) != Some(0);
        let is_unrolled = kind == LoopKind::Unroll && runs;
        self.state.unrolls.extend(is_unrolled.then_some(index));
        let (carries, body) =
            self.carrying_loop(at, Some((name, index)), carried, inits, kind, |this| this.block(body));
        if is_unrolled {
            self.state.unrolls.pop();
        }
        self.emit(Statement::For { kind, index, bounds, carries, body, origin: at });
    }

    pub(super) fn bind_index(&mut self, target: ExprId, value: Rhs) {
        let Some(name) = self.ast.name(target) else { return };
        self.assign(target, name, None, value);
    }

    /// `pl.unroll` in host code: the compiler unrolls it before it makes kernels of the scopes inside, one for each iteration.
    fn unrolled_scopes(&mut self, index: &str, bounds: [Scalar; 3], body: &[StmtId]) {
        let trips = match bounds.each_ref().map(Scalar::as_int) {
            [Some(start), Some(stop), Some(step)] if step != 0 => {
                let trips = (i128::from(stop) - i128::from(start)).div_euclid(i128::from(step))
                    + i128::from((i128::from(stop) - i128::from(start)).rem_euclid(i128::from(step)) != 0);
                let left = MOST_UNROLLED - self.state.unrolled;
                Some((start, step, trips.max(0))).filter(|(.., trips)| *trips <= left)
            }
            _ => None,
        };
        let Some((start, step, trips)) = trips else {
            let reason = "a scope in `pl.unroll`, because the compiler makes one kernel for each iteration";
            let around = self.state.around_scopes.replace(reason);
            self.bind(index, Term::Unknown(Reason::new("the index of `pl.unroll`")));
            self.block(body);
            self.state.around_scopes = around;
            return;
        };
        self.state.unrolled += trips;
        for trip in 0..trips as i64 {
            self.bind(index, Term::Scalar(Scalar::Int(start.saturating_add(trip.saturating_mul(step)))));
            self.block(body);
        }
    }

    /// `for unit in pl.split_aiv(2, mode=...)`: no loop, but work that the two vector units do, each for itself.
    fn for_each_vector_unit(&mut self, target: ExprId, iter: ExprId, args: &[Arg], body: &[StmtId]) {
        let mode = match keyword(args, "mode").or(args.get(1).map(|arg| arg.value)) {
            Some(mode) => self.split_mode(mode),
            None => None,
        };
        if self.state.core_function && !self.state.cross_core.units_told_apart {
            let message = "`pl.split_aiv` divides a scope of host code, but this function is already a kernel; write it in `with pl.at(level=pl.Level.CORE_GROUP):` of a plain `@pl.function`".to_owned();
            self.reject(iter, Code::Rejected, message);
        }
        let query = self.make_call(OpId::GET_SUBBLOCK_IDX, Vec::new(), Vec::new(), iter);
        let outer = self.state.vector_units.replace(mode);
        self.state.loops.push(LoopKind::SplitAiv);
        let statements = self.nested(true, |this| {
            this.bind_index(target, Rhs::Call(query, Type::Scalar(Dtype::Index)));
            this.block(body);
        });
        self.state.loops.pop();
        self.state.vector_units = outer;
        let stmts = self.site.is_none().then(|| {
            let mut stmts = Vec::new();
            origins(statements.iter(), &mut stmts);
            stmts
        });
        self.state.vector_regions.push(VectorRegion { split: mode, stmts });
        if mode.is_some() && !statements.iter().any(crosses) {
            self.note(iter, "whole tiles inside `pl.split_aiv`, which the compiler divides".to_owned());
        }
        self.state.cross_core.units_told_apart = true;
        statements.into_iter().for_each(|statement| self.emit(statement));
    }

    /// Lowers the body of a loop whose carries are written with `init_values`, and binds their results after it.
    fn carrying_loop(
        &mut self,
        at: Origin,
        index: Option<(&str, VarId)>,
        carried: Option<ExprId>,
        inits: Vec<Term>,
        kind: LoopKind,
        lower: impl FnOnce(&mut Self),
    ) -> (Vec<ExplicitCarry>, Vec<Statement>) {
        let names = carried.map(|carried| self.ast.elements(carried).unwrap_or_default()).unwrap_or_default();
        if let Some(carried) = carried
            && names.len() != inits.len()
        {
            let message = format!("the loop carries {} names but has {} `init_values`", names.len(), inits.len());
            self.reject(carried, Code::Rejected, message);
        }
        let types: Vec<Type> = inits.iter().map(|init| self.term_type(init)).collect();
        let are_sure: Vec<bool> = inits.iter().map(|init| self.is_sure(init)).collect();
        let views: Vec<Followed> = inits.iter().map(|init| self.view_of_term(init)).collect();
        let inits: Vec<Operand> = inits.into_iter().map(|init| self.operand(init)).collect();
        let mut iters = Vec::new();
        self.state.yields.push(Vec::new());
        self.state.loops.push(kind);
        let body = self.nested(carried.is_none(), |this| {
            if let Some((name, index)) = index {
                this.bind(name, Term::Var(index));
            }
            for (((&name, ty), view), is_sure) in names.iter().zip(&types).zip(views).zip(are_sure) {
                let origin = this.at_expr(name);
                let Some(name) = this.ast.name(name) else { continue };
                let name = name.to_owned();
                let iter = Var { name: name.clone(), ty: ty.clone(), role: Role::IterArg, inserted: None, origin };
                let iter = this.var(iter);
                this.set_view(iter, view);
                if !is_sure {
                    this.state.guessed.insert(iter);
                }
                this.bind(&name, Term::Var(iter));
                iters.push((name, iter));
            }
            lower(this);
        });
        self.state.loops.pop();
        let yielded = self.state.yields.pop().unwrap_or_default();
        if carried.is_some() && yielded.len() != iters.len() {
            self.note_at(at, "a loop with `init_values` whose body does not yield a value for each of them".to_owned());
        }
        if carried.is_some() && yielded.len() == iters.len() {
            self.check_carries(&iters, &yielded);
        }
        let mut carries = Vec::new();
        for (at_carry, ((name, iter), (init, ty))) in iters.into_iter().zip(inits.into_iter().zip(types)).enumerate() {
            let outer = yielded.get(at_carry).map(|yielded| yielded.name.clone());
            let bound = outer.is_some();
            let name = outer.unwrap_or_else(|| format!("{name}_out"));
            let result = Var { name: name.clone(), ty, role: Role::LoopResult, inserted: None, origin: at };
            let result = self.var(result);
            self.set_view(result, self.view_of(iter));
            if bound {
                self.bind(&name, Term::Var(result));
            }
            carries.push(ExplicitCarry { init, iter, result });
        }
        (carries, body)
    }

    fn while_with_carries(&mut self, at: Origin, target: ExprId, args: &[Arg], body: &[StmtId]) {
        let inits = keyword(args, "init_values").map(|inits| self.ast.elements(inits).unwrap_or_default().to_vec());
        let inits: Vec<Term> = inits.unwrap_or_default().into_iter().map(|init| self.expression(init)).collect();
        let condition = body.first().and_then(|&first| match self.ast.stmt(first) {
            Stmt::Expr(expr) => match self.ast.expr(*expr) {
                Expr::Call { func, args } if self.ast.dotted(*func)? == ["pl", "cond"] => {
                    args.first().map(|arg| arg.value)
                }
                _ => None,
            },
            _ => None,
        });
        let Some(condition) = condition else {
            let message = "the first statement in `pl.while_` must be `pl.cond(...)`".to_owned();
            return self.reject_at(at, Code::Rejected, message);
        };
        let mut tested = Scalar::Bool(true);
        let rest = body.get(1..).unwrap_or_default();
        let (carries, body) = self.carrying_loop(at, None, Some(target), inits, LoopKind::Range, |this| {
            tested = this.condition(condition);
            this.block(rest);
        });
        self.emit(Statement::While { condition: tested, carries, body, origin: at });
    }

    fn no_iterator(&mut self, iter: ExprId) {
        let message =
            "a loop runs over `pl.range`, `pl.parallel`, `pl.unroll`, `pl.pipeline` or `pl.while_`".to_owned();
        self.reject(iter, Code::Rejected, message);
    }

    /// Where stages are asked for, in the file that the kernel is shown in.
    fn asked_stages(&self, args: &[Arg]) -> Option<Origin> {
        keyword(args, "stage").filter(|_| self.site.is_none()).map(|stage| self.at_expr(stage))
    }

    fn stages(&mut self, iter: ExprId, args: &[Arg]) -> Option<u32> {
        let Some(stage) = keyword(args, "stage") else {
            self.reject(iter, Code::Rejected, "`pl.pipeline` needs `stage=`, the number of pipeline stages".to_owned());
            return Some(1);
        };
        match self.expression(stage) {
            Term::Scalar(Scalar::Int(stages)) if stages >= 1 => u32::try_from(stages).ok(),
            Term::Unknown(reason) => {
                self.note(stage, reason);
                Some(1)
            }
            _ => {
                self.reject(
                    stage,
                    Code::Rejected,
                    "`stage` of `pl.pipeline` must be a constant of at least 1".to_owned(),
                );
                Some(1)
            }
        }
    }

    fn bounds(&mut self, iter: ExprId, kind: LoopKind, args: &[Arg]) -> [Scalar; 3] {
        let positional: Vec<ExprId> = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value).collect();
        let mut values = positional.iter().map(|&bound| match self.expression(bound) {
            Term::Scalar(scalar) => scalar,
            Term::Var(var) => Scalar::Var(var),
            Term::Unknown(reason) => Scalar::Unknown(reason),
            Term::List(_) | Term::Constant(_) => Scalar::Unknown(Reason::new("the bound is not an integer")),
        });
        let mut next = || values.next();
        let bounds = match positional.len() {
            0 => [Scalar::Int(0), Scalar::Unknown(Reason::new("the loop has no bound")), Scalar::Int(1)],
            1 => [Some(Scalar::Int(0)), next(), Some(Scalar::Int(1))].map(known),
            2 => [next(), next(), Some(Scalar::Int(1))].map(known),
            _ => [next(), next(), next()].map(known),
        };
        if kind == LoopKind::Unroll {
            for bound in &bounds {
                match bound {
                    Scalar::Int(_) => {}
                    Scalar::Unknown(reason) => self.note(iter, reason.clone()),
                    runtime => {
                        let what = self.describe(runtime);
                        let message =
                            format!("`pl.unroll` needs constant bounds, but {what} is known at run time only");
                        self.reject(iter, Code::Rejected, message);
                    }
                }
            }
        }
        bounds
    }
}

/// Iterations of `pl.unroll` that are followed in all of a host function, each of them a kernel for each scope.
const MOST_UNROLLED: i128 = 256;

/// Whether tiles go from one core to the other, divided by the author.
fn crosses(statement: &Statement) -> bool {
    match statement {
        Statement::Let { value: Value::Call(call), .. } | Statement::Eval { call, .. } => call.op.crosses_cores(),
        other => other.inner().any(crosses),
    }
}

/// The origins of statements and of those in them.
fn origins<'s>(statements: impl Iterator<Item = &'s Statement>, found: &mut Vec<Origin>) {
    for statement in statements {
        found.extend(statement.origin());
        origins(statement.inner(), found);
    }
}

const LOOP_TARGET: &str =
    "the target of a loop must be a name, or `i, (x, y)` with `init_values=(a, b)` if the loop carries values";

fn known(bound: Option<Scalar>) -> Scalar {
    bound.unwrap_or(Scalar::Int(0))
}
