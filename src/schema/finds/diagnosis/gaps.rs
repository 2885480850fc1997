//! An unserved combination of optional arguments in, whether it only lacks an argument further left in a key out. Must
//! not judge other combinations.
//!
//! A hierarchy such as `{state}#{city}` is read by prefixes: by no argument, by a state, by a state and a city. A city
//! without its state is a gap. Nothing serves it, but the find is sound: a caller who asks for a gap learns which
//! argument is missing.

use crate::schema::finds::best::Miss;
use crate::schema::model::find::AccessPath;

/// Whether the same table or index, in the same order, serves a combination with more arguments and also one with
/// fewer.
pub fn is_gap(miss: &Miss, paths: &[AccessPath]) -> bool {
    let served = || paths.iter().filter(|path| path.order_by == miss.order.value);
    let within = |inner: &[String], outer: &[String]| inner.iter().all(|name| outer.contains(name));
    served().filter(|less| within(&less.when, &miss.when)).any(|less| {
        let mut more = served().filter(|more| within(&miss.when, &more.when));
        more.any(|more| more.index == less.index)
    })
}
