//! Tasks of TLX, which run at the same time.

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Expr, Stmt, StmtId, WithItem};

use super::super::super::program::{Block, Effect, Kind, Op, Task, ValueId};
use super::super::value::Value;
use super::super::{Flow, Frame, Tracer};

impl Tracer<'_> {
    /// `with tlx.async_tasks():`; `None` where a statement is none.
    pub(in crate::trace) fn async_tasks(
        &mut self,
        frame: &mut Frame,
        items: &[WithItem],
        body: &[StmtId],
    ) -> Option<Flow> {
        let [item] = items else { return None };
        let ast = frame.ast.clone();
        let Expr::Call { func, .. } = ast.expr(item.context) else { return None };
        let Value::Language(name) = self.value(frame, *func) else { return None };
        if &*name != "async_tasks" {
            return None;
        }
        let mut found = FoundTasks::default();
        self.tasks_in(frame, body, &mut found);
        let mut operands: Vec<ValueId> = Vec::new();
        let FoundTasks { default, tasks } = found;
        let default = default.unwrap_or_else(|| {
            self.open();
            self.close(frame, item.context, Vec::new())
        });
        let free: Vec<Vec<ValueId>> = tasks.iter().map(|(block, _)| self.free(block)).collect();
        for value in free.iter().flatten() {
            if !operands.contains(value) {
                operands.push(*value);
            }
        }
        let tasks = tasks
            .into_iter()
            .map(|(mut block, warps)| {
                let params: Vec<ValueId> =
                    operands.iter().map(|&value| self.new_value(self.program.types[value.0 as usize])).collect();
                rename(&mut block, &operands, &params);
                block.params = params;
                Task { body: block, warps }
            })
            .collect();
        let op = Op {
            name: "async_tasks",
            at: self.site(frame, item.context),
            effect: Effect::Writes,
            operands,
            results: Vec::new(),
            identity: 0,
            kind: Kind::Specialize { default, tasks },
        };
        self.push(op);
        Some(Flow::Next)
    }

    /// The tasks that stand in a body, also under conditions that are known.
    fn tasks_in(&mut self, frame: &mut Frame, body: &[StmtId], found: &mut FoundTasks) {
        let ast = frame.ast.clone();
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::With { items, body } => {
                    let Some(item) = items.first() else { continue };
                    let Expr::Call { args, .. } = ast.expr(item.context) else { continue };
                    let args = self.args(frame, args);
                    let is_default = matches!(args.positional.first(), Some(Value::Str(name)) if &**name == "default");
                    let number = |name: &str, position: usize| {
                        args.get(position, name).and_then(Value::int).and_then(|it| u64::try_from(it).ok())
                    };
                    let warps = number("num_warps", usize::MAX);
                    let replicas = number("replicate", usize::MAX).unwrap_or(1).min(64);
                    if !is_default && warps.is_none() {
                        self.note(frame, item.context, Reason::new("the warps of a task are not known"));
                    }
                    let before = frame.names.clone();
                    let around = (self.warps, self.replica);
                    for replica in 0..replicas {
                        if !is_default {
                            self.warps = warps.unwrap_or(4);
                        }
                        self.replica = Some(replica);
                        self.open();
                        self.body(frame, body);
                        let block = self.close(frame, item.context, Vec::new());
                        frame.names = before.clone();
                        if is_default {
                            found.default = Some(block);
                        } else {
                            found.tasks.push((block, self.warps));
                        }
                    }
                    (self.warps, self.replica) = around;
                }
                Stmt::If { condition, body, or_else } => match self.value(frame, *condition).truth() {
                    Some(true) => self.tasks_in(frame, body, found),
                    Some(false) => self.tasks_in(frame, or_else, found),
                    None => self.note(frame, *condition, Reason::new("the condition of a task is not known")),
                },
                _ => {
                    self.statement(frame, stmt);
                }
            }
        }
    }

    /// The values that a block uses and does not define.
    fn free(&self, block: &Block) -> Vec<ValueId> {
        let mut defined: Vec<ValueId> = Vec::new();
        let mut used: Vec<ValueId> = Vec::new();
        block.each(&mut |op| {
            defined.extend(&op.results);
            for inner in op.kind.blocks() {
                defined.extend(&inner.params);
            }
            used.extend(&op.operands);
        });
        defined.sort_unstable();
        let mut found = Vec::new();
        for value in used {
            let is_constant = self.constants.contains(&value);
            if !is_constant && defined.binary_search(&value).is_err() && !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }
}

#[derive(Default)]
struct FoundTasks {
    default: Option<Block>,
    tasks: Vec<(Block, u64)>,
}

fn rename(block: &mut Block, from: &[ValueId], to: &[ValueId]) {
    for op in &mut block.ops {
        for operand in &mut op.operands {
            if let Some(at) = from.iter().position(|value| value == operand) {
                *operand = to[at];
            }
        }
        for inner in op.kind.blocks_mut() {
            rename(inner, from, to);
        }
    }
}
