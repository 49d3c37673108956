//! Layouts that the author writes down.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::layouts::Layout;
use super::super::program::{Effect, Type};
use super::super::shared_layout::{Cga, Nvmma, SharedLayout, TensorMemoryLayout};
use super::allocations::barrier_cga;
use super::calls::Args;
use super::registers::Asked;
use super::value::{Registers, Tensor, Value, unknown};
use super::{Emitted, Frame, Tracer, identity};

impl Tracer<'_> {
    /// Layouts, which Python makes while the kernel is compiled.
    pub(super) fn layout_call(&mut self, name: &str, args: &Args) -> Option<Value> {
        let narrow = |position: usize, name: &str| -> Option<Vec<u32>> {
            let extents = args.get(position, name)?.extents()?;
            extents.into_iter().map(|extent| u32::try_from(extent).ok()).collect()
        };
        let number = |position: usize, name: &str| args.get(position, name).and_then(Value::int);
        let truth = |position: usize, name: &str| args.get(position, name).and_then(Value::truth).unwrap_or(false);
        let cga = |position: usize| -> Option<Cga> {
            match args.get(position, "cga_layout") {
                None | Some(Value::None) => Some(Vec::new()),
                Some(bases) => bases.elements()?.iter().map(Value::extents).collect(),
            }
        };
        let bases = |position: usize, name: &str| -> Option<Vec<Vec<u32>>> {
            let all = args.get(position, name)?.elements()?;
            let narrow = |basis: &Value| -> Option<Vec<u32>> {
                basis.extents()?.into_iter().map(|extent| u32::try_from(extent).ok()).collect()
            };
            all.iter().map(narrow).collect()
        };
        let known = |layout: Option<Layout>| match layout {
            Some(layout) => Value::Registers(Registers::Known(Arc::new(layout))),
            None => super::operators::first_unknown(&args.all())
                .map_or_else(|| unknown(format!("`{name}` of an unknown value")), Value::Unknown),
        };
        let shared = |layout: Option<SharedLayout>| match layout {
            Some(layout) => Value::SharedLayout(Rc::new(layout)),
            None => super::operators::first_unknown(&args.all())
                .map_or_else(|| unknown(format!("`{name}` of an unknown value")), Value::Unknown),
        };
        Some(match name {
            "AutoLayout" => Value::Registers(Registers::Auto(u32::MAX)),
            "CoalescedLayout" | "AMDWMMALayout" => {
                Value::Registers(Registers::Unknown(Reason::new(format!("`{name}` is chosen by the compiler"))))
            }
            "BlockedLayout" => known((|| {
                Some(Layout::Blocked {
                    size_per_thread: narrow(0, "size_per_thread")?,
                    threads_per_warp: narrow(1, "threads_per_warp")?,
                    warps_per_cta: narrow(2, "warps_per_cta")?,
                    order: narrow(3, "order")?,
                })
            })()),
            "SliceLayout" => match (number(0, "dim"), args.get(1, "parent")) {
                (Some(dim), Some(Value::Registers(Registers::Known(parent)))) => {
                    known(u32::try_from(dim).ok().map(|dim| Layout::Slice { dim, parent: parent.clone() }))
                }
                (_, Some(Value::Registers(Registers::Unknown(reason)))) => {
                    Value::Registers(Registers::Unknown(reason.clone()))
                }
                _ => known(None),
            },
            "DistributedLinearLayout" => known((|| {
                Some(Layout::Linear {
                    register: bases(0, "reg_bases")?,
                    lane: bases(1, "lane_bases")?,
                    warp: bases(2, "warp_bases")?,
                })
            })()),
            "DotOperandLayout" => match args.get(1, "parent") {
                Some(Value::Registers(Registers::Known(parent))) => known((|| {
                    Some(Layout::DotOperand {
                        operand: u32::try_from(number(0, "operand_index")?).ok()?,
                        parent: parent.clone(),
                        k_width: u32::try_from(number(2, "k_width")?).ok()?,
                    })
                })()),
                Some(Value::Registers(Registers::Unknown(reason))) => {
                    Value::Registers(Registers::Unknown(reason.clone()))
                }
                _ => known(None),
            },
            "NVMMADistributedLayout" => known((|| {
                let version = narrow(0, "version")?;
                Some(Layout::Mma {
                    version: (*version.first()?, version.get(1).copied().unwrap_or(0)),
                    warps_per_cta: narrow(1, "warps_per_cta")?,
                    instr_shape: narrow(2, "instr_shape")?,
                })
            })()),
            "AMDMFMALayout" => known((|| {
                let warps_per_cta = narrow(3, "warps_per_cta")?;
                let tiles = narrow(usize::MAX, "tiles_per_warp").unwrap_or_else(|| vec![1; warps_per_cta.len()]);
                Some(Layout::Mfma {
                    version: u32::try_from(number(0, "version")?).ok()?,
                    instr_shape: narrow(1, "instr_shape")?,
                    transposed: truth(2, "transposed"),
                    warps_per_cta,
                    tiles_per_warp: tiles,
                    element_bits: number(usize::MAX, "element_bitwidth")
                        .and_then(|bits| u32::try_from(bits).ok())
                        .unwrap_or(32),
                })
            })()),
            "NVMMASharedLayout" => shared((|| {
                Some(SharedLayout::Nvmma(Nvmma {
                    swizzle: u64::try_from(number(0, "swizzle_byte_width")?).ok()?,
                    element_bits: u64::try_from(number(1, "element_bitwidth")?).ok()?,
                    rank: args
                        .get(2, "rank")
                        .map_or(Some(2), Value::int)
                        .and_then(|rank| usize::try_from(rank).ok())?,
                    transposed: truth(3, "transposed"),
                    fp4_padded: truth(4, "fp4_padded"),
                    cga: cga(5)?,
                }))
            })()),
            "NVMMASharedLayout.get_default_for" => shared((|| {
                let shape = args.get(0, "block_shape")?.extents()?;
                let Some(Value::Dtype(dtype)) = args.get(1, "dtype") else { return None };
                let (transposed, fp4_padded, cga) = (truth(2, "transposed"), truth(3, "fp4_padded"), cga(4)?);
                let element_bits = u64::from(dtype.bits);
                Some(SharedLayout::Nvmma(Nvmma {
                    swizzle: Nvmma::default_swizzle(&shape, element_bits, transposed, fp4_padded, &cga),
                    element_bits,
                    rank: shape.len(),
                    transposed,
                    fp4_padded,
                    cga,
                }))
            })()),
            "SwizzledSharedLayout" => {
                shared((|| Some(SharedLayout::Swizzled { order: args.get(3, "order")?.extents()?, cga: cga(4)? }))())
            }
            "PaddedSharedLayout" => shared((|| {
                Some(SharedLayout::Padded {
                    pairs: pairs(args.get(0, "interval_padding_pairs")?)?,
                    rank: args.get(3, "shape")?.extents()?.len(),
                    cga: cga(2)?,
                })
            })()),
            "PaddedSharedLayout.with_identity_for" => shared((|| {
                Some(SharedLayout::Padded {
                    pairs: pairs(args.get(0, "interval_padding_pairs")?)?,
                    rank: args.get(1, "shape")?.extents()?.len(),
                    cga: cga(3)?,
                })
            })()),
            "SharedLinearLayout" => shared((|| {
                let offset: Option<Vec<Vec<u64>>> =
                    args.get(0, "offset_bases")?.elements()?.iter().map(Value::extents).collect();
                let block: Option<Cga> = match args.get(1, "block_bases") {
                    None | Some(Value::None) => Some(Vec::new()),
                    Some(bases) => bases.elements()?.iter().map(Value::extents).collect(),
                };
                let alignment = args.get(2, "alignment").map_or(Some(16), Value::int)?;
                Some(SharedLayout::Linear { offset: offset?, cga: block?, alignment: u64::try_from(alignment).ok()? })
            })()),
            "MBarrierLayout" => shared(cga(0).map(|cga| SharedLayout::Barrier { cga })),
            "MBarrierLayout.multicta" => shared((|| {
                let ctas = u64::try_from(number(0, "num_ctas")?).ok()?;
                Some(SharedLayout::Barrier { cga: barrier_cga(ctas, truth(1, "two_cta")) })
            })()),
            "TensorMemoryLayout" => {
                let layout = (|| {
                    let block = args.get(0, "block")?.extents()?;
                    Some(TensorMemoryLayout::Blocks {
                        block: [*block.first()?, *block.get(1)?],
                        column_stride: match args.get(1, "col_stride") {
                            Some(stride) => u64::try_from(stride.int()?).ok()?,
                            None => 1,
                        },
                        cga: cga(2)?,
                        two_ctas: truth(3, "two_ctas"),
                        fp4_padded: truth(4, "fp4_padded"),
                    })
                })();
                match layout {
                    Some(layout) => Value::TensorLayout(Rc::new(layout)),
                    None => super::operators::first_unknown(&args.all())
                        .map_or_else(|| unknown("a layout of tensor memory that is not known"), Value::Unknown),
                }
            }
            "TensorMemoryScalesLayout" => Value::TensorLayout(Rc::new(TensorMemoryLayout::Scales { cga: cga(0)? })),
            _ => return None,
        })
    }

    pub(super) fn convert_layout(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let Some(Value::Tensor(tensor)) = args.get(0, "value").cloned() else {
            return match args.get(0, "value") {
                Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
                _ => unknown("a conversion of a value that is not a tensor"),
            };
        };
        let to = match args.get(1, "layout") {
            Some(layout) => self.layout_or_auto(Some(layout)),
            None => return unknown("a conversion to no layout"),
        };
        if self.is_same(&tensor.layout, &to) {
            return Value::Tensor(tensor);
        }
        let asked = Asked::Conversion {
            shape: (*tensor.shape).clone(),
            bits: tensor.dtype.bits,
            from: tensor.layout.clone(),
            to: to.clone(),
        };
        let kind = self.asks(asked);
        let op = Emitted {
            name: "convert_layout",
            effect: Effect::None,
            operands: &[tensor.id],
            of: Type::Tensor,
            identity: identity(format!("{to:?}")),
            kind,
        };
        Value::Tensor(Tensor { id: self.emit(frame, expr, op), layout: to, ..tensor })
    }

    pub(super) fn set_auto_layout(&mut self, args: &Args) -> Value {
        match (args.get(0, "value"), args.get(1, "layout")) {
            (Some(Value::Tensor(tensor)), Some(layout)) => {
                let layout = self.registers_of(Some(layout));
                self.unify(&tensor.layout, &layout);
                Value::Tensor(Tensor { layout, ..tensor.clone() })
            }
            (Some(Value::Unknown(reason)), _) => Value::Unknown(reason.clone()),
            _ => unknown("a layout of a value that is not a tensor"),
        }
    }

    pub(super) fn layout_or_auto(&mut self, layout: Option<&Value>) -> Registers {
        match layout {
            None | Some(Value::None) if self.launch.dialect.leaves_layouts() => Registers::Flexible,
            None | Some(Value::None) => self.new_auto(),
            // Each use of `AutoLayout()` is one of its own.
            Some(Value::Registers(Registers::Auto(u32::MAX))) => self.new_auto(),
            layout => self.registers_of(layout),
        }
    }
}

fn pairs(value: &Value) -> Option<Vec<(u64, u64)>> {
    let pair = |pair: &Value| match pair.extents()?[..] {
        [interval, pad] => Some((interval, pad)),
        _ => None,
    };
    value.elements()?.iter().map(pair).collect()
}
