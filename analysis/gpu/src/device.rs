//! What there is to compile for: GPUs and NPUs, with the memories of each, and versions of the compiler.

use std::fmt;

/// 32-bit columns of tensor memory that an SM of sm_100 has.
const TMEM_COLUMNS: u64 = 512;

/// A memory on a chip that kernels are placed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Shared memory of a block of a GPU.
    Shared,
    /// Tensor memory of an SM.
    Tensor,
    /// The unified buffer of a vector core.
    Ub,
    /// Of a cube core, as are those after it.
    L1,
    L0a,
    L0b,
    L0c,
}

impl Space {
    pub const ALL: [Space; 7] =
        [Space::Shared, Space::Tensor, Space::Ub, Space::L1, Space::L0a, Space::L0b, Space::L0c];

    /// As tables and answers name it.
    pub fn name(self) -> &'static str {
        match self {
            Space::Shared => "smem",
            Space::Tensor => "tmem",
            Space::Ub => "UB",
            Space::L1 => "L1",
            Space::L0a => "L0A",
            Space::L0b => "L0B",
            Space::L0c => "L0C",
        }
    }

    /// As a sentence names it.
    pub fn words(self) -> &'static str {
        match self {
            Space::Shared => "shared memory",
            Space::Tensor => "tensor memory",
            space => space.name(),
        }
    }

    /// What it is counted in.
    pub fn unit(self) -> &'static str {
        if self == Space::Tensor { "columns" } else { "bytes" }
    }
}

/// The architecture of a GPU, or an NPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arch(&'static Row);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Row {
    name: &'static str,
    /// Of each memory of [`Space::ALL`]: bytes that one block or core may have of it, or 32-bit columns; 0 where there is no such memory.
    capacities: [u64; Space::ALL.len()],
    vendor: Vendor,
    /// `None` where nothing is published, or it counts otherwise.
    multiprocessor: Option<Multiprocessor>,
}

/// What a multiprocessor of NVIDIA runs at once, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Multiprocessor {
    pub(crate) warps: u64,
    pub(crate) blocks: u64,
    /// Named barriers.
    pub(crate) barriers: u64,
}

const fn at_most(warps: u64, blocks: u64, barriers: u64) -> Option<Multiprocessor> {
    Some(Multiprocessor { warps, blocks, barriers })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Vendor {
    Nvidia,
    Amd,
    Huawei,
}

const fn nvidia(name: &'static str, smem: u64, tmem: u64, multiprocessor: Option<Multiprocessor>) -> Row {
    Row { name, capacities: [smem, tmem, 0, 0, 0, 0, 0], vendor: Vendor::Nvidia, multiprocessor }
}

const fn amd(name: &'static str, smem: u64) -> Row {
    Row { name, capacities: [smem, 0, 0, 0, 0, 0, 0], vendor: Vendor::Amd, multiprocessor: None }
}

const fn huawei(name: &'static str, [ub, l1, l0a, l0b, l0c]: [u64; 5]) -> Row {
    Row { name, capacities: [0, 0, ub, l1, l0a, l0b, l0c], vendor: Vendor::Huawei, multiprocessor: None }
}

/// CUDA programming guide, "compute capabilities"; barriers are those of `cuda_occupancy.h`. The AMD compiler's `TargetFeatures`. Memories of Ascend
/// NPUs: docs/reference/tilelang.md, "12. Ascend".
const ARCHITECTURES: [Row; 18] = [
    nvidia("sm_70", 98_304, 0, at_most(64, 32, 64)),
    nvidia("sm_75", 65_536, 0, at_most(32, 16, 32)),
    nvidia("sm_80", 166_912, 0, at_most(64, 32, 64)),
    nvidia("sm_86", 101_376, 0, at_most(48, 16, 16)),
    nvidia("sm_87", 166_912, 0, at_most(48, 16, 16)),
    nvidia("sm_89", 101_376, 0, at_most(48, 24, 24)),
    nvidia("sm_90", 232_448, 0, at_most(64, 32, 64)),
    nvidia("sm_100", 232_448, TMEM_COLUMNS, at_most(64, 32, 64)),
    nvidia("sm_103", 232_448, TMEM_COLUMNS, at_most(64, 32, 64)),
    nvidia("sm_107", 232_448, 576, None),
    nvidia("sm_110", 232_448, TMEM_COLUMNS, at_most(48, 24, 24)),
    nvidia("sm_120", 101_376, 0, at_most(48, 24, 24)),
    nvidia("sm_121", 101_376, 0, at_most(48, 24, 24)),
    amd("gfx942", 65_536),
    amd("gfx950", 163_840),
    amd("gfx1250", 327_680),
    huawei("ascend910b", [196_608, 524_288, 65_536, 65_536, 131_072]),
    huawei("ascend950", [253_952, 524_288, 65_536, 65_536, 262_144]),
];

/// Other names of NPUs: the series, and chips that have the same memories.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("ascend910_93", "ascend910b"),
    ("ascend910c", "ascend910b"),
    ("a2", "ascend910b"),
    ("a3", "ascend910b"),
    ("a5", "ascend950"),
];

impl Arch {
    /// `sm_100`, `sm100`, `sm_100a`, `gfx950`; also as Triton names targets: `cuda:100`, `hip:gfx950`, `gfx950:sramecc+`.
    pub fn from_name(name: &str) -> Option<Arch> {
        let name = name.to_ascii_lowercase();
        let name = match name.strip_prefix("cuda:") {
            Some(capability) => format!("sm{capability}"),
            None => name.strip_prefix("hip:").unwrap_or(&name).to_owned(),
        };
        let name = name.split(':').next().unwrap_or_default();
        let name = match name.strip_prefix("sm") {
            Some(capability) => format!("sm_{}", capability.trim_start_matches('_').trim_end_matches(['a', 'f'])),
            None => name.to_owned(),
        };
        let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(&*name, |(_, name)| name);
        ARCHITECTURES.iter().find(|row| row.name == name).map(Arch)
    }

    /// The devices whose names are words of a text: of `amd_gemm_gfx942.py`, of a sentence.
    pub fn named_in(text: &str) -> impl Iterator<Item = Arch> + '_ {
        let begins = |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
        let starts = text.char_indices().map(|(at, _)| at).filter(move |&at| begins(at));
        starts.filter_map(|at| {
            let word = &text[at..];
            let prefix = ["sm_", "sm", "gfx", "ascend"]
                .into_iter()
                .find(|prefix| word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))?;
            let rest = &word[prefix.len()..];
            let end = rest.find(|after: char| !after.is_ascii_alphanumeric()).unwrap_or(rest.len());
            Arch::from_name(&word[..prefix.len() + end])
        })
    }

    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The number in the name: 90 of sm_90, 942 of gfx942.
    pub fn capability(self) -> u32 {
        let digits = self.0.name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }

    /// The memories that it has, with the capacity of each.
    pub fn memories(self) -> impl Iterator<Item = (Space, u64)> {
        Space::ALL.into_iter().zip(self.0.capacities).filter(|(_, capacity)| *capacity > 0)
    }

    /// Bytes, or columns; 0 where it has no such memory.
    pub fn capacity(self, space: Space) -> u64 {
        self.memories().find(|(of, _)| *of == space).map_or(0, |(_, capacity)| capacity)
    }

    /// Bytes of shared memory per block.
    pub fn smem(self) -> u64 {
        self.capacity(Space::Shared)
    }

    /// Columns of tensor memory per SM.
    pub fn tmem(self) -> u64 {
        self.capacity(Space::Tensor)
    }

    pub(crate) fn multiprocessor(self) -> Option<Multiprocessor> {
        self.0.multiprocessor
    }

    /// Bytes of shared memory that are kept for each block beyond its own.
    pub(crate) fn reserved_smem(self) -> u64 {
        if self.is_amd() || self.capability() < 80 { 0 } else { 1024 }
    }

    /// Shared memory is given to blocks of NVIDIA in units of so many bytes.
    pub(crate) fn smem_unit(self) -> u64 {
        if self.capability() < 80 { 256 } else { 128 }
    }

    /// Blocks with so many bytes of shared memory that a multiprocessor has room for, as far as it runs so many. No generation runs more than 32.
    pub fn blocks(self, bytes: u64) -> u64 {
        let most = self.multiprocessor().map_or(32, |it| it.blocks);
        let kept = self.reserved_smem();
        (self.smem() + kept).checked_div(bytes + kept).map_or(most, |blocks| blocks.min(most))
    }

    pub fn is_amd(self) -> bool {
        self.0.vendor == Vendor::Amd
    }

    /// An Ascend, whose memories differ from those of GPUs.
    pub fn is_npu(self) -> bool {
        self.0.vendor == Vendor::Huawei
    }

    pub fn all() -> impl Iterator<Item = Arch> {
        ARCHITECTURES.iter().map(Arch)
    }

    pub fn gpus() -> impl Iterator<Item = Arch> {
        Arch::all().filter(|arch| !arch.is_npu())
    }

    /// The names that scenarios and configuration take.
    pub fn names() -> String {
        Arch::all().map(Arch::name).collect::<Vec<_>>().join(", ")
    }
}

impl Default for Arch {
    /// The first one with tensor memory.
    fn default() -> Self {
        Arch(&ARCHITECTURES[7])
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which compiler a kernel is compiled by, in the order of its rules: a rule holds from one on (`>= V3_9`), or for the fork alone (`is_fork`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compiler {
    /// Triton 3.2 to 3.6, of which only what they need at least is known.
    Earlier,
    /// facebookexperimental/triton, a fork of 3.8.
    Fork,
    /// Triton 3.8 of the wheels.
    V3_8,
    /// Triton 3.9 of the wheels.
    V3_9,
}

impl Compiler {
    pub fn from_name(name: &str) -> Option<Compiler> {
        Compiler::all().find(|compiler| compiler.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Compiler::Earlier => "earlier",
            Compiler::V3_8 => "3.8",
            Compiler::V3_9 => "3.9",
            Compiler::Fork => "fork",
        }
    }

    /// Of a release such as `3.6.0`, where of that only what it needs at least is known.
    pub fn earlier(release: &str) -> Option<Compiler> {
        let mut numbers = release.split('.').map_while(|number| number.parse::<u32>().ok());
        let release = (numbers.next()?, numbers.next()?);
        ((3, 2)..(3, 7)).contains(&release).then_some(Compiler::Earlier)
    }

    pub fn is_fork(self) -> bool {
        self == Compiler::Fork
    }

    /// Those whose plans are known, which a scenario may name.
    pub fn all() -> impl Iterator<Item = Compiler> {
        [Compiler::V3_8, Compiler::V3_9, Compiler::Fork].into_iter()
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The releases of Triton that shared and tensor memory are compared with, by `cargo xtask test confirm`: packages of an environment, one a line.
const RELEASES: &str = include_str!("compilers.txt");

/// Every release that answers were compared with: `triton 3.9.0`.
pub fn compared_with() -> impl Iterator<Item = String> {
    RELEASES.lines().map(|packages| packages.replace("==", " ").replacen(" triton-", " with triton-", 1))
}

/// The words with which a launch fails.
pub fn out_of_resource(resource: &str, required: u64, limit: u64) -> String {
    format!(
        "out of resource: {resource}, Required: {required}, Hardware limit: {limit}. Reducing block sizes or `num_stages` may help."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_share_a_multiprocessor() {
        let blocks = |name: &str, bytes| Arch::from_name(name).map(|arch| arch.blocks(bytes));
        assert_eq!(blocks("sm_90", 232_448), Some(1));
        assert_eq!(blocks("sm_90", 115_712), Some(2));
        assert_eq!(blocks("sm_90", 115_713), Some(1));
        assert_eq!(blocks("sm_80", 0), Some(32));
        assert_eq!(blocks("sm_86", 0), Some(16));
        assert_eq!(blocks("gfx942", 32_768), Some(2));
    }

    #[test]
    fn releases_of_which_the_least_is_known() {
        let is_earlier = |release: &str| Compiler::earlier(release).is_some();
        assert!(["3.2.0", "3.3.1", "3.6.0", "3.6.0+git1234"].into_iter().all(is_earlier));
        assert!(!["", "3", "3.1.0", "3.7.0", "3.9.0", "4.2.0", "main"].into_iter().any(is_earlier));
    }

    #[test]
    fn architectures_by_name() {
        assert_eq!(Arch::default().name(), "sm_100");
        assert_eq!(Arch::from_name("sm_90a").map(Arch::smem), Some(232_448));
        assert_eq!(Arch::from_name("SM100").map(Arch::tmem), Some(512));
        assert_eq!(Arch::from_name("gfx950").map(Arch::is_amd), Some(true));
        assert_eq!(Arch::from_name("sm_1"), None);
        assert_eq!(Arch::from_name("Ascend910_93").map(Arch::name), Some("ascend910b"));
        assert_eq!(Arch::from_name("ascend950").map(|arch| arch.capacity(Space::L0c)), Some(262_144));
        assert_eq!(Arch::from_name("ascend950").map(Arch::smem), Some(0));
        for (name, is) in [("cuda:86", "sm_86"), ("hip:gfx942", "gfx942"), ("gfx942:sramecc+:xnack-", "gfx942")] {
            assert_eq!(Arch::from_name(name).map(Arch::name), Some(is));
        }
    }

    #[test]
    fn architectures_in_a_text() {
        let named = |text: &str| Arch::named_in(text).map(Arch::name).collect::<Vec<_>>();
        assert_eq!(named("/w/amd_gemm_gfx942.py"), ["gfx942"]);
        assert_eq!(named("GEMM for SM_90a (Hopper), and sm100."), ["sm_90", "sm_100"]);
        assert_eq!(named("for Ascend910B, not Ascend"), ["ascend910b"]);
        assert!(named("small smem gfx9 sm plasma90 \u{e9}sm").is_empty());
    }
}
