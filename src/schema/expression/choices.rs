//! The help line for a name that is not there: the name and the valid ones in, a sentence out.

/// Most choices that a help line lists.
const MOST: usize = 30;

/// The nearest of the choices, if one is near, and all of them; `None` where there are none.
pub fn help(name: &str, choices: &[String]) -> Option<String> {
    let listed: Vec<String> = choices.iter().take(MOST).map(|choice| format!("`{choice}`")).collect();
    if listed.is_empty() {
        return None;
    }
    let more = match choices.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let nearest = match nearest(name, choices) {
        Some(choice) => format!("Did you mean `{choice}`? "),
        None => String::new(),
    };
    Some(format!("{nearest}The choices are {}{more}.", listed.join(", ")))
}

/// The choice that is fewest changes of a letter away, if these are few for the name's length.
fn nearest<'c>(name: &str, choices: &'c [String]) -> Option<&'c str> {
    let few = name.chars().count().div_ceil(3).clamp(1, 3);
    let distances = choices.iter().map(|choice| (distance(&name.to_lowercase(), &choice.to_lowercase()), choice.as_str()));
    distances.filter(|(distance, _)| *distance <= few).min_by_key(|(distance, _)| *distance).map(|(_, choice)| choice)
}

/// How many letters have to be added, removed or changed to make one word the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let (mut corner, mut left) = (line, line + 1);
        row[0] = left;
        for (column, against) in other.iter().enumerate() {
            let above = row[column + 1];
            left = (corner + usize::from(letter != *against)).min(left + 1).min(above + 1);
            (corner, row[column + 1]) = (above, left);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_changes() {
        for (one, other, changes) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("titel", "title", 2), ("a", "a", 0)]
        {
            assert_eq!(distance(one, other), changes, "{one} {other}");
        }
    }

    #[test]
    fn the_nearest_choice_is_named() {
        let choices = ["title".to_owned(), "type".to_owned()];
        assert_eq!(help("titles", &choices), Some("Did you mean `title`? The choices are `title`, `type`.".to_owned()));
        assert_eq!(help("Type", &choices), Some("Did you mean `type`? The choices are `title`, `type`.".to_owned()));
        assert_eq!(help("owner", &choices), Some("The choices are `title`, `type`.".to_owned()));
        assert_eq!(help("owner", &[]), None);
        let many: Vec<String> = (0..40).map(|n| format!("field{n}")).collect();
        assert!(help("x", &many).is_some_and(|help| help.ends_with("`field29` and 10 more.")));
    }
}
