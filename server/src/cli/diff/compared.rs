//! Which kernel of before is which one of now, and what changed.

use std::collections::{BTreeMap, BTreeSet};

use super::side::{Finding, Kernel, Space};

pub(in crate::cli) struct Compared {
    /// Kernels that are not as they were, by file and line.
    pub(in crate::cli) differences: Vec<Difference>,
    pub(in crate::cli) unchanged: usize,
}

/// A kernel that is not as it was.
pub(in crate::cli) struct Difference {
    /// `None` of one that is new.
    pub(in crate::cli) before: Option<Kernel>,
    /// `None` of one that is gone.
    pub(in crate::cli) after: Option<Kernel>,
}

/// A memory that is not filled as it was.
#[derive(PartialEq)]
pub(in crate::cli) struct MemoryChange<'d> {
    pub(in crate::cli) memory: &'d str,
    pub(in crate::cli) before: Option<Space>,
    pub(in crate::cli) after: Option<Space>,
}

impl MemoryChange<'_> {
    pub(in crate::cli) fn no_longer_fits(&self) -> bool {
        let is_over = |space: Option<Space>| space.is_some_and(|space| space.is_over());
        is_over(self.after) && !is_over(self.before)
    }

    pub(in crate::cli) fn fits_again(&self) -> bool {
        let is_over = |space: Option<Space>| space.is_some_and(|space| space.is_over());
        is_over(self.before) && !is_over(self.after)
    }
}

impl Compared {
    pub(in crate::cli) fn of(before: Vec<Kernel>, after: Vec<Kernel>) -> Compared {
        let mut named: BTreeMap<(String, String), [Vec<Kernel>; 2]> = BTreeMap::new();
        for (side, kernels) in [before, after].into_iter().enumerate() {
            for kernel in kernels {
                named.entry((kernel.file.clone(), kernel.name.clone())).or_default()[side].push(kernel);
            }
        }
        let mut all = Compared { differences: Vec::new(), unchanged: 0 };
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for [before, after] in named.into_values() {
            let (before_alone, after_alone) = all.pair(before, after);
            gone.extend(before_alone);
            new.extend(after_alone);
        }
        // A kernel may have moved to another file.
        for now in new {
            let moved = gone.iter().position(|then: &Kernel| then.name == now.name);
            match moved.map(|at| gone.remove(at)) {
                Some(then) if is_same(&then, &now) => all.unchanged += 1,
                then => all.differences.push(Difference { before: then, after: Some(now) }),
            }
        }
        all.differences.extend(gone.into_iter().map(|then| Difference { before: Some(then), after: None }));
        all.differences.sort_by_cached_key(|it| (it.kernel().file.clone(), it.kernel().line, it.kernel().name.clone()));
        all
    }

    /// Kernels of one name, of which there may be several: those that are as they were say nothing of the others, which are taken in
    /// their order. Returns those that only one side has.
    fn pair(&mut self, mut before: Vec<Kernel>, after: Vec<Kernel>) -> (Vec<Kernel>, Vec<Kernel>) {
        let mut others = Vec::new();
        for now in after {
            match before.iter().position(|then| is_same(then, &now)) {
                Some(at) => {
                    before.remove(at);
                    self.unchanged += 1;
                }
                None => others.push(now),
            }
        }
        let pairs = before.len().min(others.len());
        let both = before.drain(..pairs).zip(others.drain(..pairs));
        self.differences.extend(both.map(|(then, now)| Difference { before: Some(then), after: Some(now) }));
        (before, others)
    }

    pub(in crate::cli) fn no_longer_fits(&self) -> usize {
        let is_over = |it: &&Difference| it.memories().iter().any(MemoryChange::no_longer_fits);
        self.differences.iter().filter(is_over).count()
    }

    /// Each difference with the number of those that say the same of kernels at the same place.
    pub(super) fn alike(&self) -> Vec<(&Difference, usize)> {
        let mut first: Vec<(&Difference, usize)> = Vec::new();
        for difference in &self.differences {
            match first.last_mut() {
                Some((known, others)) if known.says_as(difference) => *others += 1,
                _ => first.push((difference, 0)),
            }
        }
        first
    }
}

/// Lines, and numbers in messages, change with every line that is added above.
fn is_same(before: &Kernel, after: &Kernel) -> bool {
    let about =
        |kernel: &Kernel| (kernel.spaces.clone(), kernel.status.clone(), kernel.target.clone(), kernel.planner.clone());
    about(before) == about(after) && codes(before) == codes(after)
}

fn codes(kernel: &Kernel) -> BTreeMap<&str, usize> {
    let mut codes = BTreeMap::new();
    kernel.diagnostics.iter().for_each(|finding| *codes.entry(finding.code.as_str()).or_default() += 1);
    codes
}

impl Difference {
    /// As it is now, or was.
    pub(in crate::cli) fn kernel(&self) -> &Kernel {
        self.after.as_ref().or(self.before.as_ref()).expect("a difference has a side")
    }

    pub(in crate::cli) fn memories(&self) -> Vec<MemoryChange<'_>> {
        let space =
            |kernel: &Option<Kernel>, memory: &str| kernel.as_ref().and_then(|it| it.spaces.get(memory)).copied();
        let sides = self.before.iter().chain(&self.after);
        let memories: BTreeSet<&str> = sides.flat_map(|kernel| kernel.spaces.keys().map(String::as_str)).collect();
        let change =
            |memory| MemoryChange { memory, before: space(&self.before, memory), after: space(&self.after, memory) };
        memories.into_iter().map(change).filter(|change| change.before != change.after).collect()
    }

    /// What is found now and was not before: of each code as many as there are more.
    pub(in crate::cli) fn new_findings(&self) -> Vec<&Finding> {
        more(self.after.as_ref(), self.before.as_ref())
    }

    /// The other way round.
    pub(in crate::cli) fn gone_findings(&self) -> Vec<&Finding> {
        more(self.before.as_ref(), self.after.as_ref())
    }

    /// `target`, `planner` and `status`, where they are others: what they were and what they are.
    pub(in crate::cli) fn terms(&self) -> Vec<(&'static str, &str, &str)> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let all = [
            ("file", before.file.as_str(), after.file.as_str()),
            ("target", &before.target, &after.target),
            ("planner", &before.planner, &after.planner),
            ("status", &before.status, &after.status),
        ];
        all.into_iter().filter(|(_, before, after)| before != after).collect()
    }

    fn says_as(&self, other: &Difference) -> bool {
        let place =
            |it: &Difference| (it.kernel().file.clone(), it.kernel().line, it.before.is_some(), it.after.is_some());
        let is_shown = !self.memories().is_empty();
        is_shown && place(self) == place(other) && self.memories() == other.memories() && self.terms() == other.terms()
    }
}

/// The findings of a kernel that another does not have.
fn more<'k>(of: Option<&'k Kernel>, than: Option<&Kernel>) -> Vec<&'k Finding> {
    let mut known = than.map(codes).unwrap_or_default();
    let said =
        |finding: &&Finding| than.is_some_and(|it| it.diagnostics.iter().any(|other| other.message == finding.message));
    // What says the same words is the same, of several with one code.
    let mut all: Vec<&Finding> = of.map(|it| it.diagnostics.iter().collect()).unwrap_or_default();
    all.sort_by_key(|finding| !said(finding));
    all.retain(|finding| match known.get_mut(finding.code.as_str()) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, used: u64) -> Kernel {
        let space = Space { used: Some(used), low: None, high: None, capacity: Some(100) };
        Kernel {
            file: "a.py".to_owned(),
            name: name.to_owned(),
            cell: None,
            line: 1,
            status: "exact".to_owned(),
            target: "t".to_owned(),
            planner: "p".to_owned(),
            spaces: BTreeMap::from([("Vec".to_owned(), space)]),
            diagnostics: Vec::new(),
        }
    }

    fn used(side: &Option<Kernel>) -> Option<u64> {
        side.as_ref().and_then(|kernel| kernel.spaces["Vec"].used)
    }

    #[track_caller]
    fn check(before: &[Kernel], after: &[Kernel], expected: &[(Option<u64>, Option<u64>)], unchanged: usize) {
        let compared = Compared::of(before.to_vec(), after.to_vec());
        let differences = compared.differences.iter().map(|it| (used(&it.before), used(&it.after)));
        assert_eq!(differences.collect::<Vec<_>>(), expected);
        assert_eq!(compared.unchanged, unchanged);
    }

    #[test]
    fn a_kernel_is_known_by_its_name_and_of_several_by_what_it_fills() {
        let k = |used| kernel("k", used);
        check(&[k(1)], &[k(1)], &[], 1);
        check(&[k(1)], &[k(2)], &[(Some(1), Some(2))], 0);
        check(&[k(1), k(2)], &[k(9), k(1), k(2)], &[(None, Some(9))], 2);
        check(&[k(1), k(2)], &[k(2)], &[(Some(1), None)], 1);
        check(&[k(1)], &[kernel("other", 1)], &[(Some(1), None), (None, Some(1))], 0);
        let moved = Kernel { file: "b.py".to_owned(), ..k(1) };
        check(&[k(1)], std::slice::from_ref(&moved), &[], 1);
        check(&[k(3)], &[moved], &[(Some(3), Some(1))], 0);
    }

    #[test]
    fn only_what_is_over_now_and_was_not_no_longer_fits() {
        let count = |before: u64, after: u64| {
            Compared::of(vec![kernel("k", before)], vec![kernel("k", after)]).no_longer_fits()
        };
        assert_eq!([count(90, 101), count(101, 120), count(120, 90), count(90, 100)], [1, 0, 0, 0]);
        assert_eq!(Compared::of(Vec::new(), vec![kernel("k", 101)]).no_longer_fits(), 1);
        let mut bounded = kernel("k", 0);
        let space = Space { used: None, low: Some(90), high: Some(200), capacity: Some(100) };
        bounded.spaces.insert("Vec".to_owned(), space);
        assert_eq!(Compared::of(vec![kernel("k", 90)], vec![bounded]).no_longer_fits(), 0);
    }

    #[test]
    fn findings_are_counted_by_code() {
        let with = |messages: &[&str]| {
            let finding = |message: &&str| Finding {
                code: "may-not-fit".to_owned(),
                severity: "warning".to_owned(),
                line: 1,
                message: (*message).to_owned(),
            };
            Kernel { diagnostics: messages.iter().map(finding).collect(), ..kernel("k", 1) }
        };
        let compared = Compared::of(vec![with(&["b", "line 3"])], vec![with(&["a", "b", "line 4"])]);
        let new: Vec<_> = compared.differences[0].new_findings().iter().map(|it| it.message.as_str()).collect();
        assert_eq!(new, ["line 4"]);
        assert!(compared.differences[0].gone_findings().is_empty());
        assert!(Compared::of(vec![with(&["line 3"])], vec![with(&["line 4"])]).differences.is_empty());
    }
}
