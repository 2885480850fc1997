//! The size of a condition or an update as DynamoDB counts it: its operators and functions, and the bytes of its text
//! with Keyfold's placeholders. (DynamoDB developer guide, "Service, account, and table quotas", expression
//! parameters.)

use super::condition::Condition;
use super::operand::Path;
use super::update::{SetValue, Update};
use std::ops::Add;

/// The most operators and functions of an expression.
const MAX_OPERATORS: usize = 300;
/// The most bytes of its text.
const MAX_BYTES: usize = 4096;
/// The bytes of a placeholder of a name or a value, such as `#n12` and `:v12`.
const PLACEHOLDER: usize = 4;
/// The bytes of an operator with its spaces, or of a function's name with its parentheses.
const WORD: usize = 4;
const FUNCTION: usize = 14;

/// The size of an expression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpressionSize {
    /// Its operators and functions.
    pub operators: usize,
    /// The bytes of its text.
    pub bytes: usize,
}

impl Add for ExpressionSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { operators: self.operators + other.operators, bytes: self.bytes + other.bytes }
    }
}

impl ExpressionSize {
    /// The size of what Keyfold demands of the item besides: that it exists, is of its type and has the version that
    /// the caller has seen. `telling` is the number of attributes beside the keys that tell its type.
    pub fn for_item(telling: usize) -> Self {
        (Self::joined() + Self::new(1, FUNCTION + PLACEHOLDER)).times(2 + telling)
    }

    /// The size of what joins two conditions.
    pub fn joined() -> Self {
        Self::new(1, WORD)
    }

    /// How it exceeds DynamoDB's limits, if it does.
    pub fn excess(self) -> Option<String> {
        match self {
            Self { operators, .. } if operators > MAX_OPERATORS => {
                Some(format!("it has {operators} operators, and DynamoDB takes {MAX_OPERATORS}"))
            }
            Self { bytes, .. } if bytes > MAX_BYTES => {
                Some(format!("it is about {bytes} bytes long, and DynamoDB takes {MAX_BYTES}"))
            }
            _ => None,
        }
    }

    /// The size of a text as it is sent: its operators and functions.
    pub fn counted(text: &str) -> Self {
        let words = text.split([' ', '(', ')']).filter(|word| !word.is_empty());
        // Placeholders are the operands.
        let operators = words.filter(|word| !word.starts_with(['#', ':']) && *word != ",").count();
        Self::new(operators, text.len())
    }

    fn new(operators: usize, bytes: usize) -> Self {
        Self { operators, bytes }
    }

    fn times(self, count: usize) -> Self {
        Self::new(self.operators * count, self.bytes * count)
    }
}

impl Condition {
    /// The size of its expression.
    pub fn size(&self) -> ExpressionSize {
        let of_path = |path: &Path| ExpressionSize::new(0, path.segments.len() * (PLACEHOLDER + 1));
        match self {
            Self::And(conditions) | Self::Or(conditions) => {
                let between = ExpressionSize::joined().times(conditions.len().saturating_sub(1));
                conditions.iter().map(Self::size).fold(between, Add::add)
            }
            Self::Not(condition) => ExpressionSize::new(1, WORD) + condition.size(),
            Self::Compare(..) => ExpressionSize::new(1, WORD + 2 * PLACEHOLDER),
            Self::Between(..) => ExpressionSize::new(1, 4 * WORD + 3 * PLACEHOLDER),
            Self::In(_, list) => ExpressionSize::new(1, WORD + PLACEHOLDER + list.len() * (PLACEHOLDER + 2)),
            Self::Exists(path) | Self::NotExists(path) => ExpressionSize::new(1, FUNCTION) + of_path(path),
            Self::BeginsWith(path, _) | Self::Contains(path, _) => {
                ExpressionSize::new(1, FUNCTION + PLACEHOLDER) + of_path(path)
            }
            Self::AttributeType(path, _) => ExpressionSize::new(1, FUNCTION + PLACEHOLDER) + of_path(path),
        }
    }
}

impl Update {
    /// The size of its expression.
    pub fn size(&self) -> ExpressionSize {
        let action = ExpressionSize::new(0, WORD + PLACEHOLDER);
        let set = self.set.iter().map(|(_, value)| action + value.size());
        let others = self.remove.len() + self.add.len() + self.delete.len();
        set.fold(ExpressionSize::new(0, others * (WORD + 2 * PLACEHOLDER)), Add::add)
    }
}

impl SetValue {
    fn size(&self) -> ExpressionSize {
        match self {
            Self::Operand(_) => ExpressionSize::new(0, PLACEHOLDER),
            Self::Plus(one, other) | Self::Minus(one, other) => {
                ExpressionSize::new(1, WORD - 1) + one.size() + other.size()
            }
            Self::IfNotExists(_, value) => ExpressionSize::new(1, FUNCTION + PLACEHOLDER) + value.size(),
            Self::ListAppend(one, other) => ExpressionSize::new(1, FUNCTION) + one.size() + other.size(),
        }
    }
}
