//! JSON Web Tokens: a text in; its parts, and whether its claims are for this server and this moment, out.

pub mod claims;
pub mod unchecked;
