//! The names in the text that the compiler makes of a `@pl.jit` function (`specializer.py`, `_BodyTransformer`). A name that is
//! assigned again at the depth where it was first is another one from there on: `x`, `x_v1`, `x_v2`. A `while` is no deeper than
//! what is around it, so that it hands on nothing that was first assigned beside it. A `for` that reads such a name of an earlier
//! loop or scope and assigns it again gets a copy of its own, before it.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt, StmtId};

/// What differs from the author's text.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// The names that are others there.
    names: FxHashMap<ExprId, String>,
    /// The author's name for each of them.
    authors: FxHashMap<String, String>,
    bridges: FxHashMap<StmtId, Vec<Bridge>>,
}

/// `to = from` before a loop.
#[derive(Debug)]
pub(super) struct Bridge {
    pub(super) from: String,
    pub(super) to: String,
}

impl Renames {
    pub(super) fn of(ast: &Ast, function: &Function) -> Renames {
        if !super::is_jit(ast, function) {
            return Renames::default();
        }
        let params: Vec<&str> = function.params.iter().filter_map(|param| ast.name(param.name)).collect();
        let mut stored = Vec::new();
        stored_in(ast, &function.body, &mut stored);
        let used: FxHashSet<&str> = params.iter().chain(&stored).copied().collect();
        if used.len() == params.len() + stored.len() {
            return Renames::default();
        }
        let first = Assigned { count: 1, depth: 0 };
        let assigned = params.iter().map(|&param| (param, first)).collect();
        let params = params.into_iter().collect();
        let renaming = Renames::default();
        let mut renamer = Renamer { ast, params, used, assigned, current: FxHashMap::default(), depth: 0, renaming };
        renamer.block(&function.body);
        renamer.renaming
    }

    pub(super) fn name(&self, expr: ExprId) -> Option<&str> {
        self.names.get(&expr).map(String::as_str)
    }

    pub(super) fn author(&self, name: &str) -> Option<&str> {
        self.authors.get(name).map(String::as_str)
    }

    pub(super) fn bridges(&self, stmt: StmtId) -> &[Bridge] {
        self.bridges.get(&stmt).map_or(&[], Vec::as_slice)
    }
}

struct Renamer<'a> {
    ast: &'a Ast,
    params: FxHashSet<&'a str>,
    /// Names that the author gives to something.
    used: FxHashSet<&'a str>,
    assigned: FxHashMap<&'a str, Assigned>,
    /// What names that were assigned again are now.
    current: FxHashMap<&'a str, String>,
    depth: u32,
    renaming: Renames,
}

/// How often a name was assigned, and how deep the first time.
#[derive(Clone, Copy)]
struct Assigned {
    count: u32,
    depth: u32,
}

impl<'a> Renamer<'a> {
    fn block(&mut self, body: &[StmtId]) {
        body.iter().for_each(|&stmt| self.statement(stmt));
    }

    fn statement(&mut self, id: StmtId) {
        let ast = self.ast;
        match ast.stmt(id) {
            Stmt::Assign { targets, annotation, value: Some(value) } => {
                self.assignment(targets, *annotation, *value);
            }
            Stmt::For { iter, body, .. } => self.for_loop(id, *iter, body),
            Stmt::While { condition, body, or_else } => {
                self.reads(*condition);
                self.block(body);
                self.block(or_else);
            }
            Stmt::If { condition, body, or_else, .. } => self.branch(*condition, body, or_else),
            Stmt::With { items, body } => {
                items.iter().for_each(|item| self.reads(item.context));
                self.deeper(body);
            }
            other => other.exprs().into_iter().for_each(|expr| self.reads(expr)),
        }
    }

    fn deeper(&mut self, body: &[StmtId]) {
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
    }

    fn assignment(&mut self, targets: &[ExprId], annotation: Option<ExprId>, value: ExprId) {
        let ast = self.ast;
        let &[target] = targets else { return };
        if self.is_inlined_shape(target, value) {
            return self.names_of_shape(target);
        }
        if is_dynamic(ast, value) {
            return;
        }
        self.reads(value);
        annotation.into_iter().for_each(|annotation| self.reads(annotation));
        let Some(name) = ast.name(target) else {
            return stored(ast, target).1.into_iter().for_each(|base| self.reads(base));
        };
        match self.assigned.get(name) {
            None => self.first(name),
            Some(assigned) if assigned.depth == self.depth => {
                let renamed = self.again(name);
                self.renaming.names.insert(target, renamed);
            }
            Some(_) if annotation.is_some() => {}
            Some(_) => self.read(target, name),
        }
    }

    /// `M, N = x.shape`, and `M = x.shape[0]`, are no assignments: the numbers are written where the names are read.
    fn is_inlined_shape(&self, target: ExprId, value: ExprId) -> bool {
        match self.ast.expr(value) {
            Expr::Subscript { value, .. } => self.is_shape(*value) && self.ast.name(target).is_some(),
            _ => self.is_shape(value) && matches!(self.ast.expr(target), Expr::Tuple(_)),
        }
    }

    fn is_shape(&self, expr: ExprId) -> bool {
        match self.ast.expr(expr) {
            Expr::Attribute { value, name } => name == "shape" && self.is_param(*value),
            _ => false,
        }
    }

    fn is_param(&self, expr: ExprId) -> bool {
        self.ast.name(expr).is_some_and(|name| self.params.contains(name))
    }

    fn names_of_shape(&mut self, target: ExprId) {
        let (names, _) = stored(self.ast, target);
        for name in names {
            if !self.assigned.contains_key(name) {
                self.first(name);
            }
        }
    }

    fn first(&mut self, name: &'a str) {
        self.assigned.insert(name, Assigned { count: 1, depth: self.depth });
    }

    /// Gives a name that is assigned again another one.
    fn again(&mut self, name: &'a str) -> String {
        let mut count = self.assigned.get(name).map_or(1, |assigned| assigned.count);
        let is_taken = |name: &String| self.used.contains(name.as_str()) || self.renaming.authors.contains_key(name);
        let renamed = loop {
            let renamed = format!("{name}_v{count}");
            count += 1;
            if !is_taken(&renamed) {
                break renamed;
            }
        };
        if let Some(assigned) = self.assigned.get_mut(name) {
            assigned.count = count;
        }
        self.current.insert(name, renamed.clone());
        self.renaming.authors.insert(renamed.clone(), name.to_owned());
        renamed
    }

    fn reads(&mut self, expr: ExprId) {
        if self.current.is_empty() {
            return;
        }
        let ast = self.ast;
        match ast.expr(expr) {
            Expr::Name(name) => self.read(expr, name),
            // The shape and the type of a parameter are those that the function is called with.
            Expr::Attribute { value, name } if matches!(name.as_str(), "shape" | "dtype") && self.is_param(*value) => {}
            other => other.parts().into_iter().for_each(|part| self.reads(part)),
        }
    }

    fn read(&mut self, expr: ExprId, name: &str) {
        if let Some(renamed) = self.current.get(name) {
            self.renaming.names.insert(expr, renamed.clone());
        }
    }

    fn for_loop(&mut self, id: StmtId, iter: ExprId, body: &[StmtId]) {
        self.reads(iter);
        let (carried, fresh) = self.assigned_beside(body);
        let mut bridges = Vec::new();
        for name in carried {
            let from = self.current.get(name).map_or_else(|| name.to_owned(), String::clone);
            let to = self.again(name);
            if let Some(assigned) = self.assigned.get_mut(name) {
                assigned.depth = self.depth;
            }
            bridges.push(Bridge { from, to });
        }
        if !bridges.is_empty() {
            self.renaming.bridges.insert(id, bridges);
        }
        fresh.into_iter().for_each(|name| self.forget(name));
        self.deeper(body);
    }

    /// Of the names that a loop's body assigns, and that a body beside it assigned first: those that it reads before, and the others.
    fn assigned_beside(&self, body: &[StmtId]) -> (Vec<&'a str>, Vec<&'a str>) {
        let mut beside = Vec::new();
        for &stmt in body {
            let Stmt::Assign { targets, .. } = self.ast.stmt(stmt) else { continue };
            for name in targets.iter().flat_map(|&target| stored(self.ast, target).0) {
                let is_beside = self.assigned.get(name).is_some_and(|assigned| assigned.depth == self.depth + 1);
                if is_beside && !beside.contains(&name) {
                    beside.push(name);
                }
            }
        }
        if beside.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let mut exposed = Exposed::default();
        exposed.statements(self.ast, body);
        beside.into_iter().partition(|name| exposed.read.contains(name))
    }

    fn branch(&mut self, condition: ExprId, then: &[StmtId], or_else: &[StmtId]) {
        self.reads(condition);
        let before: FxHashSet<&str> = self.assigned.keys().copied().collect();
        self.deeper(then);
        if or_else.is_empty() {
            return;
        }
        let of_then: Vec<&str> = self.assigned.keys().copied().filter(|name| !before.contains(name)).collect();
        of_then.into_iter().for_each(|name| self.forget(name));
        self.deeper(or_else);
    }

    fn forget(&mut self, name: &str) {
        self.assigned.remove(name);
        self.current.remove(name);
    }
}

/// The names that statements read before they write them.
#[derive(Default, Clone)]
struct Exposed<'a> {
    read: FxHashSet<&'a str>,
    written: FxHashSet<&'a str>,
}

impl<'a> Exposed<'a> {
    fn statements(&mut self, ast: &'a Ast, body: &[StmtId]) {
        body.iter().for_each(|&stmt| self.statement(ast, stmt));
    }

    fn statement(&mut self, ast: &'a Ast, id: StmtId) {
        match ast.stmt(id) {
            Stmt::Assign { targets, value, .. } => {
                value.iter().for_each(|&value| self.reads(ast, value));
                targets.iter().for_each(|&target| self.target(ast, target));
            }
            Stmt::AugAssign { target, value, .. } => {
                self.reads(ast, *value);
                self.reads(ast, *target);
                self.target(ast, *target);
            }
            Stmt::For { target, iter, body, or_else } => {
                self.reads(ast, *iter);
                self.written.extend(stored(ast, *target).0);
                self.statements(ast, body);
                self.statements(ast, or_else);
            }
            Stmt::If { condition, body, or_else, .. } => {
                self.reads(ast, *condition);
                let before = self.written.clone();
                self.statements(ast, body);
                let then = std::mem::replace(&mut self.written, before);
                self.statements(ast, or_else);
                self.written.retain(|name| then.contains(name));
            }
            Stmt::With { items, body } => {
                for item in items {
                    self.reads(ast, item.context);
                    self.written.extend(item.target.into_iter().flat_map(|target| stored(ast, target).0));
                }
                self.statements(ast, body);
            }
            // Of a `while` the compiler sees what it reads, and not what it writes.
            Stmt::While { .. } => self.all(ast, &[id]),
            other => other.exprs().into_iter().for_each(|expr| self.reads(ast, expr)),
        }
    }

    fn target(&mut self, ast: &'a Ast, target: ExprId) {
        let (names, bases) = stored(ast, target);
        bases.into_iter().for_each(|base| self.reads(ast, base));
        self.written.extend(names);
    }

    fn reads(&mut self, ast: &'a Ast, expr: ExprId) {
        match ast.expr(expr) {
            Expr::Name(name) => {
                if !self.written.contains(name.as_str()) {
                    self.read.insert(name);
                }
            }
            other => other.parts().into_iter().for_each(|part| self.reads(ast, part)),
        }
    }

    fn all(&mut self, ast: &'a Ast, body: &[StmtId]) {
        for stmt in body.iter().map(|&stmt| ast.stmt(stmt)) {
            let targets = match stmt {
                Stmt::Assign { targets, .. } => targets.as_slice(),
                Stmt::For { target, .. } => std::slice::from_ref(target),
                _ => &[],
            };
            for expr in stmt.exprs() {
                match targets.contains(&expr) {
                    true => stored(ast, expr).1.into_iter().for_each(|base| self.reads(ast, base)),
                    false => self.reads(ast, expr),
                }
            }
            stmt.bodies().for_each(|body| self.all(ast, body));
        }
    }
}

/// The names that a target gives a value, and what it reads for that: `x` and `i` of `x[i] = …`.
fn stored(ast: &Ast, target: ExprId) -> (Vec<&str>, Vec<ExprId>) {
    match ast.expr(target) {
        Expr::Name(name) => (vec![name], Vec::new()),
        Expr::Tuple(parts) | Expr::List(parts) => {
            let (names, bases): (Vec<_>, Vec<_>) = parts.iter().map(|&part| stored(ast, part)).unzip();
            (names.concat(), bases.concat())
        }
        Expr::Starred(inner) => stored(ast, *inner),
        other => (Vec::new(), other.parts()),
    }
}

/// Every name that statements give a value, once for each time.
fn stored_in<'a>(ast: &'a Ast, body: &[StmtId], names: &mut Vec<&'a str>) {
    for stmt in body.iter().map(|&stmt| ast.stmt(stmt)) {
        match stmt {
            Stmt::Assign { targets, .. } => names.extend(targets.iter().flat_map(|&target| stored(ast, target).0)),
            Stmt::For { target, .. } => names.extend(stored(ast, *target).0),
            Stmt::With { items, .. } => {
                names.extend(items.iter().filter_map(|item| item.target).flat_map(|target| stored(ast, target).0));
            }
            _ => {}
        }
        stmt.bodies().for_each(|body| stored_in(ast, body, names));
    }
}

/// `pl.dynamic("M")`, which the compiler takes out of the function.
fn is_dynamic(ast: &Ast, value: ExprId) -> bool {
    match ast.expr(value) {
        Expr::Call { func, .. } => matches!(ast.dotted(*func).as_deref(), Some(["pl", "dynamic"] | ["dynamic"])),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use tilefit_syntax::{BlockSource, ast};

    use super::*;

    /// The body of a `@pl.jit` function of `x` as the compiler's text has it.
    fn check(body: &str, expect: Expect) {
        let source = BlockSource::of(&format!("@pl.jit\ndef f(x):{body}"));
        let (ast, spans) = ast::parse(&source);
        let Stmt::Function(function) = ast.stmt(ast.body[0]) else { panic!("no function") };
        let renames = Renames::of(&ast, function);
        let mut fixed = Vec::new();
        for (expr, _) in ast.exprs() {
            fixed
                .extend(renames.name(expr).map(|name| (spans.expr(expr).start, spans.expr(expr).end, name.to_owned())));
        }
        for (stmt, _) in ast.stmts() {
            for Bridge { from, to } in renames.bridges(stmt) {
                fixed.push((spans.stmt(stmt).start, spans.stmt(stmt).start, format!("{to} = {from}; ")));
            }
        }
        fixed.sort();
        let mut text = source.text.clone();
        for (start, end, name) in fixed.into_iter().rev() {
            text.replace_range(start..end, &name);
        }
        let body = text.split_once("(x):").expect("a body").1;
        let lines = body.lines().skip(1).map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
        expect.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn names_that_are_assigned_again() {
        check(
            "
    a = f(x)
    a_v1 = f(a)
    a = f(a)
    x = f(x, a)
    if x:
        a = f(a)
    return a, x.shape
",
            expect![[r#"
                a = f(x)
                a_v1 = f(a)
                a_v2 = f(a)
                x_v1 = f(x, a_v2)
                if x_v1:
                    a_v2 = f(a_v2)
                return a_v2, x.shape
            "#]],
        );
    }

    #[test]
    fn a_while_is_no_deeper_than_what_is_around_it() {
        check(
            "
    with f(x):
        k = 0
        while k < x:
            x = f(x, k)
            k = k + 1
        f(k)
",
            expect![[r#"
                with f(x):
                    k = 0
                    while k < x:
                        x = f(x, k)
                        k_v1 = k + 1
                    f(k_v1)
            "#]],
        );
    }

    #[test]
    fn a_loop_that_hands_on_what_a_body_beside_it_assigned() {
        check(
            "
    if x:
        a = f(x)
        b = f(x)
    for i in f(a):
        b = f(a)
        a = f(b)
    f(a, b)
",
            expect![[r#"
                if x:
                    a = f(x)
                    b = f(x)
                a_v1 = a; for i in f(a):
                    b = f(a_v1)
                    a_v1 = f(b)
                f(a_v1, b)
            "#]],
        );
    }

    #[test]
    fn branches_are_beside_each_other() {
        check(
            "
    if x:
        a = f(x)
        a = f(a)
    else:
        a = f(x)
    if x:
        a = f(x)
    else:
        a = f(x)
    f(a)
",
            expect![[r#"
                if x:
                    a = f(x)
                    a_v1 = f(a)
                else:
                    a = f(x)
                if x:
                    a_v2 = f(x)
                else:
                    a_v3 = f(x)
                f(a_v3)
            "#]],
        );
    }
}
