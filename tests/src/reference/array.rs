//! Arrays of any rank, in the element types of the language.

use tilefit_python::element::Dtype;

/// An element that nothing was written to, or that lies beside the valid part.
pub const UNDEFINED: f64 = f64::NAN;

/// A tile or a tensor. Elements are held exactly: each is rounded to the element type when it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// The part that holds data: of a tile at most the shape.
    pub valid: Vec<usize>,
    /// Row-major; [`UNDEFINED`] where nothing is known.
    pub data: Vec<f64>,
}

impl Array {
    pub fn undefined(dtype: Dtype, shape: &[usize]) -> Array {
        let data = vec![UNDEFINED; shape.iter().product()];
        Array { dtype, shape: shape.to_vec(), valid: shape.to_vec(), data }
    }

    pub fn filled(dtype: Dtype, shape: &[usize], value: f64) -> Array {
        let data = vec![rounded(dtype, value); shape.iter().product()];
        Array { data, ..Array::undefined(dtype, shape) }
    }

    pub fn from_fn(dtype: Dtype, shape: &[usize], mut f: impl FnMut(&[usize]) -> f64) -> Array {
        let mut array = Array::undefined(dtype, shape);
        let mut at = 0;
        each_index(shape, |index| {
            array.data[at] = rounded(dtype, f(index));
            at += 1;
        });
        array
    }

    /// The same elements in order, with other extents.
    pub fn reshaped(&self, shape: &[usize]) -> Array {
        let whole = self.valid == self.shape;
        let line = |extents: &[usize]| extents.iter().filter(|extent| **extent != 1).count() <= 1;
        let valid = if !whole && line(&self.shape) && line(shape) {
            let count = self.valid.iter().product();
            shape.iter().map(|extent| if *extent == 1 { 1 } else { count }).collect()
        } else {
            shape.to_vec()
        };
        Array { shape: shape.to_vec(), valid, data: self.data.clone(), dtype: self.dtype }
    }

    pub fn with_valid(mut self, valid: &[usize]) -> Array {
        self.valid = valid.to_vec();
        self
    }

    /// Position of an element in `data`.
    pub fn position(&self, index: &[usize]) -> usize {
        index.iter().zip(&self.shape).fold(0, |at, (index, extent)| at * extent + index)
    }

    pub fn at(&self, index: &[usize]) -> f64 {
        self.data[self.position(index)]
    }

    pub fn set(&mut self, index: &[usize], value: f64) {
        let at = self.position(index);
        self.data[at] = rounded(self.dtype, value);
    }

    /// As in NumPy: an extent of 1 stands for any, and so does a leading axis that is not there.
    pub fn broadcast(&self, index: &[usize]) -> f64 {
        let skipped = index.len().saturating_sub(self.shape.len());
        let position = index[skipped..].iter().zip(&self.shape);
        self.data[position.fold(0, |at, (index, extent)| at * extent + if *extent == 1 { 0 } else { *index })]
    }

    pub fn is_valid(&self, index: &[usize]) -> bool {
        index.iter().zip(&self.valid).all(|(index, extent)| index < extent)
    }

    /// All axes but the last together, and the last: of the shape.
    pub fn matrix(&self) -> [usize; 2] {
        as_matrix(&self.shape)
    }

    /// [`Array::matrix`] of the valid part.
    pub fn valid_matrix(&self) -> [usize; 2] {
        as_matrix(&self.valid)
    }

    /// The bytes of each element in order; `None` for those that are undefined.
    pub fn bytes(&self) -> Vec<Option<u8>> {
        let size = self.dtype.storage_bits() as usize / 8;
        let of = |value: f64| match value.is_nan() {
            true => vec![None; size],
            false => bits(self.dtype, value).to_le_bytes()[..size].iter().map(|byte| Some(*byte)).collect(),
        };
        self.data.iter().flat_map(|value| of(*value)).collect()
    }

    /// Elements as they lie in memory.
    pub fn of_memory(dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Array {
        let size = dtype.storage_bits() as usize / 8;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let data = bytes.chunks(size).map(|bytes| of_bits(dtype, word(bytes))).collect();
        Array { data, ..Array::undefined(dtype, shape) }
    }

    /// Elements made of bytes that may be undefined.
    pub fn of_bytes(dtype: Dtype, shape: &[usize], bytes: &[Option<u8>]) -> Array {
        let size = dtype.storage_bits() as usize / 8;
        let element = |bytes: &[Option<u8>]| {
            let whole: Option<Vec<u8>> = bytes.iter().copied().collect();
            whole.map_or(UNDEFINED, |bytes| Array::of_memory(dtype, &[1], &bytes).data[0])
        };
        let data = bytes.chunks(size).map(element).collect();
        Array { data, ..Array::undefined(dtype, shape) }
    }
}

fn as_matrix(extents: &[usize]) -> [usize; 2] {
    match extents {
        [leading @ .., last] => [leading.iter().product(), *last],
        [] => [1, 1],
    }
}

/// Calls `f` with every index of a shape, the last axis fastest.
pub fn each_index(shape: &[usize], mut f: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        f(&index);
        let Some(axis) = (0..shape.len()).rev().find(|axis| index[*axis] + 1 < shape[*axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The value as an element of the type: floats to nearest even, integers by their low bits.
pub fn rounded(dtype: Dtype, value: f64) -> f64 {
    if value.is_nan() {
        return UNDEFINED;
    }
    match dtype {
        Dtype::Fp32 => f64::from(value as f32),
        Dtype::Fp16 => to_precision(value, 11, -14, 65504.0),
        Dtype::Bf16 => to_precision(value, 8, -126, f64::from(f32::MAX)),
        Dtype::Bool => f64::from(u8::from(value != 0.0)),
        Dtype::Int8 => f64::from(value as i64 as i8),
        Dtype::Int16 => f64::from(value as i64 as i16),
        Dtype::Int32 => f64::from(value as i64 as i32),
        Dtype::Uint8 => f64::from(value as i64 as u8),
        Dtype::Uint16 => f64::from(value as i64 as u16),
        Dtype::Uint32 => f64::from(value as i64 as u32),
        _ => value,
    }
}

/// Rounds to so many bits of significand.
fn to_precision(value: f64, digits: i32, least_exponent: i32, greatest: f64) -> f64 {
    if value == 0.0 || value.is_infinite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let unit = power(exponent.max(least_exponent) - (digits - 1));
    let result = (value / unit).round_ties_even() * unit;
    if result.abs() > greatest { f64::INFINITY.copysign(value) } else { result }
}

/// Two to the power of `exponent`, which is that of a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn bits(dtype: Dtype, value: f64) -> u64 {
    match dtype {
        Dtype::Fp32 => u64::from((value as f32).to_bits()),
        Dtype::Bf16 => u64::from((value as f32).to_bits() >> 16),
        Dtype::Fp16 => half_bits(value),
        Dtype::Uint64 => value as u64,
        _ => value as i64 as u64,
    }
}

fn of_bits(dtype: Dtype, bits: u64) -> f64 {
    match dtype {
        Dtype::Fp32 => f64::from(f32::from_bits(bits as u32)),
        Dtype::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        Dtype::Fp16 => {
            let (sign, exponent, fraction) = (bits >> 15 & 1, (bits >> 10 & 31) as i32, (bits & 1023) as f64);
            let magnitude = match exponent {
                0 => fraction * power(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => UNDEFINED,
                _ => (1024.0 + fraction) * power(exponent - 25),
            };
            if sign == 1 { -magnitude } else { magnitude }
        }
        Dtype::Int8 => f64::from(bits as i8),
        Dtype::Int16 => f64::from(bits as i16),
        Dtype::Int32 => f64::from(bits as i32),
        Dtype::Int64 | Dtype::Index => bits as i64 as f64,
        _ => bits as f64,
    }
}

/// Of a value that half precision holds exactly.
fn half_bits(value: f64) -> u64 {
    let sign = u64::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | 31 << 10;
    }
    if magnitude < power(-14) {
        return sign | (magnitude * power(24)) as u64;
    }
    let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let fraction = magnitude / power(exponent - 10) - 1024.0;
    sign | ((exponent + 15) as u64) << 10 | fraction as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_rounded_to_their_type() {
        assert_eq!(rounded(Dtype::Fp16, 2049.0), 2048.0);
        assert_eq!(rounded(Dtype::Fp16, 70000.0), f64::INFINITY);
        assert_eq!(rounded(Dtype::Bf16, 257.0), 256.0);
        assert_eq!(rounded(Dtype::Int8, 200.0), -56.0);
        assert_eq!(rounded(Dtype::Uint8, -1.0), 255.0);
    }

    #[test]
    fn bytes_give_the_elements_back() {
        for dtype in [Dtype::Fp32, Dtype::Fp16, Dtype::Bf16, Dtype::Int32, Dtype::Uint16, Dtype::Int8] {
            let values = [0.0, 1.0, -2.5, 100.0, -6e-6, 0.1];
            let array = Array::from_fn(dtype, &[2, 3], |index| values[index[0] * 3 + index[1]]);
            assert_eq!(Array::of_bytes(dtype, &[2, 3], &array.bytes()), array, "{dtype}");
        }
    }
}
