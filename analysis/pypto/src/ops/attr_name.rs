//! What attributes of operations are called.

use std::fmt;

use super::same;

macro_rules! attr_names {
    ($($(#[$doc:meta])* $variant:ident $name:literal;)*) => {
        /// The name of an attribute of a [`Call`](crate::ir::Call): a keyword that the author writes, or a mark that the compiler sets.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AttrName { $($(#[$doc])* $variant),* }

        impl AttrName {
            const ALL: &'static [AttrName] = &[$(AttrName::$variant),*];

            /// As authors and dumps write it.
            pub const fn name(self) -> &'static str {
                match self { $(AttrName::$variant => $name),* }
            }
        }
    };
}

attr_names! {
    ATrans "a_trans";
    AccPhase "acc_phase";
    AllowPhysicalTailPadding "allow_physical_tail_padding";
    Atomic "atomic";
    Axis "axis";
    BTrans "b_trans";
    Base "base";
    BLayout "blayout";
    CMatrixNz "c_matrix_nz";
    ChunkCols "chunk_cols";
    ChunkRows "chunk_rows";
    Clamp "clamp";
    Cmp "cmp";
    CmpMode "cmp_mode";
    CmpType "cmp_type";
    Coalesce "coalesce";
    CoreType "core_type";
    CountDtype "count_dtype";
    Descending "descending";
    Dim "dim";
    DirMask "dir_mask";
    Dtype "dtype";
    EventId "event_id";
    Exhausted "exhausted";
    FftsMode "ffts_mode";
    FlatLayout "flat_layout";
    GatherOob "gather_oob";
    HighPrecision "high_precision";
    Id "id";
    InitValue "init_value";
    LaneStride "lane_stride";
    Layout "layout";
    LocalSlotNum "local_slot_num";
    ManualDep "manual_dep";
    MaskPattern "mask_pattern";
    Mode "mode";
    Name "name";
    Offset "offset";
    Op "op";
    OutCols "out_cols";
    OutDtype "out_dtype";
    OutputDtype "output_dtype";
    PadValue "pad_value";
    PeerFunc "peer_func";
    Pinned "pinned";
    Pipe "pipe";
    Pipeline "pipeline";
    Rounds "rounds";
    SetPipe "set_pipe";
    Shape "shape";
    Size "size";
    SLayout "slayout";
    SlotNum "slot_num";
    SlotSize "slot_size";
    Split "split";
    TargetMemory "target_memory";
    TargetType "target_type";
    Transpose "transpose";
    Upper "upper";
    WaitPipe "wait_pipe";
    /// Of a notification in a `pl.split_aiv`: only the vector units send it.
    CorePlacement "core_placement";
    /// Of a load to L1 that the compiler made for an operand of a product. No pass after `resident_operands` sees it.
    OperandLoad "operand_load";
    /// Of calls in replicated pipeline bodies: in which copies their tile takes part, the innermost loop first. Tiles of different
    /// stages of one group must not share memory (`docs/reference/memory.md`, "Reuse").
    PipelineStages "pipeline_membership";
}

impl AttrName {
    /// The attribute of a name in the operation table, for constants: a name that is not declared here does not compile.
    pub const fn named(name: &str) -> AttrName {
        let mut index = 0;
        while index < AttrName::ALL.len() {
            if same(AttrName::ALL[index].name(), name) {
                return AttrName::ALL[index];
            }
            index += 1;
        }
        panic!("no such attribute")
    }
}

impl fmt::Display for AttrName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
