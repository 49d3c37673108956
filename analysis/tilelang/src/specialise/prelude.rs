//! Where the statements around the divided loop go: what only consumers need goes to them, and so does all that follows
//! (docs/reference/tilelang.md, "4. Order of events and live intervals").

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::program::{BufferId, Kind, Launch};
use crate::steps::{Form, Guard, Repeat, Step, Steps, is_private};

/// The two loops that one has become.
pub(super) struct Divided<'p> {
    /// Of the loop that it was.
    pub number: usize,
    pub copying: Rc<Step<'p>>,
    pub computing: Rc<Step<'p>>,
}

/// The statements before a loop, through every `if` around it; `None` where another loop is around it.
pub(super) fn in_front_of<'p>(steps: &[Rc<Step<'p>>], number: usize) -> Option<Steps<'p>> {
    for (i, step) in steps.iter().enumerate() {
        let inside = match &step.form {
            Form::Loop(repeat) if repeat.number == number => Some(Vec::new()),
            Form::If(guard) => in_front_of(&guard.then, number).or_else(|| in_front_of(&guard.otherwise, number)),
            _ => None,
        };
        if let Some(inside) = inside {
            return Some(steps[..i].iter().cloned().chain(inside).collect());
        }
    }
    None
}

/// Registers that a statement takes values from, and those that it gives new ones.
struct Registers {
    used: BTreeSet<BufferId>,
    set: BTreeSet<BufferId>,
}

fn registers(launch: &Launch, step: &Step) -> Registers {
    let mut registers = Registers { used: BTreeSet::new(), set: BTreeSet::new() };
    for numbered in step.ops() {
        let op = numbered.op;
        let private = |buffer: &BufferId| is_private(launch, *buffer);
        let reads = op.reads.iter().map(|region| region.buffer).filter(private);
        let writes = op.writes.iter().map(|region| region.buffer).filter(private);
        registers.used.extend(reads);
        // Of all other operations the compiler takes what they write for something that they read.
        let sets =
            op.is_copy() || matches!(op.kind, Kind::Gemm(_) | Kind::Fill | Kind::Parallel { .. } | Kind::Store { .. });
        if sets { registers.set.extend(writes) } else { registers.used.extend(writes) }
    }
    if let Form::If(Guard { of: Some(branch), .. }) = &step.form {
        let condition = branch.reads.iter().map(|region| region.buffer);
        registers.used.extend(condition.filter(|&buffer| is_private(launch, buffer)));
    }
    registers
}

/// Registers that are still needed behind a place, and by whom.
#[derive(Default)]
struct Needed {
    by_all: BTreeSet<BufferId>,
    by_producer: BTreeSet<BufferId>,
    by_consumer: BTreeSet<BufferId>,
}

enum Place {
    Before,
    Producer,
    Consumer,
    Both,
}

impl Needed {
    fn place(&self, registers: &Registers) -> Place {
        let needs = |needed: &BTreeSet<BufferId>| !needed.is_disjoint(&registers.set);
        match (needs(&self.by_all), needs(&self.by_producer), needs(&self.by_consumer)) {
            (true, ..) | (_, false, false) => Place::Before,
            (_, true, true) => Place::Both,
            (_, true, false) => Place::Producer,
            (_, false, true) => Place::Consumer,
        }
    }

    /// Goes back over a statement before the loop.
    fn go_back(&mut self, registers: &Registers) {
        let needs = |needed: &BTreeSet<BufferId>| !needed.is_disjoint(&registers.set);
        let (producer, consumer) = (needs(&self.by_producer), needs(&self.by_consumer));
        if needs(&self.by_all) || !producer && !consumer {
            self.by_all.extend(&registers.used);
        }
        if producer {
            self.by_producer.extend(&registers.used);
        }
        if consumer {
            self.by_consumer.extend(&registers.used);
        }
    }
}

impl<'p> Divided<'p> {
    pub(super) fn put_into(self, launch: &Launch, steps: &Steps<'p>) -> Steps<'p> {
        let needed = Needed {
            by_all: BTreeSet::new(),
            by_producer: registers(launch, &self.copying).used,
            by_consumer: registers(launch, &self.computing).used,
        };
        let mut putting = Putting { launch, number: self.number, needed, first: Vec::new(), then: Vec::new() };
        let Some(steps) = putting.replaced(steps) else { return steps.clone() };
        let producer = putting.first.into_iter().chain([self.copying]).collect();
        let consumer = putting.then.into_iter().chain([self.computing]).collect();
        with_roles(&steps, &mut Some((producer, consumer)))
    }
}

struct Putting<'l, 'p> {
    launch: &'l Launch,
    number: usize,
    needed: Needed,
    /// Before the producer's loop.
    first: Steps<'p>,
    /// Before the consumer's.
    then: Steps<'p>,
}

impl<'p> Putting<'_, 'p> {
    /// The statements with an empty [`Form::Roles`] in place of the loop; `None` where it is not among them.
    fn replaced(&mut self, steps: &[Rc<Step<'p>>]) -> Option<Steps<'p>> {
        let (at, with) = steps.iter().enumerate().find_map(|(i, step)| Some((i, self.replaced_in(step)?)))?;
        for behind in &steps[at + 1..] {
            let registers = registers(self.launch, behind);
            self.needed.by_consumer.extend(registers.used);
        }
        for before in steps[..at].iter().rev() {
            self.needed.go_back(&registers(self.launch, before));
        }
        let mut rebuilt = Vec::with_capacity(steps.len());
        for before in &steps[..at] {
            match self.needed.place(&registers(self.launch, before)) {
                Place::Before => rebuilt.push(before.clone()),
                Place::Producer => self.first.push(before.clone()),
                Place::Consumer => self.then.push(before.clone()),
                Place::Both => {
                    self.first.push(before.clone());
                    self.then.push(before.clone());
                }
            }
        }
        rebuilt.push(with);
        rebuilt.extend(
            steps[at + 1..]
                .iter()
                .map(|step| Step::new(Form::If(Guard { of: None, then: vec![step.clone()], otherwise: Vec::new() }))),
        );
        Some(rebuilt)
    }

    fn replaced_in(&mut self, step: &Rc<Step<'p>>) -> Option<Rc<Step<'p>>> {
        let form = match &step.form {
            Form::Loop(repeat) if repeat.number == self.number => {
                Form::Roles { producer: Vec::new(), consumer: Vec::new() }
            }
            Form::Loop(repeat) => Form::Loop(Repeat { body: self.replaced(&repeat.body)?, ..repeat.clone() }),
            Form::If(guard) => match self.replaced(&guard.then) {
                Some(then) => Form::If(Guard { then, ..guard.clone() }),
                None => Form::If(Guard { otherwise: self.replaced(&guard.otherwise)?, ..guard.clone() }),
            },
            _ => return None,
        };
        Some(Step::new(form))
    }
}

/// Fills the roles in; what follows them directly and is the consumers' goes in, too.
fn with_roles<'p>(steps: &[Rc<Step<'p>>], roles: &mut Option<(Steps<'p>, Steps<'p>)>) -> Steps<'p> {
    let mut rebuilt: Steps = Vec::with_capacity(steps.len());
    let mut rest = steps.iter();
    while let Some(step) = rest.next() {
        let form = match &step.form {
            Form::Roles { .. } => {
                let (producer, mut consumer) = roles.take().unwrap_or_default();
                let behind = rest.by_ref().map(|step| match &step.form {
                    Form::If(Guard { of: None, then, .. }) => then.clone(),
                    _ => vec![step.clone()],
                });
                consumer.extend(behind.flatten());
                Form::Roles { producer, consumer }
            }
            Form::Loop(repeat) => Form::Loop(Repeat { body: with_roles(&repeat.body, roles), ..repeat.clone() }),
            Form::If(guard) => {
                let (then, otherwise) = (with_roles(&guard.then, roles), with_roles(&guard.otherwise, roles));
                Form::If(Guard { of: guard.of, then, otherwise })
            }
            Form::Op(_) => {
                rebuilt.push(step.clone());
                continue;
            }
        };
        rebuilt.push(Step::new(form));
    }
    rebuilt
}
