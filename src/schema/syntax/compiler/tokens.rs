//! The parser's message about a token in; the same message with the token as it is written out.

/// Replaces the parser's own names of tokens by the tokens.
pub fn in_plain_tokens(message: &str) -> String {
    let names = [
        ("R_CURLY", "`}`"),
        ("L_CURLY", "`{`"),
        ("R_PAREN", "`)`"),
        ("L_PAREN", "`(`"),
        ("R_BRACK", "`]`"),
        ("COLON", "`:`"),
    ];
    names.iter().fold(message.to_owned(), |message, (name, plain)| message.replacen(name, plain, 1))
}
