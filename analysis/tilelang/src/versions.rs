//! How many copies of its buffers a kernel has whose warps are specialised (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilefit_python::work;

use crate::program::{BufferId, Kind, Launch};
use crate::steps::{Form, Step, Steps, is_global, is_shared};

/// Which warps a statement is for, before they are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Neutral,
    Consumer,
    Producer,
    Both,
}

impl Role {
    fn with(self, other: Role) -> Role {
        match (self, other) {
            (role, Role::Neutral) | (Role::Neutral, role) => role,
            (one, two) if one == two => one,
            _ => Role::Both,
        }
    }
}

/// One statement of a pipelined loop's body, whatever guards it.
struct Flat {
    role: Role,
    reads: BTreeSet<BufferId>,
    writes: BTreeSet<BufferId>,
}

/// Copies of what one part of a pipelined loop's body fills and another one reads; of a buffer of several loops, those of the first.
pub(crate) fn of_pipelined_loops(launch: &Launch, steps: &Steps) -> BTreeMap<BufferId, u64> {
    let mut versions = BTreeMap::new();
    for step in steps {
        visit(launch, step, &mut versions);
    }
    versions
}

fn visit(launch: &Launch, step: &Step, versions: &mut BTreeMap<BufferId, u64>) {
    if let Form::Loop(repeat) = &step.form
        && repeat.stages >= 2
    {
        for buffer in versioned(launch, &repeat.body) {
            versions.entry(buffer).or_insert(repeat.stages);
        }
    }
    for inner in step.form.parts().into_iter().flatten() {
        visit(launch, inner, versions);
    }
}

fn versioned(launch: &Launch, body: &[Rc<Step>]) -> BTreeSet<BufferId> {
    let mut flat = Vec::new();
    flatten(launch, body, &mut flat);
    work::spend_on_pairs(flat.len());
    let is_copy = |statement: &Flat| {
        statement.writes.iter().any(|&written| is_shared(launch, written))
            && statement.reads.iter().any(|&read| is_global(launch, read))
    };
    let (mut filled, mut used): (BTreeSet<BufferId>, BTreeSet<BufferId>) = Default::default();
    let (mut first_write, mut last_read): (BTreeMap<BufferId, usize>, BTreeMap<BufferId, usize>) = Default::default();
    for (i, statement) in flat.iter().enumerate() {
        let fills = statement.role == Role::Producer || statement.role == Role::Both && is_copy(statement);
        if fills {
            filled.extend(&statement.writes);
        } else if statement.role != Role::Neutral {
            used.extend(&statement.reads);
        }
        statement.writes.iter().for_each(|&written| _ = first_write.entry(written).or_insert(i));
        last_read.extend(statement.reads.iter().map(|&read| (read, i)));
    }
    let touched: BTreeSet<BufferId> = first_write.keys().copied().filter(|&id| is_shared(launch, id)).collect();
    let is_versioned = |buffer: &BufferId| {
        let is_read_behind = || last_read.get(buffer).is_some_and(|&read| first_write[buffer] < read);
        filled.contains(buffer) && used.contains(buffer) || is_read_behind() && is_copy(&flat[first_write[buffer]])
    };
    touched.into_iter().filter(is_versioned).collect()
}

fn flatten(launch: &Launch, body: &[Rc<Step>], flat: &mut Vec<Flat>) {
    for step in body {
        match &step.form {
            Form::If(guard) => {
                flatten(launch, &guard.then, flat);
                flatten(launch, &guard.otherwise, flat);
            }
            Form::Loop(_) => flat.push(inside_loop(launch, step)),
            _ => {
                let role = role(launch, step);
                flat.push(Flat { role, reads: step.touched.seen.clone(), writes: step.touched.writes.clone() });
            }
        }
    }
}

/// In an inner loop the compiler looks for single elements.
fn inside_loop(launch: &Launch, step: &Step) -> Flat {
    let ops = step.ops();
    let stores = ops.iter().filter(|numbered| numbered.op.is_by_element());
    let writes = stores.flat_map(|store| store.op.writes.iter().map(|region| region.buffer)).collect();
    Flat { role: role(launch, step), reads: step.touched.seen.clone(), writes }
}

fn role(launch: &Launch, step: &Step) -> Role {
    let of = |op: &crate::program::Op| match op.kind {
        _ if op.is_binding() => Role::Neutral,
        Kind::Parallel { .. } | Kind::Store { .. } => {
            let fills_shared = op.writes.iter().any(|written| is_shared(launch, written.buffer));
            let reads_global_only = op.reads.iter().all(|read| is_global(launch, read.buffer));
            if fills_shared && reads_global_only { Role::Producer } else { Role::Consumer }
        }
        _ => Role::Consumer,
    };
    step.ops().into_iter().map(|numbered| of(numbered.op)).fold(Role::Neutral, Role::with)
}
