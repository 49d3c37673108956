//! What an author most likely meant by a name that there is not.

/// The name that needs the fewest changes of letters, if it is near enough to be what was meant.
pub(crate) fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = match name.chars().count() {
        0 | 1 => return None,
        letters => (letters / 3).clamp(1, 2),
    };
    let near = names.filter(|other| other.len().abs_diff(name.len()) <= most || is_anagram(name, other));
    let counted = near.map(|other| (slips(name, &other), other));
    counted.filter(|(slips, _)| *slips <= most).min().map(|(_, other)| other)
}

/// How many letters one has to change to make it the other. Letters that changed places are one slip.
pub(crate) fn slips(one: &str, other: &str) -> usize {
    if is_anagram(one, other) { 1 } else { strsim::levenshtein(one, other) }
}

/// Whether one is the other with its letters in another order, as two that were swapped while typing.
fn is_anagram(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    one.len() == other.len() && strsim::levenshtein(one, other) <= 2 && sorted(one) == sorted(other)
}
