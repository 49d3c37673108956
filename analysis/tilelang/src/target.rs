//! What the compiler's passes ask of the machine that a kernel is for. What it holds is a matter of other crates.

/// A machine, by the number that its vendor gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// By its compute capability: 80 of `sm_80`, 100 of `sm_100a`.
    Nvidia { capability: u32 },
    /// 942 of `gfx942`.
    Amd { gfx: u32 },
}

impl Target {
    /// Hopper, the first with bulk copies, barriers in memory, and products of a warp group.
    const HOPPER: u32 = 90;
    /// The first with tensor memory.
    const BLACKWELL: u32 = 100;

    fn capability(self) -> Option<u32> {
        match self {
            Target::Nvidia { capability } => Some(capability),
            Target::Amd { .. } => None,
        }
    }

    /// It has the Tensor Memory Accelerator.
    pub fn has_bulk_copies(self) -> bool {
        self.capability().is_some_and(|capability| capability >= Self::HOPPER)
    }

    /// It has barriers in shared memory.
    pub fn has_barriers(self) -> bool {
        self.has_bulk_copies()
    }

    /// It has tensor memory: those for data centres.
    pub fn has_tensor_memory(self) -> bool {
        self.capability().is_some_and(|capability| (Self::BLACKWELL..120).contains(&capability))
    }

    /// It multiplies with warp groups (`wgmma`).
    pub fn has_warp_group_products(self) -> bool {
        self.capability() == Some(Self::HOPPER)
    }

    /// The planner pipelines loops for it by `num_stages` (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").
    pub fn pipelines_by_stages(self) -> bool {
        matches!(self, Target::Nvidia { .. } | Target::Amd { gfx: 950 })
    }

    /// The rules were compared with the compiler's answers for it.
    pub fn is_compared(self) -> bool {
        matches!(self, Target::Nvidia { capability: 80 | 86 | 89 | 90 | 100 } | Target::Amd { gfx: 942 | 950 })
    }
}
