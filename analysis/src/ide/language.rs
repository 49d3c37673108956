//! The seam between features and languages. A language says which units are its kernels, and hands out a view of each; a feature reads
//! views, and knows no language. Everything in a view is found when it is asked for, so that a feature pays for what it shows.
//!
//! No method here has a default: a new language says for each feature what it has to say, also where that is nothing.

use std::ops::Range;

use tilefit_pypto::memory::OpenSearch;
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;
use tilefit_python::vocabulary::Word;
use tilefit_syntax::TextRange;

use crate::confirm::Question;
use crate::db::{self, Dumped, Recorded, Unit};
use crate::project::Config;

use super::code_action::CodeAction;
use super::diagnostic::Diagnostic;
use super::extent::Extent;
use super::memory_map::Drawing;
use super::plan_view::{Details, SpacePacking};
use super::{Context, PlacedUnit};

pub(crate) trait Language: Sync {
    /// What is known of the language where its code is half typed.
    fn dialect(&self) -> &'static Dialect;

    fn claims(&self, context: &Context<'_>, unit: Unit<'_>) -> bool;

    /// The kernels whose text a unit is; nothing is planned for it.
    fn declared<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>>;

    /// Views of the kernels of a unit, in the order of [`declared`](Language::declared). One that is declared may come to
    /// several, such as for the two cores.
    fn kernels<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<View<'db>>;

    /// Views of the kernels in `declared`, one list per kernel; kernels without a view are omitted.
    fn kernels_of<'db>(&self, context: &Context<'db>, unit: Unit<'db>, declared: Range<usize>) -> Vec<Vec<View<'db>>>;

    /// What the kernels of a unit would come to under other settings.
    fn kernels_under<'db>(&self, context: &Context<'db>, unit: Unit<'db>, config: &'db Config) -> Vec<View<'db>>;

    /// The compiler's dumps of some of those that stand there; without dumps, nothing is planned.
    fn dumps<'db>(&self, context: &Context<'db>, unit: Unit<'db>, declared: Range<usize>) -> Vec<&'db Dumped<'db>>;

    /// Whether there is C++ of the kernels of a unit; nothing is planned for it.
    fn generates_code(&self, context: &Context<'_>, unit: Unit<'_>) -> bool;

    /// What is known of the name at a byte offset.
    fn hover(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover>;

    /// Where what shares memory with the name at a byte offset is bound, itself included; `None` where it has no memory.
    fn sharing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Vec<TextRange>>;

    /// The values of names in a unit's kernels; `None` where they cannot be read. Nothing is planned but what the answers need.
    fn values<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Option<Values<'db>>;

    /// What there is to do within a range that is known without trying anything. `said`: the diagnostics of the file.
    fn actions(
        &self,
        context: &Context<'_>,
        placed: &PlacedUnit<'_>,
        range: TextRange,
        said: &dyn Fn() -> Vec<Diagnostic>,
    ) -> Vec<CodeAction>;

    /// The kernel of a unit after each step of its compiler, with its range.
    fn lowered_ir(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)>;

    /// What kernels of the language are made of, of which a text may hold any number.
    #[cfg(test)]
    fn constructs(&self) -> Vec<super::tests::growth::Construct>;
}

/// A language by its names, which are known before a kernel can be read.
pub(crate) struct Dialect {
    /// Whether a decorator of that name makes a kernel of a function.
    pub(crate) is_decorator: fn(&dyn salsa::Database, db::SourceFile, &[&str]) -> bool,
    /// A dotted name under the usual names of its modules; `None` where it is none of the language's.
    pub(crate) canonical: fn(&dyn salsa::Database, db::SourceFile, &[&str]) -> Option<String>,
    /// What it has besides operations.
    pub(crate) words: &'static [Word],
    /// What it is called in every file, and the module that this is, where its compiler depends on that.
    pub(crate) root: Option<(&'static str, &'static str)>,
    /// Its functions take tiles, with element types of `pl`, where parameters do not say otherwise.
    pub(crate) has_tiles: bool,
}

/// What is known of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// Bytes.
    pub range: TextRange,
    pub markdown: String,
}

/// A kernel after each step of its compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoweredIr {
    /// `Program.kernel`
    pub kernel: String,
    pub text: String,
}

/// A kernel by its name.
pub(crate) struct KernelDeclaration<'db> {
    pub(crate) name: &'db str,
    /// Of the name.
    pub(crate) at: Origin,
}

/// Finds the value of a name.
pub(crate) type Values<'db> = Box<dyn Fn(&str) -> Option<Value> + 'db>;

pub(crate) struct Value {
    pub(crate) kind: ValueKind,
    /// One line.
    pub(crate) detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Tile,
    Tensor,
    Scalar,
    Other,
}

pub(crate) type View<'db> = Box<dyn KernelView + 'db>;

/// A kernel as its compiler lays it out in memory.
pub(crate) trait KernelView {
    fn name(&self) -> &str;
    fn name_origin(&self) -> Origin;

    /// The whole kernel.
    fn origin(&self) -> Origin;

    /// The machine, by name.
    fn target(&self) -> &'static str;

    /// Nothing names the machine.
    fn is_target_assumed(&self) -> bool;

    /// The rules by which memory is given out, by name.
    fn planner(&self) -> &'static str;

    fn status(&self) -> Status;

    /// Why the status is not exact.
    fn reasons(&self) -> Vec<String>;

    /// False where a stage of tilefit failed on it: there are findings then, and nothing else to show.
    fn is_planned(&self) -> bool;

    /// What memory the kernel uses.
    fn memories(&self) -> Vec<Memory>;

    /// How full they are, in the words of a lens; empty where there is nothing to say.
    fn fill(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> String;

    /// What has to be given before anything is known of its memory.
    fn missing(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> Option<Missing> {
        None
    }

    /// Whether its memory was only looked at in some ways, so that values would say more.
    fn is_sampled(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> bool {
        false
    }

    /// Why nothing bounds its memory, where no value would.
    fn obstacle(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> Option<String> {
        None
    }

    /// Whether it may take so much that its author should be asked for what is missing.
    fn may_matter(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> bool {
        true
    }

    /// Who has which addresses of each memory.
    fn drawing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Drawing;

    /// How well each of the memories is packed, in their order; empty where nothing packs.
    fn packing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<SpacePacking>;

    /// What `tilefit plan` says beside all this.
    fn details(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Details;

    /// What is wrong with the kernel, or not known of it; with the severities that codes have by themselves.
    fn diagnostics(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic>;

    /// What to ask the compiler so that it plans what is planned here; the error says in words for the author why it cannot be asked.
    fn question(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Result<Question, String>;

    /// What the author's own run has recorded of this text under these inputs.
    fn recorded<'db>(&self, context: &Context<'db>, placed: &PlacedUnit<'db>) -> Option<&'db Recorded>;

    /// What a longer search may find out.
    fn open(&self) -> &[OpenSearch];

    /// What the author gave a name to and memory is made for.
    fn outline(&self, placed: &PlacedUnit<'_>) -> Vec<Placement<'_>>;

    /// What has a hint; of several at one place the first speaks for all.
    fn hinted(&self) -> Vec<Hinted<'_>>;

    /// What there is to the nth of [`hinted`](KernelView::hinted).
    fn described(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, nth: usize) -> Option<Described>;

    /// Which kernel it is, and by whose rules it lies where it lies, for the tooltip of a hint.
    fn laid_out_by(&self) -> String;
}

/// Parameters that lack values, and the comment that gives each an example of one.
pub(crate) struct Missing {
    pub(crate) names: Vec<String>,
    /// Writes the comment, or more into the one that is there.
    pub(crate) edit: (TextRange, String),
    /// With these values alone.
    pub(crate) comment: String,
}

/// A memory space of a kernel's target, in bytes or columns.
pub(crate) struct Memory {
    pub(crate) name: &'static str,
    pub(crate) used: Amount,
    /// Live at once.
    pub(crate) peak: u64,
    /// `None`: no limit is known.
    pub(crate) capacity: Option<u64>,
}

/// How much of a memory is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    Exactly(u64),
    /// At least and at most; `None` where nothing bounds it.
    Between(u64, Option<u64>),
}

impl Amount {
    /// What is used in any case.
    pub(crate) fn low(self) -> u64 {
        match self {
            Amount::Exactly(amount) | Amount::Between(amount, _) => amount,
        }
    }

    pub(crate) fn high(self) -> Option<u64> {
        match self {
            Amount::Exactly(amount) => Some(amount),
            Amount::Between(_, high) => high,
        }
    }

    pub(crate) fn exactly(self) -> Option<u64> {
        self.high().filter(|&high| high == self.low())
    }
}

/// Memory that has a name in the source.
pub(crate) struct Placement<'k> {
    pub(crate) name: &'k str,
    /// The name, where it is bound.
    pub(crate) at: Origin,
    /// `None`: its size is not known.
    pub(crate) extent: Option<Extent>,
}

pub(crate) struct Hinted<'k> {
    pub(crate) placement: Placement<'k>,
    /// The hint stands after an expression, not after a name.
    pub(crate) is_unnamed: bool,
}

/// What there is to memory with a hint for a reader who looks at it.
pub(crate) struct Described {
    pub(crate) markdown: String,
    /// Where that is bound which had the memory before.
    pub(crate) before: Option<TextRange>,
}
