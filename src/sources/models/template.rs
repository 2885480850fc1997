//! Templates of keys as other tools write them in, templates with attribute names in braces out.

/// Text with `${name}` in it, where a name may have a form behind a colon, as a template. `attribute` gives the
/// attribute of a name.
pub fn from_dollars(text: &str, attribute: &dyn Fn(&str) -> String) -> String {
    let mut template = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        template.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + end];
        let name = name.split(':').next().unwrap_or(name);
        template.push('{');
        template.push_str(&attribute(name));
        template.push('}');
        rest = &rest[start + end + 1..];
    }
    template + rest
}

/// An alias of a key, as a drawing has it, as a template: `#META#playerID` is `#META#{playerID}`. A word with small
/// letters names what stands there, one in capitals stands there itself.
pub fn from_alias(alias: &str) -> String {
    if alias.contains("${") {
        return from_dollars(alias, &|name| name.to_owned());
    }
    if alias.contains('{') {
        return alias.to_owned();
    }
    if alias.contains('<') {
        return alias.replace('<', "{").replace('>', "}");
    }
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut template = String::new();
    let mut rest = alias;
    while !rest.is_empty() {
        let word = &rest[..rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len())];
        let is_name = word.contains(char::is_lowercase);
        template.push_str(&if is_name { format!("{{{word}}}") } else { word.to_owned() });
        rest = &rest[word.len()..];
        let between = &rest[..rest.find(is_of_word).unwrap_or(rest.len())];
        template.push_str(between);
        rest = &rest[between.len()..];
    }
    template
}
