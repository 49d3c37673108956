//! Arrays of two dimensions: as much of NumPy as the references need.

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<f64>,
}

impl Array {
    pub(crate) fn from(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Array {
        let values = (0..rows * cols).map(|at| f(at / cols, at % cols)).collect();
        Array { rows, cols, values }
    }

    /// With broadcasting of single rows and columns.
    pub(crate) fn at(&self, row: usize, col: usize) -> f64 {
        self.values[(if self.rows == 1 { 0 } else { row }) * self.cols + if self.cols == 1 { 0 } else { col }]
    }

    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Array {
        Array { values: self.values.iter().copied().map(f).collect(), ..*self }
    }

    pub(crate) fn zip(&self, other: &Array, f: impl Fn(f64, f64) -> f64) -> Array {
        let (rows, cols) = (self.rows.max(other.rows), self.cols.max(other.cols));
        Array::from(rows, cols, |r, c| f(self.at(r, c), other.at(r, c)))
    }

    pub(crate) fn add(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a + b)
    }

    pub(crate) fn sub(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a - b)
    }

    pub(crate) fn mul(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a * b)
    }

    pub(crate) fn div(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a / b)
    }

    pub(crate) fn scale(&self, by: f64) -> Array {
        self.map(|a| a * by)
    }

    pub(crate) fn exp(&self) -> Array {
        self.map(f64::exp)
    }

    pub(crate) fn rows(&self, f: impl Fn(f64, f64) -> f64) -> Array {
        Array::from(self.rows, 1, |r, _| (1..self.cols).fold(self.at(r, 0), |sum, c| f(sum, self.at(r, c))))
    }

    pub(crate) fn row_sum(&self) -> Array {
        self.rows(|a, b| a + b)
    }

    pub(crate) fn row_max(&self) -> Array {
        self.rows(f64::max)
    }

    /// `a.reshape(n, height, width)`, folded over the first axis.
    pub(crate) fn blocks(&self, height: usize, f: impl Fn(f64, f64) -> f64) -> Array {
        let first = self.part(0, height, 0, self.cols);
        (1..self.rows / height).fold(first, |sum, n| sum.zip(&self.part(n * height, height, 0, self.cols), &f))
    }

    pub(crate) fn part(&self, row: usize, rows: usize, col: usize, cols: usize) -> Array {
        Array::from(rows, cols, |r, c| self.values[(row + r) * self.cols + col + c])
    }

    pub(crate) fn reshape(&self, rows: usize, cols: usize) -> Array {
        Array { rows, cols, values: self.values.clone() }
    }

    pub(crate) fn times(&self, other: &Array) -> Array {
        Array::from(self.rows, other.cols, |r, c| (0..self.cols).map(|k| self.at(r, k) * other.at(k, c)).sum())
    }

    pub(crate) fn below(&self, other: &Array) -> Array {
        Array {
            rows: self.rows + other.rows,
            cols: self.cols,
            values: [self.values.clone(), other.values.clone()].concat(),
        }
    }

    pub(crate) fn zeros(rows: usize, cols: usize) -> Array {
        Array::from(rows, cols, |_, _| 0.0)
    }
}
