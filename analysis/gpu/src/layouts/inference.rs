//! Layouts of results, as Gluon's compiler infers them (`TritonGPUInferLayoutInterface` in `lib/Dialect/TritonGPU/IR/Dialect.cpp`): data stay where they
//! are, and elements get other names. Those of 3.9.

use std::sync::Arc;

use super::linear::check_shape;
use super::{Hardware, Layout, LinearLayout, Reason};

/// Do two layouts place this tensor alike? Then a conversion takes nothing.
pub fn equivalent(shape: &[u32], one: &Layout, other: &Layout, hardware: &Hardware) -> Result<bool, Reason> {
    Ok(one == other || one.linear(shape, hardware)? == other.linear(shape, hardware)?)
}

/// `expand_dims` takes back what made the slice.
pub fn expand_dims(layout: &Layout, axis: usize) -> Result<Layout, Reason> {
    match layout {
        Layout::Slice { dim, parent } if *dim as usize == axis => Ok(Layout::clone(parent)),
        Layout::Slice { dim, .. } => Err(format!("`expand_dims` along {axis} of a slice along {dim}").into()),
        _ => Err("`expand_dims` of a layout that is not a slice".into()),
    }
}

/// A reduction along an axis.
pub fn reduce(layout: &Layout, axis: usize) -> Layout {
    Layout::Slice { dim: axis as u32, parent: Arc::new(layout.clone()) }
}

/// `permute`: dimension `order[i]` becomes dimension i.
pub fn transpose(shape: &[u32], layout: &Layout, order: &[usize], hardware: &Hardware) -> Result<Layout, Reason> {
    let mut dims = order.to_vec();
    dims.sort_unstable();
    if dims != (0..shape.len()).collect::<Vec<usize>>() {
        return Err(format!("a permutation of {} dimensions as {order:?}", shape.len()).into());
    }
    if order.is_sorted() {
        return Ok(layout.clone());
    }
    let mut linear = layout.linear(shape, hardware)?;
    let moved = |list: &[u32]| -> Vec<u32> { order.iter().map(|&dim| list[dim]).collect() };
    if let Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order: fastest } = layout {
        let to = |dim: &u32| order.iter().position(|&from| from == *dim as usize).map_or(*dim, |to| to as u32);
        return Ok(Layout::Blocked {
            size_per_thread: moved(size_per_thread),
            threads_per_warp: moved(threads_per_warp),
            warps_per_cta: moved(warps_per_cta),
            order: fastest.iter().map(to).collect(),
        });
    }
    linear.bases_mut().for_each(|basis| *basis = moved(basis));
    Ok(linear.into())
}

/// `reshape`: elements keep their order, the last dimension being the fastest.
pub fn reshape(shape: &[u32], layout: &Layout, new_shape: &[u32], hardware: &Hardware) -> Result<Layout, Reason> {
    check_shape(new_shape)?;
    let mut linear = layout.linear(shape, hardware)?;
    let elements = |shape: &[u32]| shape.iter().map(|&extent| u64::from(extent)).product::<u64>();
    if elements(shape) != elements(new_shape) {
        return Err(format!("a tensor of shape {shape:?} as one of {new_shape:?}").into());
    }
    let renamed = |basis: &[u32]| -> Vec<u32> {
        let mut offset = basis.iter().zip(shape).fold(0, |offset, (step, extent)| offset * extent + step);
        let mut renamed = vec![0; new_shape.len()];
        for (step, extent) in renamed.iter_mut().zip(new_shape).rev() {
            (*step, offset) = (offset % extent, offset / extent);
        }
        renamed
    };
    linear.bases_mut().for_each(|basis| *basis = renamed(basis));
    let one_dimension = match (shape.len(), new_shape.len()) {
        (rank, new_rank) if rank == new_rank + 1 => without_dimension(shape, layout, new_shape),
        (rank, new_rank) if rank + 1 == new_rank => with_dimension(shape, layout, new_shape),
        _ => None,
    };
    if let Some(other) = one_dimension
        && other.linear(new_shape, hardware)? == linear
    {
        return Ok(other);
    }
    Ok(reshaped_blocked(shape, layout, new_shape).unwrap_or_else(|| linear.into()))
}

/// A slice along the first dimension of one element whose removal gives the shape.
fn without_dimension(shape: &[u32], layout: &Layout, new_shape: &[u32]) -> Option<Layout> {
    if matches!(layout, Layout::Linear { .. }) {
        return None;
    }
    let is_removed = |dim: &usize| shape[*dim] == 1 && [&shape[..*dim], &shape[dim + 1..]].concat() == new_shape;
    (0..shape.len()).find(is_removed).map(|dim| reduce(layout, dim))
}

/// What a slice is of, if the dimension that comes back has one element.
fn with_dimension(shape: &[u32], layout: &Layout, new_shape: &[u32]) -> Option<Layout> {
    let Layout::Slice { dim, parent } = layout else { return None };
    let (before, behind) = shape.split_at_checked(*dim as usize)?;
    ([before, &[1], behind].concat() == new_shape).then(|| Layout::clone(parent))
}

/// `join`: two tensors side by side in a new last dimension, neighbours in each thread.
pub fn join(shape: &[u32], layout: &Layout, hardware: &Hardware) -> Result<Layout, Reason> {
    let mut linear = layout.linear(shape, hardware)?;
    match layout {
        Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order } => {
            let with = |list: &[u32], last: u32| [list, &[last]].concat();
            return Ok(Layout::Blocked {
                size_per_thread: with(size_per_thread, 2),
                threads_per_warp: with(threads_per_warp, 1),
                warps_per_cta: with(warps_per_cta, 1),
                order: [&[shape.len() as u32], &order[..]].concat(),
            });
        }
        Layout::Slice { dim, parent }
            if *dim as usize == shape.len() && split(&[shape, &[2]].concat(), parent, hardware).is_ok() =>
        {
            return Ok(Layout::clone(parent));
        }
        _ => {}
    }
    linear.bases_mut().for_each(|basis| basis.push(0));
    let mut neighbours = vec![0; shape.len() + 1];
    neighbours[shape.len()] = 1;
    linear.register.insert(0, neighbours);
    Ok(linear.into())
}

/// `split`: the halves of a tensor whose last dimension is 2, if each thread has both of each pair.
pub fn split(shape: &[u32], layout: &Layout, hardware: &Hardware) -> Result<Layout, Reason> {
    let linear = layout.linear(shape, hardware)?;
    let last = shape.len() - 1;
    if shape[last] != 2 || last == 0 {
        return Err(format!("a split of a tensor of shape {shape:?}").into());
    }
    if linear.register.iter().all(|basis| basis[last] == 0) {
        return Err("a split of a tensor whose threads do not have both elements of a pair".into());
    }
    Ok(reduce(layout, last))
}

impl From<LinearLayout> for Layout {
    fn from(LinearLayout { register, lane, warp }: LinearLayout) -> Layout {
        Layout::Linear { register, lane, warp }
    }
}

/// A blocked layout stays one, where each group of dimensions that become others is filled from its fastest one on.
fn reshaped_blocked(shape: &[u32], layout: &Layout, new_shape: &[u32]) -> Option<Layout> {
    let Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order } = layout else { return None };
    let count = |list: &[u32]| list.iter().product::<u32>();
    let (lanes, warps) = (count(threads_per_warp), count(warps_per_cta));
    if shape == new_shape {
        return Some(layout.clone());
    }
    if *layout == default_blocked(shape, lanes, warps) {
        return Some(default_blocked(new_shape, lanes, warps));
    }
    let groups = groups(shape, new_shape);
    // How slow each dimension is.
    let mut rank = vec![0; shape.len()];
    for (at, &dim) in order.iter().enumerate() {
        rank[dim as usize] = at;
    }
    let are_neighbours =
        |(dims, _): &(Vec<usize>, Vec<usize>)| dims.windows(2).all(|pair| rank[pair[0]] == rank[pair[1]] + 1);
    if !groups.iter().all(are_neighbours) {
        return None;
    }
    let parts = [size_per_thread, threads_per_warp, warps_per_cta];
    for (dims, _) in &groups {
        let mut left: Vec<u32> = dims.iter().map(|&dim| shape[dim]).collect();
        for part in parts {
            for at in (0..dims.len()).rev().filter(|&at| part[dims[at]] != 1) {
                if left[at + 1..].iter().any(|&left| left != 1) {
                    return None;
                }
                // 0: it is larger than the dimension.
                left[at] /= part[dims[at]];
                if left[at] == 0 && at != 0 {
                    return None;
                }
            }
        }
    }
    let mut left = new_shape.to_vec();
    let mut fill = |part: &[u32]| -> Option<Vec<u32>> {
        let mut filled = vec![1; new_shape.len()];
        for (from, to) in &groups {
            let mut count: u32 = from.iter().map(|&dim| part[dim]).product();
            for &dim in to.iter().rev() {
                filled[dim] = count.min(left[dim]);
                count /= filled[dim];
                left[dim] /= filled[dim];
            }
            filled[*to.first()?] *= count;
        }
        Some(filled)
    };
    let (size_per_thread, threads_per_warp, warps_per_cta) = (fill(parts[0])?, fill(parts[1])?, fill(parts[2])?);
    let mut by_speed: Vec<&(Vec<usize>, Vec<usize>)> = groups.iter().collect();
    by_speed.sort_by_key(|(from, _)| from.first().map(|&dim| rank[dim]));
    let order = by_speed.iter().flat_map(|(_, to)| to.iter().rev().map(|&dim| dim as u32)).collect();
    Some(Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order })
}

/// The dimensions that become others, in the smallest groups of equally many elements.
fn groups(from: &[u32], to: &[u32]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups = vec![(Vec::new(), Vec::new())];
    let (mut at_from, mut at_to) = (0, 0);
    let (mut of_from, mut of_to) = (1_u64, 1_u64);
    while at_from < from.len() || at_to < to.len() {
        let (next_from, next_to) = (from.get(at_from), to.get(at_to));
        let group = groups.last_mut().expect("there is one from the start");
        if let Some(&extent) = next_from
            && (of_from < of_to || of_from == 1 || extent == 1)
        {
            of_from *= u64::from(extent);
            group.0.push(at_from);
            at_from += 1;
        } else if let Some(&extent) = next_to
            && (of_to < of_from || extent == 1)
        {
            of_to *= u64::from(extent);
            group.1.push(at_to);
            at_to += 1;
        } else {
            groups.push((Vec::new(), Vec::new()));
            (of_from, of_to) = (1, 1);
        }
    }
    groups
}

/// What the compiler gives a tensor that nothing is known of: one element a thread, lanes and warps along the last dimensions first.
fn default_blocked(shape: &[u32], lanes: u32, warps: u32) -> Layout {
    let (mut lanes_left, mut warps_left) = (lanes, warps);
    let (mut threads_per_warp, mut warps_per_cta) = (vec![1; shape.len()], vec![1; shape.len()]);
    for (dim, &extent) in shape.iter().enumerate().skip(1).rev() {
        threads_per_warp[dim] = extent.min(lanes_left);
        warps_per_cta[dim] = (extent / threads_per_warp[dim]).clamp(1, warps_left);
        lanes_left /= threads_per_warp[dim];
        warps_left /= warps_per_cta[dim];
    }
    (threads_per_warp[0], warps_per_cta[0]) = (lanes_left, warps_left);
    Layout::Blocked {
        size_per_thread: vec![1; shape.len()],
        threads_per_warp,
        warps_per_cta,
        order: (0..shape.len() as u32).rev().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;
    use crate::device::Compiler;

    const SM_90: Hardware = Hardware { vendor: Vendor::Nvidia, capability: 90, compiler: Compiler::V3_9 };

    fn blocked(registers: &[u32], lanes: &[u32], warps: &[u32], order: &[u32]) -> Layout {
        Layout::Blocked {
            size_per_thread: registers.to_vec(),
            threads_per_warp: lanes.to_vec(),
            warps_per_cta: warps.to_vec(),
            order: order.to_vec(),
        }
    }

    #[test]
    fn a_dimension_that_a_reduction_takes_comes_back() {
        let layout = blocked(&[1, 4], &[4, 8], &[4, 1], &[1, 0]);
        assert_eq!(expand_dims(&reduce(&layout, 1), 1), Ok(layout.clone()));
        assert!(expand_dims(&reduce(&layout, 1), 0).is_err());
        assert!(expand_dims(&layout, 0).is_err());
    }

    #[test]
    fn transposing_moves_what_stands_for_dimensions() {
        let (layout, transposed) =
            (blocked(&[1, 4], &[4, 8], &[4, 1], &[1, 0]), blocked(&[4, 1], &[8, 4], &[1, 4], &[0, 1]));
        assert_eq!(transpose(&[64, 64], &layout, &[1, 0], &SM_90), Ok(transposed));
        assert!(transpose(&[64, 64], &layout, &[0, 0], &SM_90).is_err());
    }

    #[test]
    fn reshaping_stays_blocked_where_it_can() {
        let layout = blocked(&[4], &[32], &[4], &[0]);
        let rows = blocked(&[1, 4], &[8, 4], &[4, 1], &[1, 0]);
        assert_eq!(reshape(&[1024], &layout, &[64, 16], &SM_90), Ok(rows));
        assert!(reshape(&[1024], &layout, &[64, 64], &SM_90).is_err());
    }

    #[test]
    fn what_is_joined_can_be_split() {
        let layout = blocked(&[4], &[32], &[4], &[0]);
        let joined = join(&[1024], &layout, &SM_90).expect("a layout");
        assert_eq!(joined, blocked(&[4, 2], &[32, 1], &[4, 1], &[1, 0]));
        let half = split(&[1024, 2], &joined, &SM_90).expect("a layout");
        assert_eq!(equivalent(&[1024], &half, &layout, &SM_90), Ok(true));
    }
}
