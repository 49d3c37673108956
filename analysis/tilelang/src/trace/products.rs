//! Matrix products of tiles.

use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::ast::ExprId;

use super::copies::Operand;
use super::recording::joined;
use super::value::{Args, FrameId, Size, Value};
use super::{Tracer, What};
use crate::program::{Gemm, Kind, Region, WarpPolicy};

impl Tracer<'_> {
    pub(super) fn gemm(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        // A sparse product has the places of what is not zero between its sides.
        let is_sparse = name.ends_with("_sp");
        let is_scaled = name.ends_with("blockscaled");
        let places: [(usize, &str); 3] = match is_sparse {
            true => [(0, "A_sparse"), (2, "B"), (3, "C")],
            false => [(0, "A"), (1, "B"), (2, "C")],
        };
        let mut operands = Vec::new();
        for (index, side) in places {
            let given = args.get(index, side).cloned();
            match given.as_ref().and_then(|value| self.operand(value)) {
                Some(operand) => operands.push(operand),
                None => {
                    self.no_operand(name, given.as_ref());
                    let known = |operand: &Operand| Region { buffer: operand.view.id, extents: None, is_inside: None };
                    let reads = operands.iter().map(known).collect();
                    return Self::operation_of(Kind::Other(name.into()), reads, Vec::new(), at);
                }
            }
        }
        let [left, right, sum] = [operands[0].clone(), operands[1].clone(), operands[2].clone()];
        let base = if is_sparse { 4 } else { 3 } + if is_scaled { 2 } else { 0 };
        let transposes = self.transposes(args, base);
        let policy = self.policy(args, base + 2);
        let clears = args.get(base + 3, "clear_accum").is_some_and(|clears| matches!(clears, Value::Bool(true)));
        let is_pair = args.keyword("use_2cta").and_then(Value::truth) == Some(true);

        let full = |operand: &Operand| Some(operand.full().iter().map(Size::extent).collect());
        let region = |operand: &Operand| Region { buffer: operand.view.id, extents: full(operand), is_inside: None };
        let mut reads = vec![region(&left), region(&right)];
        if !clears {
            reads.push(region(&sum));
        }
        let mut touches = joined([&left.touches[..], &right.touches, &sum.touches]);
        for extra in ["mbar", "SFA", "SFB", "E"] {
            let place = match extra {
                "E" if is_sparse => 1,
                "SFA" if is_scaled => 3,
                "SFB" if is_scaled => 4,
                _ => usize::MAX,
            };
            if let Some(value) = args.get(place, extra) {
                self.touches_of(&value.clone(), &mut touches);
                touches = joined([&touches[..]]);
            }
        }
        reads.extend(Self::read_of(&touches));
        let kind = match self.dimensions(&left, &right, &sum, transposes, is_pair || is_sparse, at) {
            Ok([m, n, k]) => {
                self.check_types(&left, &right, at);
                Kind::Gemm(Gemm { is_tcgen05: name.starts_with("tcgen05"), transposes, m, n, k, policy })
            }
            Err(reason) => {
                self.note(reason.of(&format!("`T.{name}`")));
                Kind::Other(name.into())
            }
        };
        Self::operation_of(kind, reads, vec![region(&sum)], at)
    }

    fn transposes(&mut self, args: &Args, base: usize) -> [bool; 2] {
        [(base, "transpose_A"), (base + 1, "transpose_B")].map(|(index, name)| match args.get(index, name) {
            Some(Value::Unknown(it)) => {
                let reason = it.reason.clone();
                self.note(reason.of("whether an operand is transposed"));
                false
            }
            Some(value) => value.truth() == Some(true),
            None => false,
        })
    }

    fn policy(&mut self, args: &Args, index: usize) -> WarpPolicy {
        match args.get(index, "policy") {
            None => WarpPolicy::Square,
            Some(Value::Policy(policy)) => *policy,
            Some(Value::Int(1)) => WarpPolicy::FullRow,
            Some(Value::Int(2)) => WarpPolicy::FullColumn,
            Some(Value::Int(0)) => WarpPolicy::Square,
            Some(value) => {
                let reason = match value {
                    Value::Unknown(it) => it.reason.clone(),
                    _ => Reason::new("a value that is not a policy"),
                };
                self.note(reason.of("how warps share a product"));
                WarpPolicy::Square
            }
        }
    }

    /// M, N and K. Sides that do not go together are a mistake.
    fn dimensions(
        &mut self,
        left: &Operand,
        right: &Operand,
        sum: &Operand,
        [turned_left, turned_right]: [bool; 2],
        is_half: bool,
        at: Origin,
    ) -> Result<[u64; 3], Reason> {
        let matrix = |operand: &Operand| -> Result<[Size; 2], Reason> {
            match operand.full().as_slice() {
                [.., rows, columns] => Ok([rows.clone(), columns.clone()]),
                _ => Err(Reason::new("a side of a product with less than two dimensions")),
            }
        };
        let turned = |[rows, columns]: [Size; 2], is_turned| if is_turned { [columns, rows] } else { [rows, columns] };
        let [of_left_m, of_left_k] = turned(matrix(left)?, turned_left);
        let [of_right_k, of_right_n] = turned(matrix(right)?, turned_right);
        let [m, n] = matrix(sum)?;
        let mut is_refused = false;
        let mut checked = |axis: char, one: &Size, two: &Size| {
            // The compiler says the first.
            if is_refused {
                return;
            }
            if let (Some(left), Some(right)) = (one.known(), two.known())
                && left != right
            {
                let (left, right) = (left.max(0) as u64, right.max(0) as u64);
                is_refused = true;
                self.mistake(at, What::Product { axis, left, right });
            }
        };
        // A pair of blocks or a sparse side holds half of one axis.
        if !is_half {
            checked('M', &of_left_m, &m);
            checked('K', &of_left_k, &of_right_k);
            checked('N', &of_right_n, &n);
        }
        let k = if is_half { of_right_k } else { of_left_k };
        let known = |size: &Size| match (size.known().and_then(|size| u64::try_from(size).ok()), size.sum.unknown()) {
            (Some(size), _) => Ok(size),
            (None, Some(reason)) => Err(reason.clone()),
            (None, None) => Err(Reason::new(format!("`{}` is a number of the kernel", size.text))),
        };
        Ok([known(&m)?, known(&n)?, known(&k)?])
    }

    /// Different types go together only where both have eight bits or less.
    fn check_types(&mut self, left: &Operand, right: &Operand, at: Origin) {
        let (one, two) = (&left.view.dtype, &right.view.dtype);
        let is_small = |name: &str| name.starts_with("float8") || name.starts_with("float6") || name.contains("float4");
        let are_alike = one.name == two.name || is_small(&one.name) && is_small(&two.name);
        let are_integers =
            one.name.trim_start_matches('u').starts_with("int") && two.name.trim_start_matches('u').starts_with("int");
        if !are_alike && !are_integers {
            self.mistake(at, What::ProductTypes { left: one.name.to_string(), right: two.name.to_string() });
        }
    }
}
