//! Statements of the vector unit, one function a form.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype;

use super::author::{Author, ranges};
use super::operations::{Form, Level, ROWS, Row};
use super::values::{Value, ValueType, list, spelled};

/// How often each operation is taken, beside 4 for most: those whose operands other statements make.
fn weight(row: &Row) -> u32 {
    match row.form {
        Form::Binary | Form::Scalar | Form::Unary => 3,
        Form::Store => 24,
        Form::Load | Form::Slice | Form::Subscript | Form::Cast | Form::Reshape => 8,
        Form::RowReduction | Form::RowExpand | Form::ColumnExpand => 3,
        _ => 4,
    }
}

impl Author<'_> {
    /// Writes one operation, or nothing where its operands cannot be had.
    pub(super) fn operation(&mut self) {
        let rows: Vec<&Row> = ROWS.iter().filter(|row| row.levels.contains(&self.level)).collect();
        let weights: Vec<u32> = rows.iter().map(|row| weight(row)).collect();
        let row = rows[self.random.weighted(&weights)];
        self.write_row(row);
    }

    fn write_row(&mut self, row: &Row) {
        let Row { name, form, dtypes, .. } = *row;
        match form {
            Form::Unary => self.elementwise(name, dtypes, |_, x| x.to_owned()),
            Form::UnaryScratch => self.with_scratch(name, dtypes, 40, |_, x| x.to_owned()),
            Form::Binary => self.binary(name, dtypes),
            Form::BinaryScratch => self.with_scratch(name, dtypes, 100, |author, x| {
                let other = author.same_as(x);
                format!("{x}, {other}")
            }),
            Form::Ternary => self.elementwise(name, dtypes, |author, x| {
                let (b, c) = (author.same_as(x), author.same_as(x));
                format!("{x}, {b}, {c}")
            }),
            Form::Scalar => self.scalar(name, dtypes),
            Form::ScalarScratch => self.with_scratch(name, dtypes, 100, |_, x| format!("{x}, 3")),
            Form::TileScalarTile => self.elementwise(name, dtypes, |author, x| {
                let dtype = author.type_of(x).map_or(Dtype::Fp32, |kind| kind.dtype);
                let (literal, other) = (author.typed_literal(dtype), author.same_as(x));
                format!("{x}, {literal}, {other}")
            }),
            Form::Prelu => self.prelu(name, dtypes),
            Form::Compare | Form::CompareScalar => self.compare(name, form, dtypes),
            Form::Select | Form::SelectScalar => self.select(name, form, dtypes),
            Form::Cast => self.cast(dtypes),
            Form::RowReduction | Form::RowIndex => self.reduce_rows(name, form, dtypes),
            Form::ColumnReduction | Form::ColumnSum | Form::ColumnIndex => self.reduce_columns(name, form, dtypes),
            Form::RowExpand | Form::RowExpandScratch => self.expand_rows(name, form, dtypes),
            Form::ColumnExpand => self.expand_columns(name, dtypes),
            Form::Expands => self.elementwise(name, dtypes, |author, x| {
                let dtype = author.type_of(x).map_or(Dtype::Fp32, |kind| kind.dtype);
                format!("{x}, {}", author.typed_literal(dtype))
            }),
            Form::Slice | Form::Subscript => self.slice(form, dtypes),
            Form::Reshape => self.reshape(dtypes),
            Form::Reinterpret => self.reinterpret(dtypes),
            Form::Transpose => self.transpose(dtypes),
            Form::TransposeView => self.transpose_view(dtypes),
            Form::ValidShape => self.valid_shape(dtypes),
            Form::FillPad => self.fill_pad(name, dtypes),
            Form::FillPadExpand => self.fill_pad_expand(dtypes),
            Form::Assemble => self.assemble(dtypes),
            Form::Concat => self.concat(dtypes),
            Form::Extract => self.extract(dtypes),
            Form::Sort => self.sort(dtypes),
            Form::MergeBlocks | Form::MergeLists => self.merge(form, dtypes),
            Form::Gather => self.gather(dtypes),
            Form::GatherMask => self.gather_mask(dtypes),
            Form::GatherBlocks => self.gather_blocks(dtypes),
            Form::GatherCompare => self.gather_compare(dtypes),
            Form::Scatter | Form::ScatterMask | Form::ScatterUpdate => self.scatter(form, dtypes),
            Form::Sequence | Form::Triangle | Form::RandomNumbers | Form::Full | Form::Create => {
                self.create(name, form, dtypes);
            }
            Form::Load => self.load_something(dtypes),
            Form::LoadRows => self.load_rows(dtypes),
            Form::Store => self.store_something(),
            Form::StoreRows => self.store_rows(dtypes),
            Form::Read => self.read(dtypes),
            Form::Write => self.write(dtypes),
            Form::Move => self.move_tile(dtypes),
            Form::Copy => self.copy(dtypes),
        }
    }

    /// `pl.` and the name, or `pl.tile.` where the short name means the operation on tensors.
    fn call(&self, name: &str) -> String {
        const SHADOWED: &[&str] = &["full", "ci", "arange", "random", "gather", "create"];
        match self.level {
            Level::Tile if SHADOWED.contains(&name) => format!("pl.tile.{name}"),
            _ => format!("pl.{name}"),
        }
    }

    fn type_of(&self, name: &str) -> Option<ValueType> {
        self.values.iter().rev().find(|value| value.name == name).map(|value| value.kind.clone())
    }

    /// Another operand of the type of a name.
    fn same_as(&mut self, name: &str) -> String {
        match self.type_of(name) {
            Some(kind) => self.operand(&kind),
            None => name.to_owned(),
        }
    }

    fn scratch(&mut self, shape: &[u64], dtype: Dtype) -> String {
        let kind = ValueType::vec(shape, dtype);
        let name = self.fresh("s");
        self.line(format!("{name} = pl.create_tile({}, dtype={})", list(shape), spelled(dtype)));
        if self.random.percent(10) {
            self.values.push(Value { name: name.clone(), kind });
        }
        name
    }

    /// A result of the type of its first operand.
    fn elementwise(&mut self, name: &str, dtypes: &[Dtype], operands: impl FnOnce(&mut Self, &str) -> String) {
        let x = self.any_shape(dtypes);
        let operands = operands(self, &x.name);
        let text = format!("{}({operands})", self.call(name));
        self.bind(text, x.kind);
    }

    /// Mostly a plain value, sometimes one that is narrow, partly valid or padded.
    fn any_shape(&mut self, dtypes: &[Dtype]) -> Value {
        if self.random.percent(20) {
            let found = self.some(dtypes, |kind| kind.space == Space::Vec);
            if let Some(found) = found {
                return found;
            }
        }
        self.plain(dtypes)
    }

    fn with_scratch(
        &mut self,
        name: &str,
        dtypes: &[Dtype],
        chance: u64,
        operands: impl FnOnce(&mut Self, &str) -> String,
    ) {
        let x = self.plain(dtypes);
        let mut operands = operands(self, &x.name);
        if self.level == Level::Tile && self.random.percent(chance) {
            let scratch = self.scratch(&x.kind.shape, x.kind.dtype);
            operands.push_str(&format!(", {scratch}"));
            self.bind(format!("pl.tile.{name}({operands})"), x.kind);
            return;
        }
        let text = format!("{}({operands})", self.call(name));
        self.bind(text, x.kind);
    }

    fn binary(&mut self, name: &str, dtypes: &[Dtype]) {
        let x = self.any_shape(dtypes);
        let mut kind = x.kind.clone();
        let broadcasts = matches!(name, "add" | "sub" | "mul" | "maximum" | "minimum") || self.random.percent(3);
        if let (Some((rows, columns)), true, 0) = (kind.extents(), kind.is_plain() && broadcasts, self.random.below(14))
        {
            kind = ValueType::vec(&[self.random.of(&[1, rows]), columns], kind.dtype);
        }
        let y = self.operand(&kind);
        let text = format!("{}({}, {y})", self.call(name), x.name);
        self.bind(text, x.kind);
    }

    fn scalar(&mut self, name: &str, dtypes: &[Dtype]) {
        let x = self.any_shape(dtypes);
        let (literal, dtype) = self.scalar_operand(name, x.kind.dtype);
        let text = format!("{}({}, {literal})", self.call(name), x.name);
        self.bind(text, ValueType { dtype, ..x.kind });
    }

    /// A literal after a value, and the type of the result: between tensors the literal's type takes part.
    fn scalar_operand(&mut self, name: &str, dtype: Dtype) -> (String, Dtype) {
        const KEEPS: &[&str] = &["sub", "and_", "or_", "shl", "shr"];
        if self.level == Level::Tile || KEEPS.contains(&name) || dtype == Dtype::Fp32 {
            return (self.literal(dtype), dtype);
        }
        match dtype.is_float() && self.random.percent(70) {
            true => (self.literal(dtype), Dtype::Fp32),
            false => (self.typed_literal(dtype), dtype),
        }
    }

    fn prelu(&mut self, name: &str, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let slope = self.operand(&x.kind);
        let scratch =
            self.scratch(&[x.kind.shape[0] + 1, x.kind.shape[1].div_ceil(8).next_multiple_of(32)], Dtype::Uint8);
        self.bind(format!("pl.{name}({}, {slope}, {scratch})", x.name), x.kind);
    }

    fn mask_type(shape: &[u64]) -> ValueType {
        let bytes = shape[1].div_ceil(8);
        let columns = bytes.next_multiple_of(32);
        let mut kind = ValueType::vec(&[shape[0], columns], Dtype::Uint8);
        kind.valid = Some(vec![shape[0].to_string(), bytes.to_string()]);
        kind
    }

    fn compare(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let other = match form {
            Form::Compare => self.operand(&x.kind),
            _ if self.level == Level::Tensor => self.typed_literal(x.kind.dtype),
            _ => self.literal(x.kind.dtype),
        };
        let text = format!("{}({}, {other}, cmp_type={})", self.call(name), x.name, self.random.below(6));
        match self.level {
            Level::Tile => self.bind(text, Self::mask_type(&x.kind.shape)),
            // Its element type depends on the literal's.
            Level::Tensor => self.bind(text, ValueType { is_special: true, ..x.kind }),
        };
    }

    fn select(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let masks = Self::mask_type(&x.kind.shape);
        let mask = self.some(&[Dtype::Uint8], |kind| *kind == masks).map(|value| value.name);
        let mask = mask.unwrap_or_else(|| {
            let other = self.operand(&x.kind);
            self.bind(format!("pl.cmp({}, {other}, cmp_type=4)", x.name), masks).name
        });
        let scratch = self.scratch(&[1, 32], Dtype::Uint8);
        let text = match form {
            Form::Select => {
                let other = self.operand(&x.kind);
                format!("pl.{name}({mask}, {}, {other}, {scratch})", x.name)
            }
            _ => format!("pl.{name}({mask}, {}, {scratch}, {})", x.name, self.literal(x.kind.dtype)),
        };
        self.bind(text, x.kind);
    }

    fn cast(&mut self, dtypes: &[Dtype]) {
        let x = self.any_shape(dtypes);
        let targets: Vec<Dtype> = dtypes.iter().copied().filter(|&dtype| dtype != x.kind.dtype).collect();
        let target = if self.random.percent(70) { self.dtype(&targets) } else { self.random.of(&targets) };
        let mode = match self.random.below(6) {
            0 => ", mode=\"rint\"",
            1 => ", mode=\"trunc\"",
            2 => ", mode=\"floor\"",
            _ => "",
        };
        let text = format!("pl.cast({}, {}{mode})", x.name, self.keyword("target_type", &spelled(target)));
        self.bind(text, ValueType { dtype: target, ..x.kind });
    }

    /// An argument by position, or by its keyword.
    fn keyword(&mut self, name: &str, value: &str) -> String {
        if self.random.percent(25) { format!("{name}={value}") } else { value.to_owned() }
    }

    fn reduce_rows(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let text = if self.level == Level::Tile {
            let scratch = self.scratch(&x.kind.shape, x.kind.dtype);
            format!("pl.{name}({}, {scratch})", x.name)
        } else {
            format!("pl.{name}({})", x.name)
        };
        let dtype = if form == Form::RowIndex { Dtype::Int32 } else { x.kind.dtype };
        self.bind(text, ValueType::vec(&[x.kind.shape[0], 1], dtype));
    }

    fn reduce_columns(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let scratch = self.level == Level::Tile
            && (form == Form::ColumnIndex || (form == Form::ColumnSum && self.random.percent(40)));
        let text = if scratch {
            let scratch = self.scratch(&x.kind.shape, x.kind.dtype);
            format!("pl.{name}({}, {scratch})", x.name)
        } else {
            format!("pl.{name}({})", x.name)
        };
        let dtype = if form == Form::ColumnIndex { Dtype::Int32 } else { x.kind.dtype };
        self.bind(text, ValueType::vec(&[1, x.kind.shape[1]], dtype));
    }

    fn expand_rows(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let is_refused = x.kind.shape[0] == 1 || (form == Form::RowExpandScratch && x.kind.shape[1] == 1);
        if is_refused && !self.random.percent(1) {
            return;
        }
        let column = self.operand(&ValueType::vec(&[x.kind.shape[0], 1], x.kind.dtype));
        let mut operands = format!("{}, {column}", x.name);
        if form == Form::RowExpandScratch && self.level == Level::Tile && self.random.percent(40) {
            let scratch = self.scratch(&x.kind.shape, x.kind.dtype);
            operands.push_str(&format!(", {scratch}"));
        }
        self.bind(format!("pl.{name}({operands})"), x.kind);
    }

    fn expand_columns(&mut self, name: &str, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let row = self.operand(&ValueType::vec(&[1, x.kind.shape[1]], x.kind.dtype));
        self.bind(format!("pl.{name}({}, {row})", x.name), x.kind);
    }

    fn slice(&mut self, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let part: Vec<u64> = x.kind.shape.iter().map(|&extent| self.part_of(extent)).collect();
        let offsets = self.offsets(&x.kind.shape, &part);
        let mut kind = ValueType { shape: part.clone(), ..x.kind.clone() };
        let text = match form {
            Form::Subscript
                if offsets.iter().all(|offset| offset.parse::<u64>().is_ok()) || self.level == Level::Tensor =>
            {
                format!("{}[{}]", x.name, ranges(&offsets, &part))
            }
            _ => {
                let mut text = format!("pl.slice({}, {}, {}", x.name, list(&part), list(&offsets));
                if self.random.percent(15) {
                    let valid = vec![part[0].to_string(), self.random.within(1, part[1]).to_string()];
                    text.push_str(&format!(", valid_shape={}", list(&valid)));
                    kind.valid = Some(valid);
                }
                text.push(')');
                text
            }
        };
        kind.is_special = true;
        self.bind(text, kind);
    }

    fn part_of(&mut self, extent: u64) -> u64 {
        let parts: Vec<u64> =
            [1, 2, 4, 8].into_iter().filter(|&by| extent.is_multiple_of(by)).map(|by| extent / by).collect();
        if self.random.percent(6) { self.random.within(1, extent) } else { self.random.of(&parts) }
    }

    fn reshape(&mut self, dtypes: &[Dtype]) {
        let x = self.any_shape(dtypes);
        if x.kind.valid.is_some() && !self.random.percent(10) {
            return;
        }
        let count: u64 = x.kind.shape.iter().product();
        let rows: Vec<u64> =
            [1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter(|&rows| count.is_multiple_of(rows)).collect();
        let rows = if self.random.percent(10) { count } else { self.random.of(&rows) };
        let shape = [rows, count / rows];
        let text = format!("pl.reshape({}, {})", x.name, list(&shape));
        let is_special = x.kind.is_special || shape[1] == 1 || x.kind.shape[1] == 1;
        self.bind(text, ValueType { shape: shape.to_vec(), valid: None, is_special, ..x.kind });
    }

    fn reinterpret(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let bits = x.kind.shape[1] * x.kind.dtype.storage_bits();
        let fits = |dtype: &Dtype| *dtype != x.kind.dtype && bits.is_multiple_of(dtype.storage_bits());
        let targets: Vec<Dtype> = dtypes.iter().copied().filter(fits).collect();
        let target = self.random.of(&targets);
        let columns = bits / target.storage_bits();
        let text = format!("pl.reinterpret_view({}, {})", x.name, spelled(target));
        self.bind(text, ValueType::vec(&[x.kind.shape[0], columns], target));
    }

    fn transpose(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let shape = [x.kind.shape[1], x.kind.shape[0]];
        let axes = self.random.of(&["0, 1", "1, 0", "axis1=0, axis2=1"]);
        let text = format!("pl.transpose({}, {axes})", x.name);
        self.bind(text, ValueType { is_special: true, ..ValueType::vec(&shape, x.kind.dtype) });
    }

    fn transpose_view(&mut self, dtypes: &[Dtype]) {
        let dtype = self.dtype(dtypes);
        let kind =
            ValueType::vec(&[self.random.of(&[16, 32, 64]), self.random.of(&[16, 32, 64])], dtype).at(Space::Mat);
        let x = self.operand(&kind);
        let kind = ValueType { shape: vec![kind.shape[1], kind.shape[0]], is_special: true, ..kind };
        self.bind(format!("pl.tile.transpose_view({x})"), kind);
    }

    /// Extents of which part holds data: numbers, or a scalar.
    fn partly(&mut self, shape: &[u64]) -> Vec<String> {
        let name = self.scalar_of(Dtype::Index);
        let columns = match name {
            Some(name) if self.random.percent(25) => name,
            _ => self.random.within(1, shape[1]).to_string(),
        };
        let rows = if self.random.percent(60) { shape[0] } else { self.random.within(1, shape[0]) };
        vec![rows.to_string(), columns]
    }

    fn valid_shape(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let valid = self.partly(&x.kind.shape);
        let text = format!("pl.set_validshape({}, {}, {})", x.name, valid[0], valid[1]);
        self.bind(text, ValueType { valid: Some(valid), ..x.kind });
    }

    fn pad(&mut self) -> String {
        let pad = self.random.of(&["zero", "min", "max"]);
        match self.random.below(3) {
            0 => String::new(),
            _ => format!(", pad_value=pl.PadValue.{pad}"),
        }
    }

    fn fill_pad(&mut self, name: &str, dtypes: &[Dtype]) {
        let found = self.some(dtypes, |kind| kind.valid.is_some() && kind.space == Space::Vec);
        let x = found.unwrap_or_else(|| {
            let dtype = self.dtype(dtypes);
            let shape = self.extents();
            let valid = self.partly(&shape);
            self.load(&ValueType { valid: Some(valid), ..ValueType::vec(&shape, dtype) })
        });
        let text = format!("pl.{name}({}{})", x.name, self.pad());
        self.bind(text, ValueType { valid: None, is_special: true, ..x.kind });
    }

    fn fill_pad_expand(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let shape = [x.kind.shape[0] * self.random.of(&[1, 2]), x.kind.shape[1] * self.random.of(&[1, 2])];
        let text = format!("pl.fillpad_expand({}, {}{})", x.name, list(&shape), self.pad());
        self.bind(text, ValueType { is_special: true, ..ValueType::vec(&shape, x.kind.dtype) });
    }

    fn assemble(&mut self, dtypes: &[Dtype]) {
        let source = self.plain(dtypes);
        let times = [self.random.of(&[1, 2]), self.random.of(&[1, 1, 2])];
        let whole = [source.kind.shape[0] * times[0], source.kind.shape[1] * times[1]];
        let target = match self.random.below(3) {
            0 => self.operand(&ValueType::vec(&whole, source.kind.dtype)),
            _ => {
                let name = if self.level == Level::Tile { "create_tile" } else { "create_tensor" };
                let text = format!("pl.{name}({}, dtype={})", list(&whole), spelled(source.kind.dtype));
                self.bind(text, ValueType::vec(&whole, source.kind.dtype)).name
            }
        };
        let offsets = self.offsets(&whole, &source.kind.shape);
        let is_name = target.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && self.strict == 0 && self.random.percent(30) {
            self.line(format!("{target}[{}] = {}", ranges(&offsets, &source.kind.shape), source.name));
            return;
        }
        let kind = ValueType::vec(&whole, source.kind.dtype);
        self.bind(format!("pl.assemble({target}, {}, {})", source.name, list(&offsets)), kind);
    }

    fn concat(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let columns = x.kind.shape[1] * self.random.of(&[1, 1, 2]);
        let y = self.operand(&ValueType::vec(&[x.kind.shape[0], columns], x.kind.dtype));
        let kind = ValueType::vec(&[x.kind.shape[0], x.kind.shape[1] + columns], x.kind.dtype);
        self.bind(format!("pl.concat({}, {y})", x.name), kind);
    }

    fn extract(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let part: Vec<u64> = x.kind.shape.iter().map(|&extent| self.part_of(extent)).collect();
        let offsets = self.offsets(&x.kind.shape, &part);
        let text = format!(
            "pl.tile.extract({}, {}, {}, {}, target_memory=pl.Mem.Vec)",
            x.name,
            offsets[0],
            offsets[1],
            list(&part)
        );
        self.bind(text, ValueType::vec(&part, x.kind.dtype));
    }

    fn sort(&mut self, dtypes: &[Dtype]) {
        let dtype = self.dtype(dtypes);
        let shape = [self.random.of(&[1, 1, 4, 16]), self.random.of(&[32, 64, 256, 512])];
        let keys = self.operand(&ValueType::vec(&shape, dtype));
        let indices = self.operand(&ValueType::vec(&shape, Dtype::Uint32));
        let kind = ValueType::vec(&[shape[0], 2 * shape[1]], dtype);
        self.bind(format!("pl.sort32({keys}, {indices})"), ValueType { is_special: true, ..kind });
    }

    fn merge(&mut self, form: Form, dtypes: &[Dtype]) {
        let dtype = self.dtype(dtypes);
        let kind = ValueType::vec(&[1, self.random.of(&[256, 512, 1024])], dtype);
        let call = if self.level == Level::Tile { "pl.tile.mrgsort" } else { "pl.mrgsort" };
        let x = self.operand(&kind);
        if form == Form::MergeBlocks {
            let block = self.random.of(&[64, 128]);
            self.bind(format!("{call}({x}, block_len={block})"), kind);
            return;
        }
        let mut sources = vec![x];
        for _ in 0..self.random.within(1, 3) {
            sources.push(self.operand(&kind));
        }
        let columns = kind.shape[1] * sources.len() as u64;
        let mut text = sources.join(", ");
        if self.level == Level::Tile {
            let scratch = self.scratch(&[1, columns], dtype);
            text.push_str(&format!(", tmp={scratch}"));
        }
        self.bind(format!("{call}({text})"), ValueType::vec(&[1, columns], dtype));
    }

    fn gather(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let shape = [x.kind.shape[0], self.part_of(x.kind.shape[1])];
        let index = self.operand(&ValueType::vec(&shape, Dtype::Int32));
        let text = if self.level == Level::Tile {
            let scratch = self.scratch(&shape, Dtype::Int32);
            format!("pl.tile.gather({}, {index}, {scratch})", x.name)
        } else {
            format!("pl.gather({}, dim=-1, index={index})", x.name)
        };
        self.bind(text, ValueType::vec(&shape, x.kind.dtype));
    }

    fn gather_mask(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let (pattern, by) = self.random.of(&[("P0101", 2), ("P1010", 2), ("P0001", 4), ("P0100", 4), ("P1111", 1)]);
        if !x.kind.shape[1].is_multiple_of(by) {
            return;
        }
        let call = if self.level == Level::Tile { "pl.tile.gather_mask" } else { "pl.gather" };
        let text = format!("{call}({}, mask_pattern=pl.tile.MaskPattern.{pattern})", x.name);
        self.bind(text, ValueType::vec(&[x.kind.shape[0], x.kind.shape[1] / by], x.kind.dtype));
    }

    fn gather_blocks(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let offsets = [self.random.of(&[1, 4, 16]), self.random.of(&[8, 16])];
        let offset = self.operand(&ValueType::vec(&offsets, Dtype::Uint32));
        let columns = offsets[1] * 256 / x.kind.dtype.storage_bits();
        self.bind(format!("pl.gatherb({}, {offset})", x.name), ValueType::vec(&[offsets[0], columns], x.kind.dtype));
    }

    fn gather_compare(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let (rows, columns) = (x.kind.shape[0], self.random.of(&[8, 16, 32]));
        let kvalue = self.typed_literal(x.kind.dtype);
        let scratch = self.scratch(&[rows, x.kind.shape[1].div_ceil(8).next_multiple_of(32)], Dtype::Uint8);
        let (found, counts) = (self.fresh("t"), self.fresh("t"));
        let mode = self.random.of(&["\"eq\"", "\"gt\""]);
        self.line(format!(
            "{found}, {counts} = pl.tile.gather_compare({}, {kvalue}, {scratch}, cmp_mode={mode}, out_cols={columns})",
            x.name
        ));
        self.values.push(Value { name: found, kind: ValueType::vec(&[rows, columns], Dtype::Int32) });
    }

    fn scatter(&mut self, form: Form, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let target = self.operand(&x.kind);
        let index =
            ValueType::vec(&x.kind.shape, if x.kind.dtype.storage_bits() == 16 { Dtype::Int16 } else { Dtype::Int32 });
        let text = match form {
            Form::Scatter => format!("pl.tile.scatter({target}, {}, {})", x.name, self.operand(&index)),
            Form::ScatterMask => {
                let whole = ValueType::vec(&[x.kind.shape[0], 2 * x.kind.shape[1]], x.kind.dtype);
                let target = self.operand(&whole);
                let text =
                    format!("pl.tile.scatter_mask({target}, {}, mask_pattern=pl.tile.MaskPattern.P0101)", x.name);
                self.bind(text, ValueType { is_special: true, ..whole });
                return;
            }
            // The index of one row is too narrow for the operation that the compiler makes of it.
            _ if x.kind.shape[0] == 1 => return,
            _ => {
                let rows = ValueType::vec(&[1, x.kind.shape[0]], Dtype::Int32);
                let index = self.operand(&rows);
                format!("pl.scatter_update({target}, {index}, {}, dim=-2)", x.name)
            }
        };
        self.bind(text, ValueType { is_special: true, ..x.kind });
    }

    fn create(&mut self, name: &str, form: Form, dtypes: &[Dtype]) {
        let dtype = self.dtype(dtypes);
        let (shape, call) = (self.extents(), self.call(name));
        let shape = if form == Form::Sequence { [1, shape[1].max(8)] } else { shape };
        let (listed, of_type) = (list(&shape), spelled(dtype));
        let text = match form {
            Form::Sequence => format!("{call}(0, {listed}, dtype={of_type})"),
            Form::Triangle => {
                format!("{call}(0, {listed}, dtype={of_type}, upper={})", self.random.of(&["True", "False"]))
            }
            Form::RandomNumbers => format!("{call}(1, 2, 3, 4, 5, 6, {listed}, dtype={of_type})"),
            Form::Full => {
                format!("{call}({listed}, dtype={of_type}, value={})", if dtype.is_float() { "0.0" } else { "0" })
            }
            _ if self.level == Level::Tensor => format!("pl.create_tensor({listed}, dtype={of_type})"),
            _ => format!(
                "pl.create_tile({listed}, dtype={of_type}{})",
                self.random.of(&["", ", target_memory=pl.Mem.Vec"])
            ),
        };
        self.bind(text, ValueType::vec(&shape, dtype));
    }

    fn load_something(&mut self, dtypes: &[Dtype]) {
        let dtype =
            if self.random.percent(85) { self.dtype(&self.taste.dtypes.clone()) } else { self.random.of(dtypes) };
        let [rows, columns] = self.extents();
        let shape = match self.random.below(10) {
            0 => [rows, 1],
            1 => [1, columns],
            _ => [rows, columns],
        };
        let valid = (shape[1] > 1 && self.random.percent(12)).then(|| self.partly(&shape));
        self.load(&ValueType { valid, ..ValueType::vec(&shape, dtype) });
    }

    fn load_rows(&mut self, dtypes: &[Dtype]) {
        let dtype = self.dtype(dtypes);
        let (rows, columns) = (self.random.of(&[8, 16, 32]), self.random.of(&[32, 64, 128]));
        let name = self.declare(&[1024, columns], dtype, false);
        let index = self.operand(&ValueType::vec(&[1, rows], Dtype::Int32));
        self.bind(format!("pl.mgather({name}, {index})"), ValueType::vec(&[rows, columns], dtype));
    }

    fn store_something(&mut self) {
        let found = self.some(Dtype::ALL, |kind| kind.space == Space::Vec && kind.shape.len() == 2);
        if let Some(found) = found {
            self.store(&found);
        }
    }

    fn store_rows(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let index = self.operand(&ValueType::vec(&x.kind.shape, Dtype::Int32));
        if self.pure > 0 {
            return;
        }
        let out = self.tensor(x.kind.dtype, &x.kind.shape, true);
        self.line(format!("{0} = pl.mscatter({1}, {index}, {0})", out.name, x.name));
    }

    fn read(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let at: Vec<u64> = x.kind.shape.iter().map(|&extent| self.random.within(0, extent - 1)).collect();
        let name = self.fresh("r");
        let text = if self.random.percent(50) {
            format!("{}{}", x.name, list(&at))
        } else {
            format!("pl.read({}, {})", x.name, list(&at))
        };
        self.line(format!("{name} = {text}"));
        self.scalars.push(super::values::ScalarName { name, dtype: x.kind.dtype, end: None });
    }

    fn write(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        let at: Vec<u64> = x.kind.shape.iter().map(|&extent| self.random.within(0, extent - 1)).collect();
        let value = match self.scalar_of(x.kind.dtype) {
            Some(name) => name,
            None => {
                format!("pl.const({}, {})", if x.kind.dtype.is_float() { "1.0" } else { "1" }, spelled(x.kind.dtype))
            }
        };
        self.line(format!("pl.write({}, {}, {value})", x.name, list(&at)));
    }

    fn move_tile(&mut self, dtypes: &[Dtype]) {
        let x = self.plain(dtypes);
        self.bind(format!("pl.move({}, target_memory=pl.Mem.Vec)", x.name), x.kind);
    }

    /// A second name for a value.
    fn copy(&mut self, dtypes: &[Dtype]) {
        let found = self.some(dtypes, |kind| kind.space == Space::Vec);
        if let Some(x) = found {
            self.bind(x.name.clone(), ValueType { is_special: true, ..x.kind });
        }
    }
}
