//! How the code generator selects the instructions of an operation, as a column of the catalogue (`docs/reference/codegen.md`, "Operations").
//!
//! Plain data: `codegen/selection/` reads it, and nothing here knows of the generator. What is one instruction on the operands
//! of the call is said by its row alone; what needs more has a variant, and a function in the generator.

use super::AttrName;

/// What an operation becomes in generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Nothing: the compiler makes other operations of it before, or the generator does not know it.
    None,
    /// One instruction.
    One(Instruction),
    /// No instruction: all that there is to it stands in a declaration.
    Declaration,
    /// The tensor that is its operand, under another type.
    SameTensor,
    Load,
    Store,
    /// The bytes of its operand under another type.
    View,
    /// A window of its operand; a copy where it has memory of its own.
    Slice(Instruction),
    /// The bytes of its operand under another type; nothing where both tiles are declared at one address.
    Reshape(Instruction),
    /// By indices, whose width a machine may refuse.
    Gather(Instruction),
    GatherCompare,
    GatherRow,
    GatherFromTensor,
    ScatterToTensor,
    MergeSorted,
    Random,
    /// With a fourth operand, a branch of a product and an accumulation.
    Accumulation(Instruction),
    /// A product with scales, and the positions of each tile and of its scales.
    ScaledProduct(Instruction, [(u8, u8); 2]),
    ReadElement,
    WriteElement,
    ReadTensor,
    WriteTensor,
    MakeArray,
    ReadArray,
    WriteArray,
    /// Where the kernel runs.
    Index(Index),
    CommContext,
    /// The number of the device.
    Rank,
    /// How many devices there are.
    RankCount,
    Notify,
    WaitFor,
    RemoteLoad,
    RemoteStore,
    /// Between devices, through staging tiles.
    Staged,
    PushTile,
    PopTile,
    FreeTile,
    /// A flag from one pipe to another.
    SetFlag,
    WaitFlag,
    /// A flag between the cores, whose number is operand 0: the instruction library has none.
    FlagBetweenCores,
    /// What those flags need, which it does not have either.
    FlagsBetweenCores,
    VectorBarrier,
    CubeBarrier,
    BarrierOfAll,
    SyncAll,
}

impl Selection {
    /// The instruction, of those that may be one on the operands of the call.
    pub fn instruction(&self) -> Option<&Instruction> {
        match self {
            Selection::One(instruction)
            | Selection::Slice(instruction)
            | Selection::Reshape(instruction)
            | Selection::Gather(instruction)
            | Selection::Accumulation(instruction)
            | Selection::ScaledProduct(instruction, _) => Some(instruction),
            _ => None,
        }
    }
}

/// Where a kernel runs, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    Block,
    BlockCount,
    /// Of the vector units of a core.
    VectorUnit,
}

/// An instruction of the library, in the order in which its operands are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub name: &'static str,
    pub template: &'static [Template],
    /// After the destination.
    pub operands: &'static [Printed],
    pub columns: Columns,
    pub alike: Alike,
    pub unit: Unit,
    pub broadcast: Broadcast,
}

/// One printed operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// Operand of the IR call.
    Arg(u8),
    /// Element of a list operand of the IR call.
    Item(u8, u8),
    /// Scratch operand: written as well as read. Missing ones get a tile of their own.
    Tmp(u8),
    /// `mode` as `RoundMode::CAST_…`
    Round,
    /// `cmp_type` as `CmpMode::…`
    Compare,
}

/// One template argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Type of the result.
    Result,
    /// Its element type.
    Element,
    /// Type of an operand of the IR call.
    Type(u8),
    /// An attribute as `0` or `1`.
    Flag(AttrName),
    /// `mask_pattern` as `MaskPattern::P…`
    Pattern,
}

/// What becomes of tiles of one column, which are column-major: most instructions of the library assert that tiles are row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    Taken,
    /// They are passed as one row at the same address.
    AsRows,
    /// These printed operands must be row-major; the destination is number 0. Out of `column` comes one value for each row.
    Refused {
        row_major: &'static [usize],
        column: Option<usize>,
    },
}

/// The unit that executes an instruction. What the headers of pto-isa are made of decides, where they differ by machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// That of the memories of its operands.
    OfSpaces,
    /// It moves a tile: that of the memories, and out of Acc the one that all moves from there run on.
    OfMove,
    /// The scalar unit, in a loop over the elements: a form without scratch has no vector instructions, on neither machine.
    Scalar,
    /// None: it points its result to the bytes of its operand.
    Nothing,
    /// On 910B elements after columns that fill no whole block of 32 bytes are copied by the scalar unit, for which nothing waits.
    ScalarBehindBlocks,
}

/// What the tiles of an instruction must have in common with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    Nothing,
    /// The C++ type; only the simulator of the instruction library asks for it.
    Simulated,
    /// The columns of the C++ type; likewise.
    SimulatedColumns,
    /// The C++ type.
    Type,
}

/// What becomes of operands that are smaller than the result: instructions do not broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broadcast {
    Refused,
    /// The smaller tile is a part of the larger one, and the instruction takes it as such.
    Parts,
    Expanded(&'static Expansion),
}

/// The instructions on two tiles of which the second has one row, or one column, for all of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    pub of_row: Instruction,
    pub of_column: Instruction,
    /// The operands may change places, so that the smaller one is the second.
    pub commutes: bool,
}

pub(super) const UNARY: &[Printed] = &[Printed::Arg(0)];
pub(super) const BINARY: &[Printed] = &[Printed::Arg(0), Printed::Arg(1)];
pub(super) const TERNARY: &[Printed] = &[Printed::Arg(0), Printed::Arg(1), Printed::Arg(2)];

/// An instruction that takes tiles of whatever kind, on the unit of their memories.
pub(super) const fn instruction(name: &'static str, operands: &'static [Printed]) -> Instruction {
    Instruction {
        name,
        template: &[],
        operands,
        columns: Columns::Taken,
        alike: Alike::Nothing,
        unit: Unit::OfSpaces,
        broadcast: Broadcast::Refused,
    }
}

/// Of two tiles, the second with one row for all of the first.
pub(super) const fn of_row(name: &'static str) -> Instruction {
    instruction(name, BINARY).row_major(&[0, 1, 2])
}

/// Of two tiles, the second with one value for each row of the first.
pub(super) const fn of_column(name: &'static str) -> Instruction {
    instruction(name, BINARY).spreading()
}

impl Instruction {
    /// On each element by itself.
    pub(super) const fn each(self) -> Instruction {
        Instruction { columns: Columns::AsRows, ..self }
    }

    /// These printed operands are row-major.
    pub(super) const fn row_major(self, row_major: &'static [usize]) -> Instruction {
        Instruction { columns: Columns::Refused { row_major, column: None }, ..self }
    }

    /// The last printed operand has one value for each row, the others are row-major.
    pub(super) const fn spreading(self) -> Instruction {
        let columns = match self.operands.len() {
            1 => Columns::Refused { row_major: &[0], column: Some(1) },
            _ => Columns::Refused { row_major: &[0, 1], column: Some(2) },
        };
        Instruction { columns, ..self }
    }

    pub(super) const fn alike(self, alike: Alike) -> Instruction {
        Instruction { alike, ..self }
    }

    pub(super) const fn on(self, unit: Unit) -> Instruction {
        Instruction { unit, ..self }
    }

    pub(super) const fn template(self, template: &'static [Template]) -> Instruction {
        Instruction { template, ..self }
    }

    pub(super) const fn broadcast(self, broadcast: Broadcast) -> Instruction {
        Instruction { broadcast, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{OPS, Op, OpId};

    fn instructions() -> impl Iterator<Item = (&'static Op, &'static Instruction)> {
        OPS.iter().filter_map(|op| Some((op, op.selection.instruction()?)))
    }

    #[test]
    fn maps_the_operations_of_the_seed() {
        let of = |op| OpId::from_name(op).and_then(|op| op.op().selection.instruction()).map(|it| it.name);
        assert_eq!(of("block.add"), Some("TADD"));
        assert_eq!(of("tile.divs"), Some("TDIVS"));
        assert_eq!(of("block.sqrt"), Some("TSQRT"));
        assert_eq!(of("tile.sort32"), Some("TSORT32"));
        assert_eq!(of("tile.sin"), None);
    }

    #[test]
    fn a_broadcast_is_expanded_by_the_instruction_of_its_operator() {
        let expansion = |op: OpId| match op.op().selection.instruction()?.broadcast {
            Broadcast::Expanded(expansion) => Some((expansion.of_row.name, expansion.of_column.name)),
            Broadcast::Refused | Broadcast::Parts => None,
        };
        assert_eq!(expansion(OpId::MAXIMUM), Some(("TCOLEXPANDMAX", "TROWEXPANDMAX")));
        assert_eq!(expansion(OpId::SUB), Some(("TCOLEXPANDSUB", "TROWEXPANDSUB")));
        assert_eq!(expansion(OpId::XOR), None);
    }

    #[test]
    fn instructions_print_operands_that_the_operation_has() {
        for (op, instruction) in instructions() {
            for printed in instruction.operands {
                let (Printed::Arg(arg) | Printed::Item(arg, _) | Printed::Tmp(arg)) = printed else { continue };
                assert!((*arg as usize) < op.args.len(), "{}: no operand {arg}", op.name);
            }
            for of in instruction.template {
                let Template::Type(arg) = of else { continue };
                assert!((*arg as usize) < op.args.len(), "{}: no operand {arg}", op.name);
            }
        }
    }

    #[test]
    fn scratch_that_an_instruction_writes_is_scratch_of_the_operation() {
        for (op, instruction) in instructions() {
            for printed in instruction.operands {
                let Printed::Tmp(arg) = printed else { continue };
                assert!(op.scratch.contains(arg), "{}: operand {arg}", op.name);
            }
        }
    }

    #[test]
    fn scales_are_operands_that_the_instruction_prints() {
        for op in &OPS {
            let Selection::ScaledProduct(instruction, scaled) = op.selection else { continue };
            for arg in scaled.into_iter().flat_map(|(data, scale)| [data, scale]) {
                assert!(instruction.operands.contains(&Printed::Arg(arg)), "{}: operand {arg}", op.name);
            }
        }
    }

    /// What stands in for a broadcast is itself an operation that authors can write.
    #[test]
    fn expansions_are_instructions_of_other_operations() {
        for (op, instruction) in instructions() {
            let Broadcast::Expanded(expansion) = instruction.broadcast else { continue };
            for other in [&expansion.of_row, &expansion.of_column] {
                assert!(instructions().any(|(_, known)| known == other), "{}: {}", op.name, other.name);
            }
        }
    }
}
