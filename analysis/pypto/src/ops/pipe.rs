//! The queues of instructions of a core.

/// A queue of instructions of one hardware unit. Queues run side by side; each takes its instructions in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pipe {
    /// Scalar unit.
    S,
    /// Vector unit.
    V,
    /// Cube unit.
    M,
    /// L1 to L0.
    Mte1,
    /// Global memory to on chip.
    Mte2,
    /// Vec to global memory.
    Mte3,
    /// Out of L0C.
    Fix,
}

impl Pipe {
    pub const ALL: [Pipe; 7] = [Pipe::S, Pipe::V, Pipe::M, Pipe::Mte1, Pipe::Mte2, Pipe::Mte3, Pipe::Fix];

    pub fn name(self) -> &'static str {
        match self {
            Pipe::S => "PIPE_S",
            Pipe::V => "PIPE_V",
            Pipe::M => "PIPE_M",
            Pipe::Mte1 => "PIPE_MTE1",
            Pipe::Mte2 => "PIPE_MTE2",
            Pipe::Mte3 => "PIPE_MTE3",
            Pipe::Fix => "PIPE_FIX",
        }
    }

    /// The name without its prefix, as authors write it: `MTE2`.
    pub fn short_name(self) -> &'static str {
        match self {
            Pipe::S => "S",
            Pipe::V => "V",
            Pipe::M => "M",
            Pipe::Mte1 => "MTE1",
            Pipe::Mte2 => "MTE2",
            Pipe::Mte3 => "MTE3",
            Pipe::Fix => "FIX",
        }
    }

    pub fn from_name(name: &str) -> Option<Pipe> {
        Pipe::ALL.into_iter().find(|pipe| pipe.name() == name || pipe.short_name() == name)
    }

    /// Whether an instruction starts only when the one before it has finished. On the two compute units they overlap.
    pub fn in_order(self) -> bool {
        !matches!(self, Pipe::V | Pipe::M)
    }
}
