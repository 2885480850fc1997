//! `keyfold selftest` on the second store: every golden, with its calls.

use super::moto::Moto;
use crate::process::run;
use libtest_mimic::Failed;
use serde_json::Value;
use std::path::Path;

/// Without histories: moto makes a transaction a second time whose token it knows, and does not make a write and its
/// condition at one moment.
pub fn check(moto: &Moto) -> Result<(), Failed> {
    let arguments = ["selftest", "--endpoint-url", moto.url(), "--yes", "--cases", "0", "--format", "json"];
    let ended = run(Path::new("/"), &arguments);
    let report: Value = serde_json::from_str(&ended.out).map_err(|error| format!("{error}: {ended:?}"))?;
    let [measured, estimate] = ["measured", "estimate"].map(|of| report[of]["dollars"].as_f64().unwrap_or(f64::MAX));
    match ended.code == Some(0) && report["agrees"] == true && measured <= estimate {
        true => Ok(()),
        false => Err(format!("{report:#}").into()),
    }
}
