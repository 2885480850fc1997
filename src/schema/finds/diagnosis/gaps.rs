//! Combinations of optional arguments that leave out what stands in front of them in a key: which of those that no key serves are such.
//! Must not judge the others.
//!
//! A hierarchy such as `{state}#{city}` is read by prefixes: by no argument, by a state, by a state and a city. A city without its state
//! is a gap. Nothing serves it, but the find is sound: a caller who asks for a gap is told which argument is missing.

use crate::schema::finds::best::Miss;
use crate::schema::model::find::AccessPath;

/// Whether a combination becomes one that is served when arguments are added, and another when arguments are left out, both in the same
/// place and the same order.
pub fn is_gap(miss: &Miss, paths: &[AccessPath]) -> bool {
    let served = || paths.iter().filter(|path| path.order_by == miss.order.value);
    let within = |inner: &[String], outer: &[String]| inner.iter().all(|name| outer.contains(name));
    served().filter(|less| within(&less.when, &miss.when)).any(|less| {
        let mut more = served().filter(|more| within(&miss.when, &more.when));
        more.any(|more| more.index == less.index)
    })
}
