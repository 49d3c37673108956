//! Targets: which on-chip memories there are and how large they are (`docs/reference/memory.md`, "Memory spaces").

use std::collections::BTreeMap;
use std::fmt;

/// A memory space of PyPTO; `Ddr` is off chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    Ddr,
    /// Unified buffer (UB).
    Vec,
    /// L1.
    Mat,
    /// L0A
    Left,
    /// L0B
    Right,
    /// L0C
    Acc,
    Bias,
    LeftScale,
    RightScale,
    ScalarLocal,
}

impl Space {
    /// The on-chip spaces that tiles are placed in.
    pub const ON_CHIP: [Space; 8] = [
        Space::Vec,
        Space::Mat,
        Space::Left,
        Space::Right,
        Space::Acc,
        Space::Bias,
        Space::LeftScale,
        Space::RightScale,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Space::Ddr => "DDR",
            Space::Vec => "Vec",
            Space::Mat => "Mat",
            Space::Left => "Left",
            Space::Right => "Right",
            Space::Acc => "Acc",
            Space::Bias => "Bias",
            Space::LeftScale => "LeftScale",
            Space::RightScale => "RightScale",
            Space::ScalarLocal => "ScalarLocal",
        }
    }

    /// `name` as authors write it; the names of before 2026-02-26 too (`UB`, `L1`, `L0A`, `L0B`, `L0C`).
    pub fn from_name(name: &str) -> Option<Space> {
        Some(match name {
            "DDR" => Space::Ddr,
            "Vec" | "UB" => Space::Vec,
            "Mat" | "L1" => Space::Mat,
            "Left" | "L0A" => Space::Left,
            "Right" | "L0B" => Space::Right,
            "Acc" | "L0C" => Space::Acc,
            "Bias" => Space::Bias,
            "LeftScale" => Space::LeftScale,
            "RightScale" => Space::RightScale,
            "ScalarLocal" => Space::ScalarLocal,
            _ => return None,
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Target {
    #[default]
    Ascend910b,
    Ascend950,
}

impl Target {
    pub const ALL: [Target; 2] = [Target::Ascend910b, Target::Ascend950];

    /// The name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Ascend910b => "ascend910b",
            Target::Ascend950 => "ascend950",
        }
    }

    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Cube cores of the chip (`soc.cpp`); each has two vector units.
    pub(crate) fn cubes(self) -> u64 {
        match self {
            Target::Ascend910b => 24,
            Target::Ascend950 => 36,
        }
    }

    pub(crate) fn vector_units(self) -> u64 {
        2 * self.cubes()
    }

    /// Capacity in bytes; `None` where the target has no such space and the compiler checks nothing.
    pub fn capacity(self, space: Space) -> Option<u64> {
        let (on_910b, on_950) = match space {
            Space::Vec => (188_416, 245_760),
            Space::Mat => (524_288, 524_288),
            Space::Left | Space::Right => (65_536, 65_536),
            Space::Acc => (131_072, 262_144),
            Space::Bias => (1_024, 4_096),
            Space::LeftScale | Space::RightScale => (0, 4_096),
            Space::Ddr | Space::ScalarLocal => (0, 0),
        };
        let bytes = match self {
            Target::Ascend910b => on_910b,
            Target::Ascend950 => on_950,
        };
        (bytes > 0).then_some(bytes)
    }
}

/// The PyPTO compiler that is modelled. There is one; nothing is parametrised by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compiler {
    pub name: &'static str,
    /// The commit of its repository.
    pub commit: &'static str,
    /// Month and year of that commit.
    pub date: &'static str,
    /// What later versions are reported to do with kernels whose buffers only fit where freed ranges are divided again; no such
    /// version is modelled.
    pub later: &'static str,
}

/// The compiler that plans are for.
pub const COMPILER: Compiler = Compiler {
    name: "PyPTO",
    commit: "e2d0f78ae",
    date: "August 2026",
    later: "compilers since September 2026 split freed ranges (pypto #2649) and may accept it without",
};

impl Compiler {
    /// `PyPTO e2d0f78ae (August 2026)`
    pub fn named(self) -> String {
        format!("{} {} ({})", self.name, self.commit, self.date)
    }
}

/// A target with the capacities that the configuration replaces.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    pub target: Target,
    /// Bytes; 0 means that the space is not limited.
    pub replaced: &'a BTreeMap<Space, u64>,
}

impl From<Target> for Machine<'static> {
    fn from(target: Target) -> Self {
        static NOTHING: BTreeMap<Space, u64> = BTreeMap::new();
        Machine { target, replaced: &NOTHING }
    }
}

impl Machine<'_> {
    /// Capacity in bytes; `None` where nothing is checked.
    pub fn capacity(self, space: Space) -> Option<u64> {
        match self.replaced.get(&space) {
            Some(bytes) => (*bytes > 0).then_some(*bytes),
            None => self.target.capacity(space),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How tiles get their addresses (`docs/packing.md`, "Planners").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Planner {
    /// `Sequential` while it fits, else `Packed`.
    #[default]
    Auto,
    /// As the PyPTO compiler: MemoryReuse groups, one address range after the other.
    Sequential,
    /// Must-alias groups, each at the lowest offset that is free for its whole lifetime.
    Packed,
    /// As the PyPTO compiler's opt-in planner DSA_RP.
    DsaRp,
}

impl Planner {
    pub const ALL: [Planner; 4] = [Planner::Auto, Planner::Sequential, Planner::Packed, Planner::DsaRp];

    pub fn name(self) -> &'static str {
        match self {
            Planner::Auto => "auto",
            Planner::Sequential => "sequential",
            Planner::Packed => "packed",
            Planner::DsaRp => "dsa-rp",
        }
    }

    pub fn from_name(name: &str) -> Option<Planner> {
        Planner::ALL.into_iter().find(|planner| planner.name() == name)
    }
}

impl fmt::Display for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
