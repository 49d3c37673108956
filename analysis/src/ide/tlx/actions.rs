//! What an editor offers in a TLX kernel: to look at its MLIR, and to fix what the findings name. A fix that moves buffers is planned
//! before it is offered.

use tilefit_gpu::tlx::kernel::{Buffer, BufferKind, Element, GroupId, GroupKind, Kernel, Layout, Pair};
use tilefit_gpu::tlx::language::{self, Dtype, Storage};
use tilefit_gpu::tlx::tree::{Node, Tree};
use tilefit_gpu::tlx::{self, Backing, BufferId, SpecId};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::eval::Imports;
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Stmt, StmtId};

use crate::db::{self, TlxPart};
use crate::ide::code_action::{CodeAction, Effect, Fix};
use crate::ide::diagnostic::{Diagnostic, found};
use crate::ide::{Context, PlacedUnit};

pub(in crate::ide) fn actions(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    tlx: &TlxPart,
    range: TextRange,
) -> Vec<CodeAction> {
    let (imports, text) = (db::triton_imports(context.db, context.file), context.text_of(placed));
    let site = Site { ast: db::syntax(context.db, placed.unit), placed, tlx, text, imports };
    let mut actions = Vec::new();
    for finding in tlx.kernel.findings.iter().chain(&tlx.plan.findings) {
        let at = placed.range(finding.at);
        if at.intersects(range) || at.touches(range.start) {
            actions.extend(site.fixes(finding));
        }
    }
    if placed.range(tlx.kernel.origin).touches(range.start) {
        let effect = Effect::ShowLoweredIr(range.start);
        actions.push(CodeAction { title: "Show lowered IR".to_owned(), effect });
    }
    actions
}

/// A kernel and the block that it stands in.
struct Site<'a> {
    ast: &'a Ast,
    placed: &'a PlacedUnit<'a>,
    tlx: &'a TlxPart,
    /// Of the block.
    text: &'a str,
    imports: &'a Imports,
}

/// A call in the kernel's own text.
#[derive(Clone, Copy)]
struct Call<'a> {
    at: ExprId,
    args: &'a [Arg],
}

impl Call<'_> {
    fn argument(&self, name: &str, position: usize) -> Option<ExprId> {
        let by_keyword = self.args.iter().find(|arg| arg.keyword.as_deref() == Some(name));
        let by_position = self.args.get(position).filter(|arg| arg.keyword.is_none());
        by_keyword.or(by_position).map(|arg| arg.value)
    }

    fn positional(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value)
    }
}

type Edit = (TextRange, String);

impl<'a> Site<'a> {
    fn kernel(&self) -> &'a Kernel {
        &self.tlx.kernel
    }

    fn fixes(&self, finding: &Finding) -> Vec<CodeAction> {
        let fixes = match finding.code {
            Code::StorageMismatch => self.storage(finding).into_iter().collect(),
            Code::MissingLeaf => self.missing_leaf(finding).into_iter().collect(),
            Code::NotDivisible => self.divisible(finding),
            Code::SpecTooSmall => self.larger_spec(finding).into_iter().collect(),
            Code::BackingShape => self.power_of_two(finding).into_iter().collect(),
            Code::LegacyReuse => self.migrate(finding),
            _ => Vec::new(),
        };
        let preferred = fixes.len() == 1;
        let fixes = fixes.into_iter().enumerate();
        fixes
            .map(|(i, (title, edits))| self.fix(title, edits, found(self.placed, finding), preferred || i == 0))
            .collect()
    }

    fn fix(&self, title: String, edits: Vec<Edit>, fixes: Diagnostic, preferred: bool) -> CodeAction {
        CodeAction { title, effect: Effect::Fix(Fix { edits, fixes, preferred }) }
    }

    // Places in the text

    /// The call at `at`, if it is of the function of that canonical name.
    fn call(&self, at: Origin, name: &str) -> Option<Call<'a>> {
        let Origin::Expr(at) = at else { return None };
        let Expr::Call { func, args } = self.ast.expr(at) else { return None };
        (language::canonical(self.imports, &self.ast.dotted(*func)?)? == name).then_some(Call { at, args })
    }

    fn allocation(&self, id: BufferId) -> Option<Call<'a>> {
        self.call(self.kernel().buffer(id).at, "tlx.local_alloc")
    }

    fn group(&self, id: GroupId) -> Option<Call<'a>> {
        self.call(self.kernel().group(id).at, "tlx.reuse_group")
    }

    fn range(&self, expr: ExprId) -> TextRange {
        self.placed.range(Origin::Expr(expr))
    }

    fn slice(&self, expr: ExprId) -> &'a str {
        let range = self.placed.spans.expr(expr);
        self.text.get(range.start..range.end).unwrap_or_default()
    }

    fn behind(&self, expr: ExprId, new: String) -> Edit {
        (TextRange::empty(self.range(expr).end), new)
    }

    /// The simple statement around an expression.
    fn statement(&self, expr: ExprId) -> Option<StmtId> {
        let inner = self.placed.spans.expr(expr);
        let simple = self.ast.stmts().filter(|(_, stmt)| matches!(stmt, Stmt::Assign { .. } | Stmt::Expr(_)));
        let around = simple.filter(|&(id, _)| {
            let outer = self.placed.spans.stmt(id);
            outer.start <= inner.start && inner.end <= outer.end
        });
        around.map(|(id, _)| id).min_by_key(|&id| self.placed.spans.stmt(id).len())
    }

    /// The start of a statement's line in the block and its indentation, if nothing stands before it there.
    fn line_of(&self, stmt: StmtId) -> Option<(usize, &'a str)> {
        let start = self.placed.spans.stmt(stmt).start;
        let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &self.text[line..start];
        indent.chars().all(|c| c == ' ' || c == '\t').then_some((line, indent))
    }

    fn line_above(&self, expr: ExprId, new: &str) -> Option<Edit> {
        let (line, indent) = self.line_of(self.statement(expr)?)?;
        Some((TextRange::empty(self.placed.start + line), format!("{indent}{new}\n")))
    }

    fn line_below(&self, expr: ExprId, new: &str) -> Option<Edit> {
        let stmt = self.statement(expr)?;
        let (_, indent) = self.line_of(stmt)?;
        let end = self.placed.spans.stmt(stmt).end;
        // After a comment on the same line, but not after another statement.
        let rest = self.text[end..].split('\n').next().unwrap_or_default();
        let nothing_else = rest.trim().is_empty() || rest.trim_start().starts_with('#');
        nothing_else.then(|| (TextRange::empty(self.placed.start + end + rest.len()), format!("\n{indent}{new}")))
    }

    /// A name that nothing in the kernel has.
    fn fresh(&self, name: &str) -> String {
        let is_taken =
            |name: &str| self.ast.exprs().any(|(_, expr)| matches!(expr, Expr::Name(other) if other == name));
        let numbered = (1..).map(|i| if i == 1 { name.to_owned() } else { format!("{name}_{i}") });
        numbered.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// The name of an allocation that stands alone: `name = tlx.local_alloc(…)`.
    fn sole_name(&self, id: BufferId) -> Option<&'a str> {
        let call = self.allocation(id)?;
        let Stmt::Assign { targets, value: Some(value), .. } = self.ast.stmt(self.statement(call.at)?) else {
            return None;
        };
        let [target] = targets.as_slice() else { return None };
        self.ast.name(*target).filter(|_| *value == call.at)
    }

    fn tlx_name(&self) -> Option<&'a str> {
        self.imports.name_of("triton.language.extra.tlx")
    }

    // The fixes

    /// `storage=` as what is reused has it.
    fn storage(&self, finding: &Finding) -> Option<(String, Vec<Edit>)> {
        let Origin::Expr(reuse) = finding.at else { return None };
        let id = self
            .kernel()
            .buffer_ids()
            .find(|&id| self.allocation(id).and_then(|call| call.argument("reuse", 4)) == Some(reuse))?;
        let (call, storage) = (self.allocation(id)?, self.kernel().buffer(id).storage.clone().ok()?);
        let new = format!("{}.storage_kind.{storage}", self.tlx_name()?);
        let edit = match call.argument("storage", 3) {
            Some(old) => (self.range(old), new.clone()),
            None => self.behind(reuse, format!(", storage={new}")),
        };
        Some((format!("Allocate in {storage}"), vec![edit]))
    }

    /// The buffer as a further element of the outermost group.
    fn missing_leaf(&self, finding: &Finding) -> Option<(String, Vec<Edit>)> {
        let id = self.kernel().buffer_ids().find(|&id| self.kernel().buffer(id).at == finding.at)?;
        let Backing::Spec(spec) = self.kernel().buffer(id).backing else { return None };
        let root = self.root(spec)?;
        let (name, call) = (self.sole_name(id)?, self.group(root)?);
        let last = call.positional().last()?;
        if self.range(self.allocation(id)?.at).start > self.range(call.at).start {
            return None;
        }
        let mut kernel = self.kernel().clone();
        kernel.groups[root.0 as usize].elements.push(Element::Leaf { buffer: id, at: finding.at, view: false });
        self.is_sound(&kernel, spec).then_some(())?;
        let spec = &self.kernel().spec(spec).name;
        Some((format!("Add `{name}` to the reuse group of `{spec}`"), vec![self.behind(last, format!(", {name}"))]))
    }

    fn root(&self, spec: SpecId) -> Option<GroupId> {
        let overlap = self.kernel().overlaps.iter().find(|overlap| overlap.spec == spec)?;
        overlap.group.clone().ok()
    }

    /// The compiler gets through the steps of a spec, and finds no overlap.
    fn is_sound(&self, kernel: &Kernel, spec: SpecId) -> bool {
        let plan = tlx::plan(kernel, self.tlx.plan.arch, self.tlx.plan.rules);
        let errors = |findings: &[Finding]| findings.iter().filter(|f| f.severity == Severity::Error).count();
        plan.spec(spec).is_some_and(|plan| plan.trouble.is_empty())
            && errors(&plan.findings) <= errors(&self.tlx.plan.findings)
    }

    /// Leaves in decreasing order, or leaves that fill up the group.
    fn divisible(&self, finding: &Finding) -> Vec<(String, Vec<Edit>)> {
        let Some(id) = self.kernel().buffer_ids().find(|&id| self.kernel().buffer(id).at == finding.at) else {
            return Vec::new();
        };
        let Backing::Spec(spec) = self.kernel().buffer(id).backing else { return Vec::new() };
        let Some(Ok(tree)) = self.tlx.plan.spec(spec).and_then(|plan| plan.tree.as_ref()) else { return Vec::new() };
        let Some(root) = self.root(spec) else { return Vec::new() };
        let sorted = self.sorted(spec, root, tree);
        sorted.into_iter().chain(self.padded(spec, root, tree)).collect()
    }

    /// Every distinct group with its largest elements first.
    fn sorted(&self, spec: SpecId, root: GroupId, tree: &Tree) -> Option<(String, Vec<Edit>)> {
        let mut kernel = self.kernel().clone();
        let mut edits = Vec::new();
        self.sort(&mut kernel, root, &tree.root, tree, &mut edits)?;
        if edits.is_empty() || !self.is_sound(&kernel, spec) {
            return None;
        }
        Some(("Put the larger members of the distinct group first".to_owned(), edits))
    }

    fn sort(&self, kernel: &mut Kernel, group: GroupId, node: &Node, tree: &Tree, edits: &mut Vec<Edit>) -> Option<()> {
        let Node::Group { kind, children, .. } = node else { return Some(()) };
        let elements = self.kernel().group(group).elements.clone();
        for (element, child) in elements.iter().zip(children) {
            if let Element::Group(inner) = element {
                self.sort(kernel, *inner, child, tree, edits)?;
            }
        }
        let mut order: Vec<usize> = (0..children.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(tree.node_size(&children[i])));
        if *kind == GroupKind::Shared || order.is_sorted() {
            return Some(());
        }
        let args: Vec<ExprId> = self.group(group)?.positional().collect();
        // Nested groups that are written in place move with their text, so only one of the two may change.
        let nested = edits.iter().any(|(range, _)| args.iter().any(|&arg| self.range(arg).intersects(*range)));
        if args.len() != children.len() || nested {
            return None;
        }
        kernel.groups[group.0 as usize].elements = order.iter().map(|&i| elements[i].clone()).collect();
        let moved = order.iter().enumerate().filter(|&(to, &from)| to != from);
        edits.extend(moved.map(|(to, &from)| (self.range(args[to]), self.slice(args[from]).to_owned())));
        Some(())
    }

    /// Leaves without a use, after which the tree is a multiple of its largest buffer.
    fn padded(&self, spec: SpecId, root: GroupId, tree: &Tree) -> Option<(String, Vec<Edit>)> {
        let spec_of = self.kernel().spec(spec);
        if spec_of.storage != Ok(Storage::Smem) || spec_of.explicit.is_some() {
            return None;
        }
        let group = self.widest_distinct(root, &tree.root, tree)?;
        let largest = tree.leaves().iter().filter_map(|&leaf| Some(self.tlx.plan.place(leaf)?.sized.unit)).max()?;
        let stride = self.tlx.plan.spec(spec)?.stride?;
        let missing = stride.checked_next_multiple_of(largest)? - stride;
        let like = tree.leaves().into_iter().find(|&leaf| {
            let placement = self.tlx.plan.place(leaf).and_then(|place| place.placement);
            placement.is_some_and(|placement| placement.group_size == 1)
        })?;
        let num = self.slice(self.allocation(like)?.argument("num", 2)?);
        let tl = self.imports.name_of("triton.language")?;
        let (call, overlap) = (self.group(group)?, self.kernel().overlaps.iter().find(|overlap| overlap.spec == spec)?);
        let Origin::Expr(overlap_at) = overlap.at else { return None };
        let (mut kernel, mut lines, mut names) = (self.kernel().clone(), Vec::new(), Vec::new());
        // The smallest first, so that each starts at a multiple of its own size.
        for bit in (0..u64::BITS).filter(|bit| missing & (1 << bit) != 0) {
            let bytes = 1_u64 << bit;
            let name = if missing.is_power_of_two() { "padding".to_owned() } else { format!("padding_{bytes}") };
            let name = self.fresh(&name);
            lines.push(format!(
                "{name} = {}.local_alloc(({bytes},), {tl}.uint8, {num}, reuse={})",
                self.tlx_name()?,
                spec_of.name
            ));
            let buffer = BufferId(kernel.buffers.len() as u32);
            let count = self.kernel().buffer(like).num.clone();
            kernel.buffers.push(padding(self.kernel().buffer(like), name.clone(), bytes, count, spec));
            let leaf = Element::Leaf { buffer, at: overlap.at, view: false };
            kernel.groups[group.0 as usize].elements.push(leaf);
            names.push(name);
        }
        if names.is_empty() || !self.is_sound(&kernel, spec) {
            return None;
        }
        // The group may be written above the overlap: the allocations go above the group.
        let first = if self.range(call.at).start < self.range(overlap_at).start { call.at } else { overlap_at };
        let (_, indent) = self.line_of(self.statement(first)?)?;
        let above = self.line_above(first, &lines.join(&format!("\n{indent}")))?;
        let member = self.behind(call.positional().last()?, format!(", {}", names.join(", ")));
        Some((format!("Pad the distinct group with {missing} bytes"), vec![above, member]))
    }

    /// The distinct group that decides the size of the tree.
    fn widest_distinct(&self, group: GroupId, node: &Node, tree: &Tree) -> Option<GroupId> {
        let Node::Group { kind, children, .. } = node else { return None };
        if *kind == GroupKind::Distinct {
            return Some(group);
        }
        let elements = self.kernel().group(group).elements.iter().zip(children);
        let (element, child) = elements.max_by_key(|(_, child)| tree.node_size(child))?;
        match element {
            Element::Group(inner) => self.widest_distinct(*inner, child, tree),
            _ => None,
        }
    }

    /// `buffer_size_bytes` as large as the compiler asks for.
    fn larger_spec(&self, finding: &Finding) -> Option<(String, Vec<Edit>)> {
        let plan = self.tlx.plan.specs.iter().find(|plan| self.kernel().spec(plan.spec).at == finding.at)?;
        let required = plan.size.as_ref().ok()?.required;
        let call = self.call(finding.at, "tlx.storage_alias_spec")?;
        let old = call.argument("buffer_size_bytes", 1)?;
        Some((format!("Make `buffer_size_bytes` {required}"), vec![(self.range(old), required.to_string())]))
    }

    /// The size that the spec is rounded up to anyway.
    fn power_of_two(&self, finding: &Finding) -> Option<(String, Vec<Edit>)> {
        let plan = self.tlx.plan.specs.iter().find(|plan| self.kernel().spec(plan.spec).at == finding.at)?;
        if self.kernel().spec(plan.spec).storage != Ok(Storage::Smem) {
            return None;
        }
        let rounded = plan.size.as_ref().ok()?.bytes.checked_next_power_of_two()?;
        let call = self.call(finding.at, "tlx.storage_alias_spec")?;
        let edit = match (call.argument("buffer_size_bytes", 1), call.args.last()) {
            (Some(old), _) => (self.range(old), rounded.to_string()),
            (None, Some(last)) => self.behind(last.value, format!(", buffer_size_bytes={rounded}")),
            (None, None) => {
                let end = self.range(call.at).end;
                (TextRange::empty(end - 1), format!("buffer_size_bytes={rounded}"))
            }
        };
        Some((format!("Make `buffer_size_bytes` {rounded}"), vec![edit]))
    }

    /// A spec that the base and all of its aliases share instead of the base alone. Where all have as many buffers, it may have
    /// a shared group too; where they have not, the author scales the indices by hand, and the group would scale them again.
    fn migrate(&self, finding: &Finding) -> Vec<(String, Vec<Edit>)> {
        let kernel = self.kernel();
        let Some(alias) = kernel.buffer_ids().find(|&id| kernel.buffer(id).at == finding.at) else { return Vec::new() };
        let base = self.base(alias);
        let aliases: Vec<_> = kernel.buffer_ids().filter(|&id| id != base && self.base(id) == base).collect();
        let Some((spec, mut edits)) = self.spec_for(base) else { return Vec::new() };
        for &alias in &aliases {
            let reuse = self.allocation(alias).and_then(|call| call.argument("reuse", 4));
            let Some(reuse) = reuse else { return Vec::new() };
            edits.push((self.range(reuse), spec.clone()));
        }
        let bare = (format!("Make all allocations reuse the spec `{spec}`"), edits.clone());
        let shared = || {
            let num = kernel.buffer(base).num.as_ref().ok()?;
            let all_have = aliases.iter().all(|&alias| kernel.buffer(alias).num.as_ref().ok() == Some(num));
            let is_new = matches!(kernel.buffer(base).backing, Backing::Own);
            let members = [base].into_iter().chain(aliases.iter().copied());
            let names: Vec<_> = members.map(|id| self.sole_name(id)).collect::<Option<_>>()?;
            let last = self.allocation(*aliases.last()?)?.at;
            let tlx = self.tlx_name()?;
            let definition = format!(
                "{spec}.set_buffer_overlap({tlx}.reuse_group({}, group_type={tlx}.reuse_group_type.shared))",
                names.join(", ")
            );
            let mut edits = edits.clone();
            edits.push(self.line_below(last, &definition).filter(|_| all_have && is_new)?);
            Some((format!("Make all allocations reuse the spec `{spec}`, buffer by buffer"), edits))
        };
        [Some(bare), shared()].into_iter().flatten().collect()
    }

    fn base(&self, mut id: BufferId) -> BufferId {
        while let Backing::Alias(base) = self.kernel().buffer(id).backing {
            if base >= id {
                break;
            }
            id = base;
        }
        id
    }

    /// The spec of a base, and the edits that give it one if it has none.
    fn spec_for(&self, base: BufferId) -> Option<(String, Vec<Edit>)> {
        let buffer = self.kernel().buffer(base);
        if let Backing::Spec(spec) = buffer.backing {
            return Some((self.kernel().spec(spec).name.clone(), Vec::new()));
        }
        let (call, storage) = (self.allocation(base)?, buffer.storage.clone().ok()?);
        let tlx = self.tlx_name()?;
        let spec = self.fresh(&format!("{}_storage_alias", self.sole_name(base)?));
        let line = format!("{spec} = {tlx}.storage_alias_spec(storage={tlx}.storage_kind.{storage})");
        let last = call.args.last()?.value;
        Some((spec.clone(), vec![self.line_above(call.at, &line)?, self.behind(last, format!(", reuse={spec}"))]))
    }
}

fn padding(like: &Buffer, name: String, bytes: u64, num: tlx::kernel::Known<u64>, spec: SpecId) -> Buffer {
    Buffer {
        name,
        at: like.at,
        name_at: like.name_at,
        storage: Ok(Storage::Smem),
        shape: Ok(vec![bytes]),
        dtype: Ok(Dtype::BYTE),
        num,
        backing: Backing::Spec(spec),
        kind: BufferKind::Data,
        pair: Pair::None,
        layout: Layout::Default,
        certain: true,
        used: true,
        scales: false,
    }
}
