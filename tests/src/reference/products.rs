//! Matrix products, page by page where there are more than two axes.

use tilefit_pypto::ir::AttrName;

use super::array::{Array, UNDEFINED};
use super::operation::Operation;
use super::{Result, Value};

pub(super) fn evaluate(operation: &Operation) -> Result<Option<Value>> {
    let (adds, biased) = match operation.name {
        "matmul" | "batch_matmul" | "gemv" => (false, false),
        "matmul_acc" | "batch_matmul_acc" | "gemv_acc" => (true, false),
        "matmul_bias" | "gemv_bias" => (false, true),
        _ => return Ok(None),
    };
    let first = usize::from(adds);
    let (left, right) = (operation.array(first)?, operation.array(first + 1)?);
    let left = side(&left.borrow(), operation.call.flag(AttrName::ATrans));
    let right = side(&right.borrow(), operation.call.flag(AttrName::BTrans));
    let starts = adds && operation.number(3).is_ok_and(|starts| starts.as_f64() != 0.0);
    let start = match (adds && !starts, biased) {
        (true, _) => Some(operation.array(0)?),
        (_, true) => Some(operation.array(2)?),
        _ => None,
    };
    let valid = [left.valid_matrix_of_page()[0], right.valid_matrix_of_page()[1]];
    operation.fill(|index| {
        let [leading @ .., row, column] = index else { return Err("a product of less than two axes".to_owned()) };
        if *row >= valid[0] || *column >= valid[1] {
            return Ok(UNDEFINED);
        }
        let start = start.as_ref().map_or(0.0, |start| start.borrow().broadcast(index));
        let (inner, width) = (left.valid[left.valid.len() - 1], right.matrix()[1]);
        let row = &left.data[left.page(leading) + row * left.matrix()[1]..][..inner];
        let column = right.data[right.page(leading) + column..].iter().step_by(width);
        Ok(start + row.iter().zip(column).map(|(left, right)| left * right).sum::<f64>())
    })
}

/// An operand, the last two axes exchanged where the call says so.
fn side(array: &Array, transposed: bool) -> Array {
    if transposed {
        super::movement::transposed(array, array.shape.len() - 2, array.shape.len() - 1)
    } else {
        array.clone()
    }
}

impl Array {
    /// Where the page with this index starts.
    fn page(&self, leading: &[usize]) -> usize {
        let [pages @ .., rows, columns] = self.shape.as_slice() else { return 0 };
        let index = leading[leading.len() - pages.len().min(leading.len())..].iter().zip(pages);
        index.fold(0, |page, (index, extent)| page * extent + if *extent == 1 { 0 } else { *index }) * rows * columns
    }

    /// Rows and columns of the valid part of each page.
    fn valid_matrix_of_page(&self) -> [usize; 2] {
        match self.valid.as_slice() {
            [.., rows, columns] => [*rows, *columns],
            _ => [1, self.valid.iter().product()],
        }
    }
}
