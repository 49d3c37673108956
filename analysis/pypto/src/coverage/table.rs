//! By what each mark was compared with the compiler: `compared.csv`, a row a mark and a column a setting.
//!
//! The rows of recorded answers are written by the test `conformance_pypto`, those of random kernels and of public repositories by
//! `cargo xtask differential`. `docs/coverage.md` is made of the same table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::marks::Mark;
use crate::target::{Planner, Target};

/// What the compiler was asked for; it answers differently for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    pub target: Target,
    /// The compiler's opt-in planner DSA_RP.
    pub dsa_rp: bool,
}

impl Setting {
    /// In the order of the columns.
    pub const ALL: [Setting; 4] = [
        Setting { target: Target::Ascend910b, dsa_rp: false },
        Setting { target: Target::Ascend910b, dsa_rp: true },
        Setting { target: Target::Ascend950, dsa_rp: false },
        Setting { target: Target::Ascend950, dsa_rp: true },
    ];

    /// Planners that are not the compiler's plan what the compiler's passes leave.
    pub fn of(target: Target, planner: Planner) -> Setting {
        Setting { target, dsa_rp: planner == Planner::DsaRp }
    }

    fn column(self) -> usize {
        2 * usize::from(self.target == Target::Ascend950) + usize::from(self.dsa_rp)
    }
}

/// What compared a mark: kernels that have it and whose plan is the compiler's to the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct By {
    /// Answers of the compiler that are recorded in `tests/conformance`.
    pub vectors: bool,
    /// Kernels of the random generator.
    pub random: bool,
    /// Kernels of public repositories.
    pub public: bool,
}

impl By {
    pub fn is_empty(self) -> bool {
        self == By::default()
    }

    /// `v`, `r` and `p`, as the table writes it.
    pub fn letters(self) -> String {
        let all = [(self.vectors, 'v'), (self.random, 'r'), (self.public, 'p')];
        all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, letter)| letter).collect()
    }

    fn parse(letters: &str) -> By {
        By { vectors: letters.contains('v'), random: letters.contains('r'), public: letters.contains('p') }
    }
}

/// By mark, in the order of [`Setting::ALL`].
pub type Table = BTreeMap<Mark, [By; 4]>;

const HEADER: &str = "mark,910b,910b dsa-rp,950,950 dsa-rp";

/// The table that is part of the program.
pub const COMPARED: &str = include_str!("compared.csv");

/// Reads a table; rows of removed operations are skipped.
pub fn read(text: &str) -> Table {
    let row = |line: &str| {
        let (mark, columns) = line.split_once(',')?;
        let mut by = [By::default(); 4];
        by.iter_mut().zip(columns.split(',')).for_each(|(by, letters)| *by = By::parse(letters));
        Some((Mark::parse(mark)?, by))
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// Writes a table, in the order of names, so that a new operation moves no other row.
pub fn write(table: &Table) -> String {
    let mut rows: Vec<(String, &[By; 4])> = table.iter().map(|(mark, by)| (mark.to_string(), by)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let mut text = format!("{HEADER}\n");
    for (mark, by) in rows {
        let _ = writeln!(text, "{mark},{}", by.map(By::letters).join(","));
    }
    text
}

/// By what a mark was compared under a setting.
pub fn compared(mark: Mark, setting: Setting) -> By {
    static TABLE: LazyLock<FxHashMap<Mark, [By; 4]>> = LazyLock::new(|| read(COMPARED).into_iter().collect());
    TABLE.get(&mark).map_or(By::default(), |by| by[setting.column()])
}

/// Adds what a kernel with these marks shows that was compared.
pub fn add(table: &mut Table, marks: &[Mark], setting: Setting, see: impl Fn(&mut By)) {
    for mark in marks {
        see(&mut table.entry(*mark).or_default()[setting.column()]);
    }
}
