//! Work of the cube unit.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype::{self, *};

use super::author::Author;
use super::operations::Level;
use super::values::{ScalarName, Value, ValueType, list, spelled};

/// Extents of a product and the type of its operands.
#[derive(Debug, Clone, Copy)]
struct Product {
    rows: u64,
    depth: u64,
    columns: u64,
    dtype: Dtype,
}

impl Product {
    fn left(self) -> ValueType {
        ValueType::vec(&[self.rows, self.depth], self.dtype).at(Space::Mat)
    }

    fn right(self) -> ValueType {
        ValueType::vec(&[self.depth, self.columns], self.dtype).at(Space::Mat)
    }

    fn result(self) -> ValueType {
        ValueType::vec(&[self.rows, self.columns], self.accumulator()).at(Space::Acc)
    }

    /// With operands that are multiplied at once.
    fn that_fits(self) -> Product {
        const HALF: u64 = 32768;
        let mut product = self;
        while product.left().bytes().max(product.right().bytes()) > HALF {
            let shrunk = (product.depth / 2).next_multiple_of(16);
            if shrunk == product.depth {
                return product;
            }
            product.depth = shrunk;
        }
        product
    }

    fn accumulator(self) -> Dtype {
        if self.dtype.is_float() { Fp32 } else { Int32 }
    }
}

impl Author<'_> {
    pub(super) fn product(&mut self) {
        let product = self.extents_of_product();
        if self.random.percent(2) {
            return self.paged_product(product);
        }
        // In a loop a product that is too large for its operands' memory mostly stays whole, and is refused.
        let small = if self.random.percent(90) { product.that_fits() } else { product };
        match (self.level, self.random.below(10)) {
            (Level::Tile, 0..=3) => self.tile_product(product),
            (Level::Tile, 4) => self.product_with_bias(product),
            (Level::Tile, 5) => self.row_product(small),
            (Level::Tile, _) => self.tile_products_in_a_loop(small),
            (Level::Tensor, 0..=5) => self.tensor_product(product),
            (Level::Tensor, _) => self.tensor_products_in_a_loop(small),
        }
    }

    fn extents_of_product(&mut self) -> Product {
        let mut extent = |usual: &[u64]| {
            if self.random.percent(80) { self.random.of(usual) } else { 16 * self.random.within(1, 12) }
        };
        let (rows, depth, columns) =
            (extent(&[16, 32, 64, 128]), extent(&[32, 64, 128, 256]), extent(&[32, 64, 128, 256]));
        let dtype = self.random.of(&[Bf16, Bf16, Fp16, Fp32, Int8]);
        // What goes to the vector unit and back takes a ring of it.
        let columns = if rows * columns > 8192 && !self.random.percent(5) { 32 } else { columns };
        Product { rows, depth, columns, dtype }
    }

    /// Loads in Mat, or moves to the places that the unit reads.
    fn tile_operands(&mut self, product: Product) -> (String, String) {
        let (left, right) = (self.load(&product.left()).name, self.load(&product.right()).name);
        const HALF: u64 = 16384;
        let fits = product.left().bytes() <= HALF && product.right().bytes() <= HALF;
        if self.random.percent(50) || !(fits || self.random.percent(3)) {
            return (left, right);
        }
        let (a, b) = (product.left().at(Space::Left), product.right().at(Space::Right));
        let left = self.bind(format!("pl.move({left}, target_memory=pl.Mem.Left)"), a).name;
        let right = self.bind(format!("pl.move({right}, target_memory=pl.Mem.Right)"), b).name;
        (left, right)
    }

    fn tile_product(&mut self, product: Product) {
        let (left, right) = self.tile_operands(product);
        let result = self.bind(format!("pl.matmul({left}, {right})"), product.result());
        if self.random.percent(25) {
            let (left, right) = self.tile_operands(product);
            let text = format!("pl.matmul_acc({}, {left}, {right})", result.name);
            let result = self.bind(text, product.result());
            return self.use_product(result);
        }
        self.use_product(result);
    }

    /// Stores a product, or takes it to the vector unit.
    fn use_product(&mut self, result: Value) {
        if self.random.percent(60) {
            return self.store(&result);
        }
        let kind = ValueType { is_special: true, ..result.kind.clone().at(Space::Vec) };
        self.bind(format!("pl.move({}, target_memory=pl.Mem.Vec)", result.name), kind);
    }

    fn product_with_bias(&mut self, product: Product) {
        let bias = ValueType::vec(&[1, product.columns], product.accumulator()).at(Space::Mat);
        let (left, right) = self.tile_operands(product);
        let mut bias = self.load(&bias);
        if self.random.percent(50) {
            let kind = bias.kind.clone().at(Space::Bias);
            bias = self.bind(format!("pl.move({}, target_memory=pl.Mem.Bias)", bias.name), kind);
        }
        let result = self.bind(format!("pl.matmul_bias({left}, {right}, {})", bias.name), product.result());
        self.use_product(result);
    }

    fn row_product(&mut self, product: Product) {
        let product = Product { rows: 1, ..product };
        let (left, right) = self.tile_operands(product);
        let result = match self.random.below(3) {
            0 => {
                let bias = ValueType::vec(&[1, product.columns], product.accumulator()).at(Space::Mat);
                let bias = self.load(&bias).name;
                format!("pl.gemv_bias({left}, {right}, {bias})")
            }
            _ => format!("pl.gemv({left}, {right})"),
        };
        let name = self.fresh("g");
        self.line(format!("{name} = {result}"));
        let mut last = name;
        if self.random.percent(30) {
            let (left, right) = self.tile_operands(product);
            let next = self.fresh("g");
            self.line(format!("{next} = pl.gemv_acc({last}, {left}, {right})"));
            last = next;
        }
        self.store(&Value { name: last, kind: ValueType { shape: vec![1, product.columns], ..product.result() } });
    }

    /// Pages of tensors with three axes.
    fn paged_product(&mut self, product: Product) {
        let pages = self.random.of(&[2, 3, 4]);
        let product = Product { rows: 16, depth: product.depth.min(64), columns: product.columns.min(64), ..product };
        let paged = |kind: ValueType| ValueType { shape: [&[pages], &kind.shape[..]].concat(), ..kind };
        let result = paged(product.result());
        match self.level {
            Level::Tile => {
                let left = self.load_tile(&paged(product.left())).name;
                let right = self.load_tile(&paged(product.right())).name;
                let name = self.fresh("g");
                self.line(format!("{name} = pl.tile.batch_matmul({left}, {right})"));
                self.store(&Value { name, kind: result });
            }
            Level::Tensor => {
                let (left, right) = (product.left().at(Space::Vec), product.right().at(Space::Vec));
                let (left, right) = (self.window(&paged(left)).name, self.window(&paged(right)).name);
                let (name, dtype) = (self.fresh("g"), spelled(result.dtype));
                self.line(format!("{name} = pl.matmul({left}, {right}, out_dtype={dtype})"));
                self.store(&Value { name, kind: result.at(Space::Vec) });
            }
        }
    }

    fn loop_head(&mut self, rounds: u64) -> String {
        match self.random.below(3) {
            0 => format!("pl.pipeline(0, {rounds}, stage={}", self.random.of(&[2, 2, 3])),
            _ => format!("pl.range(0, {rounds}"),
        }
    }

    fn tile_products_in_a_loop(&mut self, product: Product) {
        let rounds = self.random.of(&[2, 3, 4, 8]);
        let head = self.loop_head(rounds);
        let index = self.fresh("k");
        let start = match self.random.below(3) {
            0 => {
                let (left, right) = self.tile_operands(product);
                self.bind(format!("pl.matmul({left}, {right})"), product.result())
            }
            _ => {
                let (shape, dtype) = (list(&[product.rows, product.columns]), spelled(product.accumulator()));
                self.bind(format!("pl.create_tile({shape}, dtype={dtype}, target_memory=pl.Mem.Acc)"), product.result())
            }
        };
        let is_explicit = self.random.percent(40);
        let (carried, result) =
            if is_explicit { (self.fresh("c"), self.fresh("y")) } else { (start.name.clone(), start.name.clone()) };
        self.line(match is_explicit {
            true => format!("for {index}, ({carried},) in {head}, init_values=({},)):", start.name),
            false => format!("for {index} in {head}):"),
        });
        self.block(|author| {
            author.scalars.push(ScalarName { name: index.clone(), dtype: Index, end: Some(rounds) });
            let (left, right) = author.tile_operands(product);
            match is_explicit {
                true => {
                    let next = author.fresh("t");
                    author.line(format!("{next} = pl.matmul_acc({carried}, {left}, {right})"));
                    author.line(format!("{result} = pl.yield_({next})"));
                }
                false if author.random.percent(40) => {
                    author.line(format!("if {index} == 0:"));
                    author.block(|author| author.line(format!("{carried} = pl.matmul({left}, {right})")));
                    author.line("else:");
                    author
                        .block(|author| author.line(format!("{carried} = pl.matmul_acc({carried}, {left}, {right})")));
                }
                false => author.line(format!("{carried} = pl.matmul_acc({carried}, {left}, {right})")),
            }
        });
        let result = Value { name: result, kind: product.result() };
        self.values.push(result.clone());
        self.use_product(result);
    }

    fn tensor_operand(&mut self, kind: &ValueType) -> String {
        let kind = kind.clone().at(Space::Vec);
        if kind.dtype.storage_bits() > 8 && self.random.percent(15) {
            // Made by the vector unit.
            let loaded = self.load(&kind);
            let text = self.combined(&loaded);
            return self.bind(text, kind).name;
        }
        if self.random.percent(30) {
            let found = self.some(&[kind.dtype], |other| *other == kind);
            if let Some(found) = found {
                return found.name;
            }
        }
        self.load(&kind).name
    }

    fn tensor_product(&mut self, product: Product) {
        let is_swapped = self.random.percent(20);
        let right =
            if is_swapped { ValueType::vec(&[product.columns, product.depth], product.dtype) } else { product.right() };
        let (left, right) = (self.tensor_operand(&product.left()), self.tensor_operand(&right));
        let result = product.result().at(Space::Vec);
        let mut text = format!("pl.matmul({left}, {right}");
        if self.random.percent(60) || product.dtype != Fp32 {
            text.push_str(&format!(", out_dtype={}", spelled(result.dtype)));
        }
        if is_swapped {
            text.push_str(", b_trans=True");
        }
        text.push(')');
        let result = self.bind(text, result);
        if self.random.percent(50) {
            self.store(&result);
        }
    }

    fn tensor_products_in_a_loop(&mut self, product: Product) {
        let rounds = self.random.of(&[2, 4, 8]);
        let head = self.loop_head(rounds);
        let index = self.fresh("k");
        let kind = product.result().at(Space::Vec);
        let (shape, dtype) = (list(&kind.shape), spelled(kind.dtype));
        let carried = self.bind(format!("pl.create_tensor({shape}, dtype={dtype})"), kind).name;
        self.line(format!("for {index} in {head}):"));
        self.block(|author| {
            author.scalars.push(ScalarName { name: index.clone(), dtype: Index, end: Some(rounds) });
            let (left, right) =
                (author.load(&product.left().at(Space::Vec)).name, author.load(&product.right().at(Space::Vec)).name);
            author.line(format!("if {index} == 0:"));
            author.block(|author| author.line(format!("{carried} = pl.matmul({left}, {right}, out_dtype={dtype})")));
            author.line("else:");
            author.block(|author| author.line(format!("{carried} = pl.matmul_acc({carried}, {left}, {right})")));
        });
        self.store(&Value { name: carried, kind: product.result().at(Space::Vec) });
    }
}
