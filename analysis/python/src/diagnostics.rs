//! The diagnostic codes. Each has a page in `docs/diagnostics/`.

use std::fmt;

use crate::spelling::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Hint,
    Info,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $title:literal;)*) => {
        /// What a diagnostic is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($variant),* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The name in editors, settings and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name),* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity),* }
            }

            /// One line, as in the table of contents of the diagnostics.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }

            /// The page that explains it, from the project's own pages.
            pub fn page(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("../../../docs/diagnostics/", $name, ".md"))),* }
            }
        }
    };
}

codes! {
    CapacityExceeded "capacity-exceeded" Error "the tiles do not fit in a memory space";
    MayNotFit "may-not-fit" Warning "whether a kernel fits depends on choices of the compiler";
    FitsOnlyPacked "fits-only-packed" Warning "the tiles fit only if freed buffers are split and reused (the default planner does not do that)";
    PipelineDepth "pipeline-depth" Hint "fewer buffers of a pipeline fit than it has stages";
    MixedCopies "mixed-copies" Warning "a pipelined loop fills more copies of a buffer than are allocated";
    SquaredCopies "squared-copies" Warning "a pipelined loop has num_stages² copies of what it loads";
    TileLayout "tile-layout" Warning "the compiler accepts this tile, but the instruction library does not";
    NarrowTransfer "narrow-transfer" Hint "rows of a load or store are too short for full speed";
    NotModelled "not-modelled" Hint "tilefit cannot analyse this statement, so results for this kernel are partial";
    PrintedOverlap "printed-overlap" Error "two tiles of printed IR share bytes while both are in use";
    CompilerDiffers "compiler-differs" Warning "the installed compiler's memory plan differs";
    CompilerRefuses "compiler-refuses" Error "the installed compiler refuses a kernel";
    RegisterSpills "register-spills" Hint "the machine code of a kernel spills registers";
    DumpDiffers "dump-differs" Hint "the compiler's dump has tiles at other addresses";
    DuplicateKernel "duplicate-kernel" Warning "two kernels of one program have the same name";
    UnknownName "unknown-name" Warning "a kernel uses an undefined name";
    SyntaxError "syntax-error" Warning "a statement of a kernel does not parse";
    UnknownDtype "unknown-dtype" Error "no such element type";
    LostStatement "lost-statement" Warning "a statement of a kernel is in a plain function, and Python drops it";
    ShapeNotConstant "shape-not-constant" Error "a tile's shape must be constant";
    InvalidOperand "invalid-operand" Error "an operation does not take this operand";
    StaticAssert "static-assert" Error "a `static_assert` fails, so the compiler refuses the kernel";
    Rejected "rejected" Error "the compiler's front end does not accept this";
    NoInstruction "no-instruction" Hint "tilefit has no C++ for this operation or form";
    NoAddress "no-address" Hint "generated C++ needs an address that the memory plan does not give";
    EventsExhausted "events-exhausted" Warning "more events are pending between two pipes than the hardware has";
    UnpairedFlag "unpaired-flag" Warning "a hand-written flag is set without a wait, or waited for without a set";
    WrongPipe "wrong-pipe" Warning "the two halves of a hand-written flag name different pipes, or the flag orders nothing";
    MissingSync "missing-sync" Hint "no hand-written flag or barrier orders two instructions that touch the same bytes";
    UnpairedTransfer "unpaired-transfer" Warning "a tile is pushed to the other core and never popped there, or popped and never pushed";
    NoCastPath "no-cast-path" Error "the vector unit cannot convert between these element types";
    OperandTooLarge "operand-too-large" Error "one operand of a matrix product is larger than its memory";
    SlotOverwritten "slot-overwritten" Error "a slot of a declared allocation is written while its tile is still needed";
    InitOverwritten "init-overwritten" Warning "the first value of a loop is read after the loop has overwritten it";
    WhileCarry "while-carry" Warning "a `while` loop carries a tile, for which the compiler copies nothing";
    MissingMove "missing-move" Warning "one core reads a tile that only the other core writes";
    StorageMismatch "storage-mismatch" Error "an allocation is in another storage than what it reuses";
    UnusedSpec "unused-spec" Warning "no allocation uses a storage alias spec";
    MergedSpecs "merged-specs" Warning "the compiler makes one storage alias spec of two that are equal";
    SpecTooSmall "spec-too-small" Error "the explicit size of a storage alias spec is below what its buffers need";
    InvalidOverlap "invalid-overlap" Error "an overlap definition that the compiler refuses";
    NotDivisible "not-divisible" Error "a buffer of an overlap tree would not start at a multiple of its size";
    OverlappingBuffers "overlapping-buffers" Error "buffers that are meant to be separate overlap";
    MissingLeaf "missing-leaf" Warning "a buffer of a spec is not in the overlap definition";
    CountMismatch "count-mismatch" Warning "the members of a reuse group have different numbers of buffers";
    BackingShape "backing-shape" Warning "the size of a spec is not a power of two";
    RowMismatch "row-mismatch" Warning "an allocation with 64 rows holds buffers with 128 rows";
    IndexOutOfRange "index-out-of-range" Error "a constant index is outside a buffer";
    InvalidView "invalid-view" Error "a view is not inside its buffer";
    InvalidShape "invalid-shape" Error "the memory cannot hold a buffer of this shape";
    UnsupportedTarget "unsupported-target" Error "the architecture does not support this";
    ReuseAdvice "reuse-advice" Hint "memory could be shared in a better way";
    LegacyReuse "legacy-reuse" Hint "`reuse=<buffer>` is the older form of sharing";
    FileTooLarge "file-too-large" Hint "the file is too large to be analysed";
    KernelTooLarge "kernel-too-large" Hint "the kernel is too large to be analysed";
    Internal "internal" Hint "tilefit failed on this kernel";
}

impl Code {
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// What to do about an unknown code, after what is wrong with it.
    pub fn instead_of(name: &str) -> String {
        let codes = Code::ALL.iter().map(|code| code.name());
        nearest(name, codes).map_or_else(
            || "; see `tilefit explain`".to_owned(),
            |code| format!("; did you mean `{code}`? See `tilefit explain`"),
        )
    }

    /// Reported without being asked for. Others are turned on by giving them a severity in the configuration.
    pub fn is_on_by_default(self) -> bool {
        !matches!(
            self,
            // True of most kernels that are correct and small: advice for those who look for speed.
            Code::NarrowTransfer
            // Of generated C++ only. They are shown there.
            | Code::NoInstruction | Code::NoAddress
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
