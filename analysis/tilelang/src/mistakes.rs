//! What TileLang refuses for what the text says.

use tilefit_python::finding::Origin;

#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    pub at: Origin,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// `T.alloc_share`: the language has no such name.
    Member {
        name: String,
        nearest: Option<&'static str>,
    },
    /// A name that nothing defines.
    Name {
        name: String,
        nearest: Option<String>,
    },
    Dtype {
        name: String,
        nearest: Option<&'static str>,
    },
    Keyword {
        function: String,
        keyword: String,
        nearest: Option<&'static str>,
    },
    /// More arguments by their place than a function takes.
    Arguments {
        function: String,
        given: usize,
        most: usize,
    },
    /// A parameter of a function that is given nothing.
    Missing {
        function: String,
        parameter: String,
    },
    /// Sides of a product, or one and the accumulator, along one axis of it: `M`, `N` or `K`.
    Product {
        axis: char,
        left: u64,
        right: u64,
    },
    /// Element types that no instruction multiplies.
    ProductTypes {
        left: String,
        right: String,
    },
    /// Whole buffers of different shapes.
    CopyShapes {
        source: Vec<u64>,
        target: Vec<u64>,
    },
    /// A copy takes its extents from the side nearer to the threads, and that is the smaller one.
    CopyExtents {
        source: String,
        target: String,
        wanted: u64,
        room: u64,
    },
    /// The shape of what a reduction writes.
    ReductionShape {
        given: Vec<u64>,
        expected: Vec<u64>,
    },
    /// More indices than a buffer has dimensions, or fewer.
    Indices {
        buffer: String,
        given: usize,
        dimensions: usize,
    },
    /// The variables behind `as` are not as many as the dimensions of the grid.
    Variables {
        given: usize,
        dimensions: usize,
    },
    /// The factory defines a kernel and does not return it.
    NotReturned {
        kernel: Option<String>,
    },
    /// An `assert` of Python fails.
    Assertion,
    /// A statement of the kernel in a plain function of Python, which computes it and forgets it: nothing refuses it, and nothing happens.
    Lost,
}

impl What {
    /// The compiler says something, too.
    pub fn is_refused(&self) -> bool {
        !matches!(self, What::Lost)
    }
}
