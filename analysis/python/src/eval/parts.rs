//! The parts that a value is made of. Python's values are held by many, and `x = (x, x)`, sixty times over, is small: so it is here, where all who hold
//! parts share them. What goes through a value goes through a part as often as it is in it, so that this is counted, and bounded.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values within one, each counted as often as it is in it, beyond which a value counts as unknown.
pub(super) const MOST_PARTS: usize = 1 << 16;

/// Values within values within one, beyond which a value counts as unknown: the stack bears so many.
pub const DEEPEST_PARTS: u32 = 64;

/// How much there is in something, and how deep.
pub trait Weighed {
    /// Itself and what is in it.
    fn weight(&self) -> usize;

    /// 0 where nothing is in it.
    fn depth(&self) -> u32;

    /// Whether it is small enough to be looked through.
    fn is_bearable(&self) -> bool {
        self.weight() <= MOST_PARTS && self.depth() <= DEEPEST_PARTS
    }
}

impl<K: Weighed, V: Weighed> Weighed for (K, V) {
    fn weight(&self) -> usize {
        self.0.weight().saturating_add(self.1.weight())
    }

    fn depth(&self) -> u32 {
        self.0.depth().max(self.1.depth())
    }
}

/// A name of a part.
impl Weighed for Rc<str> {
    fn weight(&self) -> usize {
        0
    }

    fn depth(&self) -> u32 {
        0
    }
}

/// The same.
impl Weighed for String {
    fn weight(&self) -> usize {
        0
    }

    fn depth(&self) -> u32 {
        0
    }
}

/// As a list that all who hold it share.
#[derive(Clone)]
pub struct Parts<T>(Arc<Counted<T>>);

#[derive(Clone)]
struct Counted<T> {
    parts: Vec<T>,
    weight: usize,
    depth: u32,
    /// Tells it from others that are equal: a change of one is none of another.
    object: u64,
}

/// The objects that there were so far.
static OBJECTS: AtomicU64 = AtomicU64::new(0);

impl<T: Weighed> Counted<T> {
    fn new(parts: Vec<T>) -> Self {
        Counted::of_object(OBJECTS.fetch_add(1, Ordering::Relaxed), parts)
    }

    fn of_object(object: u64, parts: Vec<T>) -> Self {
        let weight = parts.iter().fold(1, |sum: usize, part| sum.saturating_add(part.weight()));
        let depth = parts.iter().map(|part| part.depth().saturating_add(1)).max().unwrap_or(0);
        Counted { parts, weight, depth, object }
    }
}

impl<T> Parts<T> {
    pub fn as_slice(&self) -> &[T] {
        &self.0.parts
    }

    /// Whether both are the same list of Python's, and not only equal ones.
    pub fn is_same(&self, other: &Parts<T>) -> bool {
        self.0.object == other.0.object
    }
}

impl<T: Weighed + Clone> Parts<T> {
    /// The same list of Python's, of whose parts more is known.
    pub fn with_parts(&self, parts: impl IntoIterator<Item = T>) -> Parts<T> {
        Parts(Arc::new(Counted::of_object(self.0.object, parts.into_iter().collect())))
    }

    /// Changes them for who asks, and for no other holder.
    pub fn edit<R>(&mut self, edit: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let counted = Arc::make_mut(&mut self.0);
        let mut parts = std::mem::take(&mut counted.parts);
        let result = edit(&mut parts);
        *counted = Counted::of_object(counted.object, parts);
        result
    }

    /// Puts another one in the place of one, if that is there, without looking at the others.
    pub fn set(&mut self, place: usize, part: T) -> bool {
        let counted = Arc::make_mut(&mut self.0);
        let Some(old) = counted.parts.get_mut(place) else { return false };
        counted.weight = counted.weight.saturating_sub(old.weight()).saturating_add(part.weight());
        counted.depth = counted.depth.max(part.depth().saturating_add(1));
        *old = part;
        true
    }

    /// Adds one behind the others, without looking at those.
    pub fn push(&mut self, part: T) {
        let counted = Arc::make_mut(&mut self.0);
        counted.weight = counted.weight.saturating_add(part.weight());
        counted.depth = counted.depth.max(part.depth().saturating_add(1));
        counted.parts.push(part);
    }
}

impl<T> Weighed for Parts<T> {
    fn weight(&self) -> usize {
        self.0.weight
    }

    fn depth(&self) -> u32 {
        self.0.depth
    }
}

impl<T> Deref for Parts<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0.parts
    }
}

impl<T: Weighed> From<Vec<T>> for Parts<T> {
    fn from(parts: Vec<T>) -> Self {
        Parts(Arc::new(Counted::new(parts)))
    }
}

impl<T: Weighed, const N: usize> From<[T; N]> for Parts<T> {
    fn from(parts: [T; N]) -> Self {
        Vec::from(parts).into()
    }
}

impl<T: Weighed> FromIterator<T> for Parts<T> {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        Vec::from_iter(parts).into()
    }
}

impl<T: Weighed> Default for Parts<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone> From<Parts<T>> for Vec<T> {
    fn from(parts: Parts<T>) -> Self {
        Arc::try_unwrap(parts.0).map_or_else(|shared| shared.parts.clone(), |own| own.parts)
    }
}

impl<T: Clone> IntoIterator for Parts<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'p, T> IntoIterator for &'p Parts<T> {
    type Item = &'p T;
    type IntoIter = std::slice::Iter<'p, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.parts.iter()
    }
}

/// As what it is a list of.
impl<T: fmt::Debug> fmt::Debug for Parts<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.parts.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Parts<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.weight == other.0.weight && self.0.parts == other.0.parts
    }
}

impl<T: Eq> Eq for Parts<T> {}

#[cfg(test)]
mod tests {
    use super::super::Constant;
    use super::*;

    fn doubled(times: u32) -> Constant {
        (0..times).fold(Constant::Int(1), |x, _| Constant::Tuple([x.clone(), x].into()))
    }

    #[test]
    fn what_is_shared_is_counted_as_often_as_it_is_held() {
        assert_eq!((doubled(3).weight(), doubled(3).depth()), (15, 3));
        assert!(doubled(15).is_bearable());
        assert!(!doubled(16).is_bearable());
        assert_eq!(doubled(200).weight(), usize::MAX);
    }

    #[test]
    fn who_changes_parts_changes_their_own() {
        let mut one: Parts<Constant> = [Constant::Int(1)].into();
        let other = one.clone();
        one.push(Constant::Tuple([Constant::None].into()));
        assert_eq!((other.len(), other.weight(), other.depth()), (1, 2, 1));
        assert_eq!((one.len(), one.weight(), one.depth()), (2, 4, 2));
        one.edit(|parts| parts.remove(1));
        assert_eq!(one, other);
    }
}
