//! Register layouts with which tensor memory is loaded and stored (`getDistributedLayoutForTmemLdSt` in `lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp`):
//! what an instruction gives to each lane, repeated over the columns and warps. Four warps see 32 of 128 rows each.

use super::{Layout, LinearLayout, Reason};

/// A bit of the row or the column in tensor memory.
#[derive(Debug, Clone, Copy)]
enum Bit {
    Row(usize),
    Column(usize),
}

use Bit::{Column, Row};

/// Warps that see all 128 rows: 32 each.
const WARPS_OF_ROWS: u32 = 4;
/// Bit of the row that is 16: a tensor of 64 rows leaves half of them out.
const ROW_16: usize = 4;

/// The default layout of `load()`, `store()` and `get_reg_layout(instr_variant=variant)` of a buffer, whose default variant is `32x32b`. `shape`, `block`:
/// rows, columns; `col_stride` as in `TensorMemoryLayout`: how many elements of the same size one takes.
pub fn tensor_memory_register_layout(
    shape: &[u32],
    block: [u32; 2],
    col_stride: u32,
    bits: u32,
    num_warps: u32,
    variant: &str,
    two_ctas: bool,
) -> Result<Layout, Reason> {
    if two_ctas {
        return Err("the registers of tensor memory of two CTAs are not known".into());
    }
    if num_warps < WARPS_OF_ROWS || !num_warps.is_power_of_two() || num_warps > 64 {
        return Err(format!("tensor memory is loaded by 4 warps, 8, or more; got {num_warps}").into());
    }
    if !matches!(bits, 8 | 16 | 32) || u64::from(bits) * u64::from(col_stride) > 32 {
        return Err(format!("tensor memory of elements of {bits} bits, {col_stride} apart").into());
    }
    let splits = variant == "32x32b_splitn";
    let instruction = Instruction::of(if splits { "32x32b" } else { variant })?;
    let layout = instruction.layout(Memory::new(shape, block, col_stride)?, bits, num_warps)?;
    Ok(if splits { split_columns(layout, shape[1], bits)? } else { layout }.into())
}

/// The element that each bit of rows and columns moves to; all zero: nothing lies there.
struct Memory {
    rows: Vec<Vec<u32>>,
    columns: Vec<Vec<u32>>,
}

impl Memory {
    fn new(shape: &[u32], block: [u32; 2], col_stride: u32) -> Result<Memory, Reason> {
        let &[rows, columns] = shape else {
            return Err(format!("a buffer of tensor memory of {} dimensions", shape.len()).into());
        };
        let (block_rows, block_columns) = (block[0], block[1].min(columns));
        let sizes = [rows, columns, block_columns, col_stride];
        if !matches!(block_rows, 64 | 128)
            || rows < block_rows
            || sizes.iter().any(|size| !size.is_power_of_two() || *size > 1 << 16)
        {
            return Err(format!("a buffer of tensor memory of shape {shape:?} in blocks of {block:?}").into());
        }
        let mut reached = [block_rows, block_columns];
        let mut memory =
            Memory { rows: steps(1, block_rows, 0), columns: vec![vec![0, 0]; col_stride.ilog2() as usize] };
        memory.columns.extend(steps(1, block_columns, 1));
        if block_rows == 64 {
            // Another block lies in the rows between, if there is one.
            let between = match () {
                () if rows > block_rows => vec![64, 0],
                () if columns > block_columns => vec![0, block_columns],
                () => vec![0, 0],
            };
            reached[0] += between[0];
            reached[1] += between[1];
            memory.rows.insert(ROW_16, between);
        }
        memory.columns.extend(steps(reached[0], rows, 0));
        memory.columns.extend(steps(reached[1], columns, 1));
        Ok(memory)
    }

    fn element(&self, bit: Bit) -> Vec<u32> {
        match bit {
            Row(at) => self.rows[at].clone(),
            Column(at) => self.columns[at].clone(),
        }
    }

    /// Puts aside the columns of one word of 32 bits: the registers that its elements are unpacked to.
    fn take_word(&mut self, bits: u32) -> Result<Vec<Vec<u32>>, Reason> {
        let is_next = |columns: &[Vec<u32>], taken: usize| columns.first() == Some(&vec![0, 1 << taken]);
        let mut word = Vec::new();
        let mut packed = bits;
        while packed < 32 && is_next(&self.columns, word.len()) {
            word.push(self.columns.remove(0));
            packed *= 2;
        }
        if packed == 32 || self.columns.is_empty() {
            return Ok(word);
        }
        // The rest of the word is unused.
        let unused = (32 / packed).ilog2() as usize;
        if self.columns.len() < unused || self.columns[..unused].iter().any(|step| *step != [0, 0]) {
            return Err("tensor memory whose words are neither full nor padded".into());
        }
        self.columns.drain(..unused);
        // Two words of 16 bits each are unpacked by one instruction.
        if packed == 16 && is_next(&self.columns, word.len()) {
            word.push(self.columns.remove(0));
        }
        Ok(word)
    }
}

/// Powers of two along a dimension.
fn steps(from: u32, to: u32, dim: usize) -> Vec<Vec<u32>> {
    let step = |bit: u32| if dim == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] };
    (from.ilog2()..to.ilog2()).map(step).collect()
}

/// What one instruction gives to the registers and lanes of a warp.
struct Instruction {
    register: &'static [Bit],
    lane: [Bit; 5],
    /// log2 of the columns that it reads.
    columns: usize,
    /// Whether it reads 32 rows, not 16.
    is_tall: bool,
}

impl Instruction {
    fn of(variant: &str) -> Result<Instruction, Reason> {
        let (register, lane, columns): (&'static [Bit], _, _) = match variant {
            "32x32b" => (&[], [Row(0), Row(1), Row(2), Row(3), Row(ROW_16)], 0),
            "16x64b" => (&[], [Row(3), Column(0), Row(0), Row(1), Row(2)], 1),
            "16x128b" => (&[Row(3)], [Column(0), Column(1), Row(0), Row(1), Row(2)], 2),
            "16x256b" => (&[Column(0), Row(3)], [Column(1), Column(2), Row(0), Row(1), Row(2)], 3),
            _ => return Err(format!("loads of tensor memory as `{variant}`").into()),
        };
        Ok(Instruction { register, lane, columns, is_tall: variant == "32x32b" })
    }

    fn layout(self, mut memory: Memory, bits: u32, num_warps: u32) -> Result<LinearLayout, Reason> {
        let word = memory.take_word(bits)?;
        let is_half_empty = memory.rows[ROW_16] == [0, 0];
        let Some(mut missing) = memory.columns.len().checked_sub(self.columns) else {
            return Err("tensor memory of fewer columns than the instruction reads".into());
        };
        let lanes = if self.is_tall { &self.lane[..ROW_16] } else { &self.lane };
        if self.register.iter().chain(lanes).any(|&bit| memory.element(bit) == [0, 0]) {
            return Err("tensor memory that holds nothing where the instruction reads".into());
        }
        let (mut register, mut lane, mut warp) = (self.register.to_vec(), self.lane.to_vec(), vec![Row(5), Row(6)]);
        let reads_twice = !self.is_tall && !is_half_empty;
        let more_warps = num_warps.ilog2() as usize - 2 - usize::from(reads_twice && num_warps > WARPS_OF_ROWS);
        // Warps beyond the columns repeat data.
        let along_columns = more_warps.min(missing);
        missing -= along_columns;
        let mut columns = (self.columns..).map(Column);
        if missing > 0 && self.is_tall && is_half_empty {
            register.extend(columns.by_ref().take(missing - 1));
            lane[ROW_16] = Column(self.columns + missing - 1);
            columns.next();
        } else {
            register.extend(columns.by_ref().take(missing));
        }
        if reads_twice {
            if num_warps > WARPS_OF_ROWS { &mut warp } else { &mut register }.push(Row(ROW_16));
        }
        warp.extend(columns.take(along_columns));
        let elements = |bits: &[Bit]| bits.iter().map(|&bit| memory.element(bit)).collect::<Vec<_>>();
        let mut layout = LinearLayout { register: elements(&register), lane: elements(&lane), warp: elements(&warp) };
        layout.register.splice(0..0, word);
        layout.warp.resize(num_warps.ilog2() as usize, vec![0, 0]);
        Ok(layout)
    }
}

/// `32x32b_splitn`: both halves of the columns lie in each thread, so that the tensor can be split along them.
fn split_columns(mut layout: LinearLayout, columns: u32, bits: u32) -> Result<LinearLayout, Reason> {
    let half = vec![0, columns / 2];
    let is_half = |basis: &&mut Vec<u32>| **basis == half;
    let few = 32 / bits;
    let Some(last) = layout.register.last_mut() else {
        let lane = layout.lane.iter_mut().last().filter(is_half).ok_or("halves of columns that lie in other warps")?;
        *lane = vec![0, 0];
        layout.register.push(half);
        return Ok(layout);
    };
    if *last == half {
        return Ok(layout);
    }
    if 1 << layout.register.len() <= few {
        return Err(format!("halves of columns in {few} registers").into());
    }
    let last = layout.register.last_mut().ok_or("no registers")?;
    // The first four warps see rows of their own.
    let mut elsewhere = layout.lane.iter_mut().chain(layout.warp.iter_mut().skip(2));
    let found = elsewhere.find(is_half).ok_or("halves of columns that no lane and no warp has")?;
    std::mem::swap(last, found);
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_row() {
        let loaded = tensor_memory_register_layout(&[128, 4], [128, 4], 1, 32, 4, "32x32b", false);
        let rows = |steps: &[u32]| steps.iter().map(|&step| vec![step, 0]).collect::<Vec<_>>();
        let register = vec![vec![0, 1], vec![0, 2]];
        assert_eq!(loaded, Ok(Layout::Linear { register, lane: rows(&[1, 2, 4, 8, 16]), warp: rows(&[32, 64]) }));
    }

    #[test]
    fn what_has_no_such_registers_is_an_error() {
        let load = |shape: &[u32], warps, variant| {
            tensor_memory_register_layout(shape, [128, 64], 1, 32, warps, variant, false)
        };
        assert!(load(&[128, 64], 4, "16x32bx2").is_err());
        assert!(load(&[128, 64], 2, "32x32b").is_err());
        assert!(load(&[64, 64], 4, "32x32b").is_err());
        assert!(load(&[128], 4, "32x32b").is_err());
        assert!(load(&[128, 2], 4, "16x256b").is_err());
    }
}
