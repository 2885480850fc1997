//! Options of the bus between copies in; streams that the copies share out.

use crate::schema::table::Table;
use crate::table::data_store::DataStore;
use crate::table::stream::shared::lease_table::{self, StoredLeases};
use crate::table::stream::shared::nats_bus::NatsBus;
use crate::table::stream::shared::source::SharedStreams;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// How the copies of a gateway share the streams of their tables.
#[derive(Debug, Clone, Args)]
pub struct BusSettings {
    /// NATS server over which copies share the streams of tables, such as nats://localhost:4222; repeat it for the
    /// servers of a cluster [default: each copy reads the streams itself]
    #[arg(long, env = "KEYFOLD_BUS", value_name = "URL", value_delimiter = ',', hide_env_values = true)]
    bus: Vec<String>,

    /// File with the credentials for the bus, as `nsc` writes it
    #[arg(long, env = "KEYFOLD_BUS_CREDENTIALS", value_name = "FILE", requires = "bus")]
    bus_credentials: Option<PathBuf>,

    /// Beginning of the subjects on the bus; gateways with other tables need another one
    #[arg(long, env = "KEYFOLD_BUS_SUBJECT", value_name = "NAME", default_value = "keyfold", value_parser = subject)]
    bus_subject: String,

    /// Table in which the copies agree which of them reads a stream; `keyfold tables --lease-table` creates it
    #[arg(long, env = "KEYFOLD_LEASE_TABLE", value_name = "NAME", default_value = "keyfold-leases")]
    lease_table: String,
}

impl BusSettings {
    /// The table of leases, if there is a bus.
    pub fn table(&self) -> Option<Table> {
        (!self.bus.is_empty()).then(|| lease_table::definition(&self.lease_table))
    }

    /// The streams that the copies share, if there is a bus. Must be called inside a Tokio runtime.
    pub async fn connect(&self, store: impl DataStore + 'static) -> Result<Option<SharedStreams>> {
        if self.bus.is_empty() {
            return Ok(None);
        }
        let bus = NatsBus::connect(&self.bus, self.bus_credentials.as_deref(), &self.bus_subject).await?;
        let leases = StoredLeases::new(Arc::new(store), self.lease_table.as_str().into());
        Ok(Some(SharedStreams::new(Arc::new(bus), Arc::new(leases))))
    }
}

/// Reads the beginning of subjects (NATS documentation, "Subject-based messaging": tokens, with dots between them).
fn subject(text: &str) -> Result<String, String> {
    let is_token = |token: &str| {
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match text.len() <= 100 && text.split('.').all(is_token) {
        true => Ok(text.to_owned()),
        false => Err("write up to 100 letters, digits, - and _, with dots between the parts".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_parts_without_wildcards() {
        for right in ["keyfold", "prod.keyfold-2", "a_b"] {
            assert_eq!(subject(right).as_deref(), Ok(right));
        }
        for wrong in ["", ".", "a.", "a b", "a.*", ">", &"a".repeat(101)] {
            assert!(subject(wrong).is_err(), "{wrong}");
        }
    }
}
