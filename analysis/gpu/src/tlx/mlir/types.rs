//! Types and encodings as MLIR prints them: encodings under short names, defined above the function.

use std::fmt::Write;

use super::super::kernel::{Buffer, BufferKind, Known, Layout, Pair};
use super::super::language::{Dtype, Storage};
use super::super::placed::PlacedBuffer;
use super::super::spec_size::SpecSize;

/// Fewer rows than this, and shared memory of a product is not swizzled.
const ROWS_OF_A_SWIZZLE: u64 = 8;

/// Short names of encodings, in the order in which they were first used.
#[derive(Debug, Default)]
pub(super) struct Encodings(Vec<(String, String)>);

impl Encodings {
    fn named(&mut self, stem: &str, encoding: String) -> String {
        if let Some((name, _)) = self.0.iter().find(|(_, known)| *known == encoding) {
            return name.clone();
        }
        let name = match self.0.iter().filter(|(name, _)| name.trim_end_matches(|c: char| c.is_ascii_digit()) == stem) {
            same if same.clone().count() == 0 => stem.to_owned(),
            same => format!("{stem}{}", same.count()),
        };
        self.0.push((name.clone(), encoding));
        name
    }

    /// The lines that define them, after those of the memory space.
    pub(super) fn definitions(&self) -> String {
        let mut text = String::new();
        for (name, encoding) in &self.0 {
            let _ = writeln!(text, "{name} = {encoding}");
        }
        if self.0.iter().any(|(name, _)| name.starts_with("#shared") || name.starts_with("#layout")) {
            text.push_str("#smem = #ttg.shared_memory\n");
        }
        text
    }

    /// The encoding of a buffer: that of its `layout=`, or the default of the front end. `propagated` is what products over two
    /// CTAs make of it.
    fn of_buffer(&mut self, buffer: &Buffer, propagated: bool, is_amd: bool) -> String {
        if buffer.layout != Layout::Default {
            return self.named("#layout", "#tlx.user_layout<…>".to_owned());
        }
        let rank = match buffer.kind {
            BufferKind::Data => buffer.shape.as_ref().map_or(2, Vec::len),
            BufferKind::Barrier { .. } | BufferKind::Response => 1,
        };
        if buffer.storage == Ok(Storage::Tmem) {
            return self.tensor_memory(buffer, propagated);
        }
        if rank == 1 || is_amd {
            return self.linear(rank);
        }
        let (Ok(shape), Ok(dtype)) = (&buffer.shape, &buffer.dtype) else {
            return self.named("#shared", "#ttg.nvmma_shared<…>".to_owned());
        };
        let (width, bits) = (swizzling_bytes(shape, *dtype), dtype.bits);
        let encoding = format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = false, elementBitWidth = {bits}}}>"
        );
        self.named("#shared", encoding)
    }

    /// Row by row, without a swizzle.
    fn linear(&mut self, rank: usize) -> String {
        let order: Vec<_> = (0..rank).rev().map(|dim| dim.to_string()).collect();
        let order = order.join(", ");
        let encoding = format!("#ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [{order}]}}>");
        self.named("#shared", encoding)
    }

    fn tensor_memory(&mut self, buffer: &Buffer, propagated: bool) -> String {
        if buffer.dtype.as_ref().is_ok_and(|dtype| dtype.is_scale()) {
            return self.named("#dummy", "#tlx.dummy_tmem_layout<>".to_owned());
        }
        let mode = match buffer.pair {
            Pair::Lhs if propagated => ", ctaMode = TwoCTA_LHS",
            Pair::Rhs if propagated => ", ctaMode = TwoCTA_RHS",
            _ => "",
        };
        match buffer.shape.as_deref() {
            Ok([rows, columns, ..]) => self.blocks(*rows, *columns, mode),
            _ => self.named("#tmem", "#ttng.tensor_memory_encoding<…>".to_owned()),
        }
    }

    fn blocks(&mut self, rows: u64, columns: u64, mode: &str) -> String {
        let encoding =
            format!("#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = 1{mode}>");
        self.named("#tmem", encoding)
    }

    /// The type of a buffer with `num` slots, or of a view of one without.
    pub(super) fn buffer(
        &mut self,
        buffer: &Buffer,
        num: Option<&Known<u64>>,
        propagated: bool,
        is_amd: bool,
    ) -> String {
        let encoding = self.of_buffer(buffer, propagated, is_amd);
        let mut extents: Vec<String> = Vec::new();
        if let Some(num) = num {
            extents.push(num.as_ref().map_or_else(|_| "?".to_owned(), u64::to_string));
        }
        match (&buffer.shape, buffer.kind) {
            (Ok(shape), BufferKind::Data) => extents.extend(shape.iter().map(u64::to_string)),
            (Err(_), BufferKind::Data) => extents.push("?".to_owned()),
            // An array of barriers has one dimension, and a view of one is an array of one barrier.
            _ if num.is_none() => extents.push("1".to_owned()),
            _ => {}
        }
        let element = buffer.dtype.as_ref().map_or("?", |dtype| dtype.mlir);
        memdesc(&extents, element, &encoding, buffer.storage.as_ref().copied().unwrap_or(Storage::Smem))
    }

    /// The type of a placed buffer after its indices are rewritten.
    pub(super) fn expanded(&mut self, buffer: &Buffer, place: &PlacedBuffer, is_amd: bool) -> String {
        self.buffer(buffer, Some(&Ok(place.rewriting.new_num)), true, is_amd)
    }

    /// A spec in the end: bytes, or 32-bit words in rows and columns.
    pub(super) fn backing(&mut self, size: &SpecSize, storage: Storage) -> String {
        let extents: Vec<_> = size.shape.iter().map(u64::to_string).collect();
        match (storage, size.shape.as_slice()) {
            (Storage::Tmem, [rows, columns]) => {
                let encoding = self.blocks(*rows, *columns, "");
                memdesc(&extents, "i32", &encoding, storage)
            }
            _ => {
                let encoding = self.linear(1);
                memdesc(&extents, "i8", &encoding, storage)
            }
        }
    }
}

fn memdesc(extents: &[String], element: &str, encoding: &str, storage: Storage) -> String {
    let space = if storage == Storage::Tmem { "#ttng.tensor_memory" } else { "#smem" };
    format!("!ttg.memdesc<{}x{element}, {encoding}, {space}, mutable>", extents.join("x"))
}

/// The widest swizzle that a row fills.
fn swizzling_bytes(shape: &[u64], dtype: Dtype) -> u64 {
    let Some((&inner, outer)) = shape.split_last() else { return 0 };
    let rows = outer.iter().fold(1, |rows: u64, &extent| rows.saturating_mul(extent));
    let bytes = inner.saturating_mul(dtype.bytes());
    if rows < ROWS_OF_A_SWIZZLE {
        return 0;
    }
    [128, 64, 32].into_iter().find(|&width| bytes >= width && bytes.is_multiple_of(width)).unwrap_or(0)
}
