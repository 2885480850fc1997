//! The definition of a scalar in, the type of its values out. Must not know who wrote it.
//!
//! A schema may define a scalar by a name that Keyfold knows. If Keyfold's definition says `@specifiedBy` (GraphQL spec
//! section 3.13.4), the same URL makes it Keyfold's scalar, and any other definition is one of the schema's own. Names
//! without it are always Keyfold's: `scalar Date` is a line for editors.

use crate::schema::scalar::aws::{AWS_SCALARS, AwsScalar};
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::{Moment, ValueType};
use apollo_compiler::schema::ScalarType;
use std::sync::Arc;

/// The specification of Keyfold's `LocalDateTime`.
const LOCAL_DATE_TIME: &str = "https://scalars.graphql.org/chillicream/local-date-time.html";

/// The type of the values of a scalar.
pub fn value_type(definition: &ScalarType) -> ValueType {
    let specified = specification(&definition.name).is_none_or(|url| specified_by(definition) == Some(url));
    if specified { ValueType::from_scalar(&definition.name) } else { ValueType::Json }
}

impl ValueType {
    /// The type of a built-in or provided scalar, by name; a scalar of the schema's own is [`ValueType::Json`].
    pub fn from_scalar(name: &str) -> ValueType {
        match name {
            "ID" => ValueType::Id,
            "String" => ValueType::String,
            "Int" => ValueType::Int,
            "Float" => ValueType::Float,
            "Boolean" => ValueType::Boolean,
            "DateTime" => ValueType::DateTime(Moment::Text),
            "LocalDateTime" => ValueType::LocalDateTime,
            "Date" => ValueType::Date,
            "Long" => ValueType::Long,
            "Decimal" => ValueType::Decimal,
            "Binary" => ValueType::Binary,
            _ => AwsScalar::named(name).map_or(ValueType::Json, ValueType::from_aws),
        }
    }

    /// A scalar of AWS AppSync.
    fn from_aws(scalar: AwsScalar) -> ValueType {
        let kept = if scalar == AwsScalar::Timestamp { ValueType::Long } else { ValueType::String };
        ValueType::InForm(Box::new(kept), Arc::new(Form::Aws(scalar)))
    }
}

/// The URL by which a definition of this name is Keyfold's scalar; `None` if it is so in any case, or never.
pub fn specification(name: &str) -> Option<&'static str> {
    match name {
        "LocalDateTime" => Some(LOCAL_DATE_TIME),
        _ => AwsScalar::named(name).map(|_| AWS_SCALARS),
    }
}

/// The URL of the specification that a definition names.
pub fn specified_by(definition: &ScalarType) -> Option<&str> {
    definition.directives.get("specifiedBy")?.specified_argument_by_name("url")?.as_str()
}
