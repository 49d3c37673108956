//! What an author may have meant by a name that does not exist.

/// The name that is nearest to `word`, if so few letters tell them apart that it may be a slip.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().max(3) / 3;
    let word = word.to_lowercase();
    // Letters that changed places are one slip, not two.
    let slips = |name: &str| strsim::osa_distance(&word, &name.to_lowercase());
    let near = names.into_iter().map(|name| (slips(name), name)).filter(|(slips, _)| *slips <= most);
    near.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// `; did you mean `name`?`, or nothing.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let names = ["capacity-exceeded", "rejected", "activate", "gate"];
        assert_eq!(nearest("capacity-exceded", names), Some("capacity-exceeded"));
        assert_eq!(nearest("Gate", names), Some("gate"));
        assert_eq!(nearest("agte", names), Some("gate"));
        assert_eq!(nearest("softmax", names), None);
        assert_eq!(did_you_mean("", names), "");
    }
}
