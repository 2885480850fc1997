//! Sums, differences and products of numbers in GraphQL field names, `price * quantity`: text and the fields of an
//! object in; out, a checked expression, or every mistake. Must not know values.
//!
//! It has the words of DynamoDB's update expressions, and `*` and parentheses besides. There is no division, whose
//! result may have no last digit.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::condition::parser::Parser;
use crate::schema::expression::lexer::tokens_of_arithmetic;
use crate::schema::expression::names::{ConditionMistake, Named, Names};
use crate::schema::expression::operand::Segment;
use crate::schema::expression::term::{TermKind, is_numeric, type_name};
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::value_type::ValueType;

/// How deep parentheses may be nested: deeper than anybody writes, and shallow enough for the stack.
const MAX_DEPTH: usize = 16;

/// The most fields and literals. With the 38 digits of each, this bounds the digits of a result.
const MAX_OPERANDS: usize = 64;

/// A number made of the fields of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Arithmetic {
    /// A field.
    Field(String),
    /// A literal, in its canonical text.
    Number(String),
    /// `a + b - c`
    Sum(Vec<Summand>),
    /// `a * b`
    Product(Vec<Arithmetic>),
}

/// A part of a sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Summand {
    /// Whether it is subtracted.
    pub is_subtracted: bool,
    /// The number.
    pub number: Arithmetic,
}

impl Arithmetic {
    /// Parses an expression and checks its names and types. `field` gives the type of a field and whether it is a list,
    /// or the names that there are.
    pub fn parse(text: &str, fields: &dyn NumberFields) -> Result<Self, Vec<ConditionMistake>> {
        let (tokens, mut mistakes) = tokens_of_arithmetic(text);
        for mistake in &mut mistakes {
            mistake.message = mistake.message.replace("A condition does not know", "An expression does not know");
        }
        let names = FieldNames(fields);
        let parser = Parser::new(text, (tokens, mistakes), &names, "expression");
        let mut reader = Reader { parser, depth: 0, operands: 0 };
        let number = reader.sum();
        if number.is_some() && reader.parser.peek(0).is_some() {
            reader.parser.expected("+, -, * or the end");
        }
        let mut mistakes = reader.parser.typing.mistakes;
        match number {
            Some(number) if mistakes.is_empty() => Ok(number),
            _ => {
                mistakes.sort_by_key(|mistake| mistake.span.start);
                Err(mistakes)
            }
        }
    }

    /// The fields, in the order of the text, as often as they stand there.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Self::Field(name) => vec![name],
            Self::Number(_) => Vec::new(),
            Self::Sum(summands) => summands.iter().flat_map(|summand| summand.number.fields()).collect(),
            Self::Product(factors) => factors.iter().flat_map(Self::fields).collect(),
        }
    }
}

/// The fields that an expression may name.
pub trait NumberFields {
    /// The type of a field, and whether it is a list; otherwise the names that there are.
    fn field(&self, name: &str) -> Result<(ValueType, bool), Vec<String>>;
    /// What to write instead of a name that is no such field, if that is known.
    fn help(&self, name: &str) -> Option<Help>;
}

/// The names of an expression: those of fields are the paths that it reads, and it has no arguments.
struct FieldNames<'a>(&'a dyn NumberFields);

impl Names for FieldNames<'_> {
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        let [name] = fields else { return Err((1, Vec::new())) };
        let (kind, is_list) = self.0.field(name).map_err(|choices| (0, choices))?;
        Ok((vec![(*name).to_owned()], kind, is_list))
    }

    fn argument(&self, _: &str) -> Result<(ValueType, bool), Vec<String>> {
        Err(Vec::new())
    }

    fn help(&self, fields: &[&str]) -> Option<Help> {
        match fields {
            [name] => self.0.help(name),
            _ => Some("An expression names fields of its own object, not what is inside them.".into()),
        }
    }
}

/// An expression that is being parsed.
struct Reader<'a> {
    parser: Parser<'a>,
    depth: usize,
    operands: usize,
}

impl Reader<'_> {
    /// `product`, `product + product - product`.
    fn sum(&mut self) -> Option<Arithmetic> {
        let first = self.product()?;
        let mut summands = vec![Summand { is_subtracted: false, number: first }];
        while let Some(sign) = ['+', '-'].into_iter().find(|sign| self.parser.mark(*sign)) {
            summands.push(Summand { is_subtracted: sign == '-', number: self.product()? });
        }
        match summands.pop() {
            Some(Summand { is_subtracted: false, number }) if summands.is_empty() => Some(number),
            last => Some(Arithmetic::Sum(summands.into_iter().chain(last).collect())),
        }
    }

    /// `operand`, `operand * operand`.
    fn product(&mut self) -> Option<Arithmetic> {
        let first = self.operand()?;
        let mut factors = vec![first];
        while self.parser.mark('*') {
            factors.push(self.operand()?);
        }
        match factors.pop() {
            Some(only) if factors.is_empty() => Some(only),
            last => Some(Arithmetic::Product(factors.into_iter().chain(last).collect())),
        }
    }

    /// A field, a literal, or an expression in parentheses.
    fn operand(&mut self) -> Option<Arithmetic> {
        let place = self.parser.place();
        self.operands += 1;
        if self.depth == MAX_DEPTH || self.operands > MAX_OPERANDS {
            let message = format!(
                "An expression has at most {MAX_OPERANDS} fields and literals, nested at most {MAX_DEPTH} levels deep."
            );
            return self.refuse(place, message);
        }
        if self.parser.mark('(') {
            self.depth += 1;
            let inner = self.sum();
            self.depth -= 1;
            self.parser.expect(')').filter(|()| inner.is_some())?;
            return inner;
        }
        let term = self.parser.term()?;
        match term.kind {
            TermKind::Unknown => None,
            TermKind::Number(text) => match canonical_decimal(&text) {
                Ok(number) => Some(Arithmetic::Number(number)),
                Err(mistake) => self.refuse(term.span, format!("DynamoDB does not keep the number {text}: {mistake}.")),
            },
            TermKind::Path(path, kind, is_list) => match path.segments.as_slice() {
                [Segment::Attribute(name)] if is_numeric(&kind) && !is_list => Some(Arithmetic::Field(name.clone())),
                [Segment::Attribute(name)] => {
                    let message =
                        format!("`{name}` is {}, but only numbers are computed with.", type_name(&kind, is_list));
                    self.refuse(term.span, message)
                }
                _ => self.refuse(term.span, "An expression names fields, not what is inside them.".to_owned()),
            },
            _ => {
                let written = self.parser.typing.text.get(term.span.clone()).unwrap_or_default();
                let message = format!("{written} is neither a field nor a number.");
                self.refuse(term.span, message)
            }
        }
    }

    fn refuse(&mut self, span: std::ops::Range<usize>, message: String) -> Option<Arithmetic> {
        self.parser.typing.mistake(span, message, None);
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    struct Line;

    impl NumberFields for Line {
        fn field(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
            match name {
                "price" => Ok((ValueType::Decimal, false)),
                "quantity" => Ok((ValueType::Int, false)),
                "sizes" => Ok((ValueType::Int, true)),
                "sku" => Ok((ValueType::Id, false)),
                _ => Err(vec!["price".to_owned(), "quantity".to_owned()]),
            }
        }

        fn help(&self, _: &str) -> Option<Help> {
            None
        }
    }

    fn field(name: &str) -> Arithmetic {
        Arithmetic::Field(name.to_owned())
    }

    fn mistakes(text: &str) -> Vec<String> {
        let mistakes = Arithmetic::parse(text, &Line).unwrap_err();
        mistakes.into_iter().map(|mistake| format!("{}: {}", &text[mistake.span], mistake.message)).collect()
    }

    #[test]
    fn products_come_before_sums() {
        let number = Arithmetic::parse("price*quantity - 2.50 *(price -1)", &Line).unwrap();
        let minus = |number: Arithmetic| Summand { is_subtracted: true, number };
        let plus = |number: Arithmetic| Summand { is_subtracted: false, number };
        let within = Arithmetic::Sum(vec![plus(field("price")), minus(Arithmetic::Number("1".to_owned()))]);
        let second = Arithmetic::Product(vec![Arithmetic::Number("2.5".to_owned()), within]);
        let first = Arithmetic::Product(vec![field("price"), field("quantity")]);
        assert_eq!(number, Arithmetic::Sum(vec![plus(first), minus(second)]));
        assert_eq!(number.fields(), ["price", "quantity", "price"]);
        assert_eq!(Arithmetic::parse("((quantity))", &Line), Ok(field("quantity")));
        assert_eq!(Arithmetic::parse("-1", &Line), Ok(Arithmetic::Number("-1".to_owned())));
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        for (text, message) in [
            ("price / 2", "/: An expression does not know `/`."),
            ("prize * 2", "prize: The field `prize` does not exist."),
            ("price * sku", "sku: `sku` is ID, but only numbers are computed with."),
            ("sizes + 1", "sizes: `sizes` is [Int], but only numbers are computed with."),
            ("price *", ": Expected a field, an argument or a literal; the expression ends here."),
            ("price quantity", "quantity: Expected +, -, * or the end; found `quantity`."),
            ("(price", ": Expected `)`; the expression ends here."),
            ("price + :tax", ":tax: The argument `tax` does not exist."),
            ("price + 'a'", "'a': 'a' is neither a field nor a number."),
        ] {
            let found = mistakes(text);
            assert!(found.iter().any(|found| found == message), "{text}: {found:?}");
        }
        assert!(mistakes(&vec!["price"; 65].join("+"))[0].contains("at most 64"));
        assert!(mistakes(&format!("{}1{}", "(".repeat(17), ")".repeat(17)))[0].contains("16 levels"));
        assert!(Arithmetic::parse(&vec!["price"; 64].join("*"), &Line).is_ok());
    }

    #[test]
    fn no_text_panics() {
        for text in
            ["", "*", "(", ")", "+-", "1..2", "price[0]", "price.x", "size(sku)", "((((((", "é*2", "1e999", "-price"]
        {
            assert!(Arithmetic::parse(text, &Line).is_err(), "{text}");
        }
    }
}
