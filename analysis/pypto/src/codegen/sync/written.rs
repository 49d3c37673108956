//! Flags and barriers that the author wrote: whether every set has its wait, and between which pipes.
//!
//! Three-valued, like all else: a flag is certainly paired, certainly not, or tilefit cannot know. The kernel's flags are
//! executed for every choice at its branches, where equal conditions choose alike, and for one to three iterations of loops whose
//! bounds are not constant. A flag below a branch inside of a loop is beyond that; of it only what no run could fix is said.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_python::finding::{Finding, Related};
use tilefit_python::work;

use super::state::{Flag, PIPES};
use super::{Change, Repair};
use crate::codegen::sequence::{By, Loop, Missing, Order, OrderedBy, Pipe, Program, Step, Sync};

/// Iterations after which a flag's state repeats.
const TRIPS: u64 = 3;
/// Conditions whose combinations are tried.
const CONDITIONS: usize = 6;

/// The author's flags, each as often as it occurs.
pub(super) struct Written {
    sets: Vec<(Flag, Origin)>,
    waits: Vec<(Flag, Origin)>,
    /// Within one pipe, and of all pipes.
    barriers: usize,
    barriers_of_all: usize,
    /// Flags whose pairing depends on what is not known.
    uncertain: FxHashSet<Flag>,
    /// The loops around each of them, the outermost first.
    loops: FxHashMap<Origin, Vec<Origin>>,
    /// Conditions of the branches around flags.
    conditions: Vec<String>,
    /// A part of the kernel has no instructions, or leaves a loop early.
    incomplete: bool,
    jumps: bool,
    /// Pipes that have instructions.
    pipes: [bool; PIPES],
}

impl Written {
    pub(super) fn of(program: &Program) -> Written {
        let mut written = Written {
            sets: Vec::new(),
            waits: Vec::new(),
            barriers: 0,
            barriers_of_all: 0,
            uncertain: FxHashSet::default(),
            loops: FxHashMap::default(),
            conditions: Vec::new(),
            incomplete: false,
            jumps: false,
            pipes: [false; PIPES],
        };
        written.collect(&program.body, &mut Vec::new(), false);
        written
    }

    /// Whether the author sees to orders of this kind. Who writes barriers within a pipe leaves the pipes to the compiler.
    pub(super) fn orders(&self, order: &Order) -> bool {
        let between_pipes = !self.sets.is_empty() || !self.waits.is_empty() || self.barriers_of_all > 0;
        between_pipes || self.barriers > 0 && matches!(order.by, OrderedBy::Barrier(_))
    }

    pub(super) fn flags(&self) -> FxHashSet<Flag> {
        self.sets.iter().chain(&self.waits).map(|(flag, _)| *flag).collect()
    }

    fn collect(&mut self, steps: &[Step], around: &mut Vec<Origin>, uncertain: bool) {
        let in_loop = !around.is_empty();
        for step in steps {
            match step {
                Step::Instr(instr) => self.pipes[instr.pipe as usize] = true,
                Step::Sync(sync, By::Author(origin)) => {
                    self.add(*sync, *origin, uncertain);
                    if in_loop {
                        self.loops.insert(*origin, around.clone());
                    }
                }
                Step::Sync(_, By::Stage(_)) | Step::Local { .. } | Step::Declare(_) => {}
                Step::Missing { what, .. } => {
                    self.incomplete = true;
                    self.jumps |= *what == Missing::Jump;
                }
                Step::Loop(node) => {
                    around.push(node.origin);
                    self.collect(&node.body, around, uncertain);
                    around.pop();
                }
                Step::If(node) => {
                    let before = self.sets.len() + self.waits.len();
                    self.collect(&node.then, around, uncertain || in_loop);
                    self.collect(node.otherwise.as_deref().unwrap_or_default(), around, uncertain || in_loop);
                    let holds_flags = self.sets.len() + self.waits.len() > before;
                    if holds_flags && !in_loop && !self.conditions.contains(&node.condition.text) {
                        self.conditions.push(node.condition.text.clone());
                    }
                }
            }
        }
    }

    fn add(&mut self, sync: Sync, origin: Origin, uncertain: bool) {
        let (flag, sites) = match sync {
            Sync::Set { src, dst, event } => ((src, dst, event), &mut self.sets),
            Sync::Wait { src, dst, event } => ((src, dst, event), &mut self.waits),
            Sync::Barrier(pipe) => {
                let count = if pipe.is_some() { &mut self.barriers } else { &mut self.barriers_of_all };
                *count += 1;
                return;
            }
        };
        sites.push((flag, origin));
        if uncertain {
            self.uncertain.insert(flag);
        }
    }

    /// What is wrong with them, and how to fix it.
    pub(super) fn findings(&self, program: &Program) -> Vec<(Finding, Repair)> {
        let mut found = FindingsWithRepairs::default();
        self.without_partner(&mut found);
        self.executed(program, &mut found);
        self.between_wrong_pipes(&mut found);
        let mut findings = found.0;
        findings.sort_by(|(a, _), (b, _)| (a.at, &a.message).cmp(&(b.at, &b.message)));
        findings.dedup();
        findings
    }

    /// Sets of flags that nothing ever waits for, and the reverse: the halves of one pair, or each by itself.
    fn without_partner(&self, found: &mut FindingsWithRepairs) {
        let lone = |sites: &[(Flag, Origin)], others: &[(Flag, Origin)]| {
            let has_partner = |flag: Flag| others.iter().any(|(other, _)| *other == flag);
            sites.iter().copied().filter(|(flag, _)| !has_partner(*flag)).collect::<Vec<_>>()
        };
        let mut sets = lone(&self.sets, &self.waits);
        for (wait, at) in lone(&self.waits, &self.sets) {
            match sets.iter().position(|(set, _)| is_slip(*set, wait)) {
                Some(partner) => {
                    let (set, set_at) = sets.remove(partner);
                    found.mismatch((wait, at), (set, set_at));
                }
                None => found.never_set(wait, at),
            }
        }
        for (set, at) in sets {
            found.never_awaited(set, at);
        }
    }

    /// Flags that have both halves, in every run that is tried.
    fn executed(&self, program: &Program, found: &mut FindingsWithRepairs) {
        if self.jumps || self.conditions.len() > CONDITIONS {
            return;
        }
        let (sets, waits): (FxHashSet<Flag>, FxHashSet<Flag>) =
            (self.sets.iter().map(|it| it.0).collect(), self.waits.iter().map(|it| it.0).collect());
        let tried: FxHashSet<Flag> =
            sets.intersection(&waits).copied().filter(|flag| !self.uncertain.contains(flag)).collect();
        if tried.is_empty() {
            return;
        }
        for trips in 1..=TRIPS {
            for choices in 0..1u32 << self.conditions.len() {
                let mut run = Run { written: self, tried: &tried, trips, choices, bodies: FxHashMap::default(), found };
                let mut set = FlagsSet::new();
                run.steps(&program.body, &mut set);
                run.end(&set);
            }
        }
    }

    /// What may pair a wait that nothing was set for.
    fn to_pair_wait(&self, flag: Flag, at: Origin) -> Repair {
        let (src, dst, event) = flag;
        let half = Sync::Set { src, dst, event };
        let around = self.loops.get(&at).into_iter().flatten().find(|node| {
            let is_within = |(other, set): &&(Flag, Origin)| {
                *other == flag && self.loops.get(set).is_some_and(|loops| loops.contains(node))
            };
            self.sets.iter().any(|set| is_within(&set))
        });
        let around = around.map(|node| Change::Around { node: *node, flag });
        let mut changes: Vec<Change> = around.into_iter().collect();
        changes.push(Change::Before(half));
        changes.push(Change::Beside { half, before: true, away: places(&self.sets, flag) });
        changes.push(Change::Without { flags: vec![at], barrier: None });
        Repair::Perhaps(changes)
    }

    /// What may pair a set that nothing waited for.
    fn to_pair_set(&self, flag: Flag, at: Origin) -> Repair {
        let (src, dst, event) = flag;
        let half = Sync::Wait { src, dst, event };
        Repair::Perhaps(vec![
            Change::Behind(half),
            Change::Beside { half, before: false, away: places(&self.waits, flag) },
            Change::Without { flags: vec![at], barrier: None },
        ])
    }

    fn between_wrong_pipes(&self, found: &mut FindingsWithRepairs) {
        for &(flag, at) in self.sets.iter().chain(&self.waits) {
            let (src, dst, _) = flag;
            let (sets, waits) = (places(&self.sets, flag), places(&self.waits, flag));
            if src == dst {
                let barrier = match src {
                    Pipe::V => "; a barrier within it is `pl.system.bar_v()`",
                    Pipe::M => "; a barrier within it is `pl.system.bar_m()`",
                    _ => ", whose instructions run in order anyway",
                };
                let message =
                    format!("a flag orders two different pipes, but this one is from {0} to {0}{barrier}", src.name());
                let change = match src.in_order() {
                    true => Change::Without { flags: [sets, waits].concat(), barrier: None },
                    false => Change::Without { flags: sets, barrier: Some((src, waits)) },
                };
                found.push(Code::WrongPipe, at, message).1 = Repair::Certain(change);
                continue;
            }
            let idle = [src, dst].into_iter().find(|pipe| *pipe != Pipe::S && !self.pipes[*pipe as usize]);
            if let (Some(idle), false) = (idle, self.incomplete) {
                let message = format!("no instruction of this kernel runs on {}: the flag orders nothing", idle.name());
                let change = Change::Without { flags: [sets, waits].concat(), barrier: None };
                found.push(Code::WrongPipe, at, message).1 = Repair::Certain(change);
            }
        }
    }
}

/// Where a flag is set, or waited for.
fn places(sites: &[(Flag, Origin)], flag: Flag) -> Vec<Origin> {
    sites.iter().filter(|(other, _)| *other == flag).map(|(_, at)| *at).collect()
}

/// Whether two flags are one but for a slip: one value, or the pipes exchanged.
fn is_slip(a: Flag, b: Flag) -> bool {
    let differences = usize::from(a.0 != b.0) + usize::from(a.1 != b.1) + usize::from(a.2 != b.2);
    differences == 1 || (a.0, a.1, a.2) == (b.1, b.0, b.2)
}

fn name((src, dst, event): Flag) -> String {
    format!("{} → {}, EVENT_ID{event}", src.short_name(), dst.short_name())
}

#[derive(Default)]
struct FindingsWithRepairs(Vec<(Finding, Repair)>);

impl FindingsWithRepairs {
    fn push(&mut self, code: Code, at: Origin, message: String) -> &mut (Finding, Repair) {
        let finding = Finding::new(code, at, message);
        self.0.push((finding, Repair::Nothing));
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    fn push_with(&mut self, code: Code, at: Origin, message: String, related: (Origin, String), repair: Repair) {
        let (finding, fixes) = self.push(code, at, message);
        finding.related.push(Related { at: related.0, message: related.1 });
        *fixes = repair;
    }

    fn never_set(&mut self, flag: Flag, at: Origin) {
        let (src, dst, event) = flag;
        let message = format!("waits for {}, which nothing sets: the kernel would hang", name(flag));
        let change = Change::Before(Sync::Set { src, dst, event });
        self.push(Code::UnpairedFlag, at, message).1 = Repair::Certain(change);
    }

    fn never_awaited(&mut self, flag: Flag, at: Origin) {
        let (src, dst, event) = flag;
        let message = format!("sets {}, but nothing waits for it", name(flag));
        let change = Change::Behind(Sync::Wait { src, dst, event });
        self.push(Code::UnpairedFlag, at, message).1 = Repair::Certain(change);
    }

    fn mismatch(&mut self, (wait, at): (Flag, Origin), (set, set_at): (Flag, Origin)) {
        let code = if (wait.0, wait.1) == (set.0, set.1) { Code::UnpairedFlag } else { Code::WrongPipe };
        let message = format!(
            "waits for {}, which nothing sets: the kernel would hang; {} is set and never waited for",
            name(wait),
            name(set)
        );
        self.push_with(
            code,
            at,
            message,
            (set_at, format!("{} is set here", name(set))),
            Repair::Certain(Change::Become(set)),
        );
    }
}

/// One run of the kernel, of which only the flags count.
struct Run<'a> {
    written: &'a Written,
    tried: &'a FxHashSet<Flag>,
    /// Of loops whose bounds are not constant.
    trips: u64,
    /// Bit k: what the k-th condition is.
    choices: u32,
    /// What the bodies of loops leave set of what is set before them. After its first iteration a loop finds what it leaves itself, so that
    /// loops in loops are executed for few different beginnings, however deep they are.
    bodies: FxHashMap<(*const Loop, FlagsSet), FlagsSet>,
    found: &'a mut FindingsWithRepairs,
}

/// The flags that are set, and where.
type FlagsSet = BTreeMap<Flag, Origin>;

impl Run<'_> {
    fn steps(&mut self, steps: &[Step], set: &mut FlagsSet) {
        for step in steps {
            work::spend(1);
            match step {
                Step::Sync(sync, By::Author(origin)) => self.sync(*sync, *origin, set),
                Step::Loop(node) => {
                    for _ in 0..node.trips().unwrap_or(self.trips).min(TRIPS) {
                        self.iteration(node, set);
                    }
                }
                Step::If(node) => {
                    // One that is not among the conditions holds no flag, or only such as are not tried.
                    let condition =
                        self.written.conditions.iter().position(|condition| *condition == node.condition.text);
                    if condition.is_none_or(|bit| self.choices >> bit & 1 == 0) {
                        self.steps(&node.then, set);
                    } else {
                        self.steps(node.otherwise.as_deref().unwrap_or_default(), set);
                    }
                }
                _ => {}
            }
        }
    }

    fn iteration(&mut self, node: &Loop, set: &mut FlagsSet) {
        let beginning = (std::ptr::from_ref(node), set.clone());
        if let Some(end) = self.bodies.get(&beginning) {
            set.clone_from(end);
            return;
        }
        self.steps(&node.body, set);
        self.bodies.insert(beginning, set.clone());
    }

    fn sync(&mut self, sync: Sync, at: Origin, set: &mut FlagsSet) {
        match sync {
            Sync::Set { src, dst, event } if self.tried.contains(&(src, dst, event)) => {
                let flag = (src, dst, event);
                if let Some(before) = set.insert(flag, at) {
                    let repair = self.written.to_pair_set(flag, at);
                    let again = if before == at { " in the next iteration," } else { "" };
                    let message = format!("sets {} again,{again} before anything has waited for it", name(flag));
                    self.found.push_with(Code::UnpairedFlag, at, message, (before, "set here".to_owned()), repair);
                }
            }
            Sync::Wait { src, dst, event } if self.tried.contains(&(src, dst, event)) => {
                let flag = (src, dst, event);
                if set.remove(&flag).is_none() {
                    let message =
                        format!("waits for {}, but on some paths nothing sets it: the kernel would hang", name(flag));
                    let sites = &self.written.sets;
                    let set = sites.iter().find(|(other, _)| *other == flag).map_or(at, |(_, at)| *at);
                    let repair = self.written.to_pair_wait(flag, at);
                    self.found.push_with(Code::UnpairedFlag, at, message, (set, "set here".to_owned()), repair);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, set: &FlagsSet) {
        for (flag, at) in set {
            let message = format!("sets {}, but on some paths nothing waits for it", name(*flag));
            let sites = &self.written.waits;
            let wait = sites.iter().find(|(other, _)| other == flag).map_or(*at, |(_, at)| *at);
            let repair = self.written.to_pair_set(*flag, *at);
            self.found.push_with(Code::UnpairedFlag, *at, message, (wait, "waited for here".to_owned()), repair);
        }
    }
}
