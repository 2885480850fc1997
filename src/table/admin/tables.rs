//! Declared tables in; created tables and differences out. Part of [`TableStore`].

use super::definition::create_table;
use super::description::described;
use super::differences::{differences, stream_difference, time_to_live_difference};
use crate::schema::table::Table;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::backoff::Backoff;
use crate::table::sdk::table_state::usable;
use crate::table::store::{TABLES_AT_ONCE, TableStore};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_table::DeleteTableError;
use aws_sdk_dynamodb::types::{PointInTimeRecoverySpecification, TimeToLiveSpecification, TimeToLiveStatus};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// Longest time to create all tables. DynamoDB takes some seconds for each.
const CREATE_LIMIT: Duration = Duration::from_secs(300);
/// Longest time to delete a table that may have to be created first.
const DELETE_LIMIT: Duration = Duration::from_secs(60);
/// Longest time to compare all tables.
const COMPARE_LIMIT: Duration = Duration::from_secs(30);
/// Longest time until a server's first answer: the user may have typed a wrong address.
const REACH_LIMIT: Duration = Duration::from_secs(5);
/// A server's answer about a table's time to live.
enum FoundTimeToLive {
    /// The server does not know time to live.
    NotOffered,
    /// It is not enabled.
    Disabled,
    /// It is in this attribute.
    In(String),
}

impl TableStore {
    /// Creates the missing tables with their indexes, time to live, stream and point-in-time recovery, and waits until
    /// all declared tables can be used. Gives the names of the created ones. It never changes an existing table, even
    /// if that differs from its declaration.
    pub async fn create_missing(&self, tables: &[Table]) -> Result<Vec<String>, TableError> {
        let deadline = Instant::now() + CREATE_LIMIT;
        let mut made = Vec::new();
        for table in tables {
            match self.describe(&table.name, deadline).await {
                Ok(_) => {}
                Err(error) if error.kind == TableErrorKind::NoSuchTable => {
                    if self.create(table, deadline).await? {
                        made.push(table);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        for table in tables {
            self.wait_until_active(table, deadline).await?;
        }
        for table in &made {
            if let Some(attribute) = &table.time_to_live {
                self.enable_time_to_live(table, attribute, deadline).await?;
            }
            if table.point_in_time_recovery {
                self.enable_point_in_time_recovery(table, deadline).await?;
            }
        }
        Ok(made.iter().map(|table| table.name.clone()).collect())
    }

    /// Compares the existing tables with the declared ones: a sentence for each difference (missing table, other key,
    /// missing index …).
    pub async fn differences(&self, tables: &[Table]) -> Result<Vec<String>, TableError> {
        self.differences_and_streams(tables, &BTreeSet::new()).await
    }

    /// The same, and whether the tables at these positions have the streams that subscriptions need.
    pub async fn differences_and_streams(
        &self,
        tables: &[Table],
        watched: &BTreeSet<usize>,
    ) -> Result<Vec<String>, TableError> {
        let deadline = Instant::now() + COMPARE_LIMIT;
        let tables = tables.iter().enumerate().map(|(position, table)| (table, watched.contains(&position)));
        // Collected before they run: inside the stream, the compiler cannot prove that the futures are `Send`.
        let asked: Vec<_> =
            tables.map(|(table, is_watched)| self.differences_of((table, is_watched), deadline)).collect();
        let all: Vec<Vec<String>> = stream::iter(asked).buffered(TABLES_AT_ONCE).try_collect().await?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Whether a server answers at all, even that the table is missing or may not be described. Takes 5 seconds at
    /// most.
    pub async fn reachable(&self, table: &Table) -> Result<(), TableError> {
        match self.describe(&table.name, Instant::now() + REACH_LIMIT).await {
            Err(error) if matches!(error.kind, TableErrorKind::Unavailable | TableErrorKind::Timeout) => Err(error),
            _ => Ok(()),
        }
    }

    /// An existing table as a schema would declare it.
    pub async fn described(&self, table: &str) -> Result<Table, TableError> {
        let deadline = Instant::now() + COMPARE_LIMIT;
        let found = self.describe(table, deadline).await?;
        let time_to_live = match self.time_to_live(table, deadline).await? {
            FoundTimeToLive::In(attribute) => Some(attribute),
            _ => None,
        };
        described(&found, time_to_live).ok_or_else(|| TableError {
            kind: TableErrorKind::Invalid,
            detail: format!("the description of {table} has no key"),
        })
    }

    /// Whether there is a table of this name.
    pub async fn exists(&self, table: &str) -> Result<bool, TableError> {
        match self.describe(table, Instant::now() + COMPARE_LIMIT).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind == TableErrorKind::NoSuchTable => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes a table with all its items. One that is not there is no error, and one that is being created is deleted
    /// as soon as it can be.
    pub async fn delete_table(&self, table: &str) -> Result<(), TableError> {
        let deadline = Instant::now() + DELETE_LIMIT;
        let mut backoff = Backoff::new(self.retries());
        loop {
            let attempts = self.attempts_of_admin("DeleteTable", table, deadline);
            let answer = attempts.send(|| async {
                match self.client().delete_table().table_name(table).send().await {
                    Err(error) if is_in_use(&error) => Ok(false),
                    answer => answer.map(|_| true),
                }
            });
            match answer.await {
                Ok(true) => return Ok(()),
                Err(error) if error.kind == TableErrorKind::NoSuchTable => return Ok(()),
                Err(error) => return Err(error),
                Ok(false) if backoff.pause(deadline).await => {}
                Ok(false) => {
                    let detail = format!("DeleteTable {table}: another change of the table has not ended");
                    return Err(TableError { kind: TableErrorKind::Timeout, detail });
                }
            }
        }
    }

    /// Creates a table; `false` if another process has just created it.
    async fn create(&self, table: &Table, deadline: Instant) -> Result<bool, TableError> {
        let request = create_table(self.client(), table).map_err(|error| {
            let detail = format!("CreateTable {}: {error}", table.name);
            TableError { kind: TableErrorKind::Invalid, detail }
        })?;
        let attempts = self.attempts_of_admin("CreateTable", &table.name, deadline);
        let mut first = true;
        let answer = attempts.send(|| {
            let (request, first) = (request.clone(), std::mem::replace(&mut first, false));
            async move {
                match request.send().await {
                    // After an attempt without an answer, we may have created it ourselves.
                    Err(error)
                        if error.as_service_error().is_some_and(|refusal| refusal.is_resource_in_use_exception()) =>
                    {
                        Ok(!first)
                    }
                    answer => answer.map(|_| true),
                }
            }
        });
        answer.await
    }

    async fn wait_until_active(&self, table: &Table, deadline: Instant) -> Result<(), TableError> {
        let mut backoff = Backoff::new(self.retries());
        loop {
            let trouble = match self.describe(&table.name, deadline).await {
                Ok(description) => match usable(table, &description) {
                    Err(trouble) if trouble.kind == TableErrorKind::Unavailable => trouble,
                    // Waiting does not create a missing index. `differences` reports it.
                    _ => return Ok(()),
                },
                // DescribeTable is eventually consistent, and may not know the new table yet.
                Err(trouble) if trouble.kind == TableErrorKind::NoSuchTable => trouble,
                Err(error) => return Err(error),
            };
            if !backoff.pause(deadline).await {
                return Err(trouble);
            }
        }
    }

    async fn enable_time_to_live(&self, table: &Table, attribute: &str, deadline: Instant) -> Result<(), TableError> {
        match self.time_to_live(&table.name, deadline).await? {
            FoundTimeToLive::NotOffered => return Ok(()),
            // DynamoDB refuses to enable it twice.
            FoundTimeToLive::In(found) if found == attribute => return Ok(()),
            FoundTimeToLive::In(_) | FoundTimeToLive::Disabled => {}
        }
        let specification = TimeToLiveSpecification::builder().enabled(true).attribute_name(attribute).build();
        let specification = specification.map_err(|error| {
            let detail = format!("UpdateTimeToLive {}: {error}", table.name);
            TableError { kind: TableErrorKind::Invalid, detail }
        })?;
        let attempts = self.attempts_of_admin("UpdateTimeToLive", &table.name, deadline);
        let request =
            self.client().update_time_to_live().table_name(&table.name).time_to_live_specification(specification);
        attempts.send(|| request.clone().send()).await.map(drop)
    }

    async fn enable_point_in_time_recovery(&self, table: &Table, deadline: Instant) -> Result<(), TableError> {
        let specification = PointInTimeRecoverySpecification::builder().point_in_time_recovery_enabled(true).build();
        let specification = specification.map_err(|error| {
            let detail = format!("UpdateContinuousBackups {}: {error}", table.name);
            TableError { kind: TableErrorKind::Invalid, detail }
        })?;
        let attempts = self.attempts_of_admin("UpdateContinuousBackups", &table.name, deadline);
        let request = self.client().update_continuous_backups().table_name(&table.name);
        let request = request.point_in_time_recovery_specification(specification);
        let answer = attempts.send(|| async {
            match request.clone().send().await {
                // The embedded store and some compatible servers have no backups.
                Err(error) if is_not_offered(&error) => {
                    tracing::warn!(table = table.name, "this server has no point-in-time recovery");
                    Ok(())
                }
                answer => answer.map(drop),
            }
        });
        answer.await
    }

    async fn time_to_live(&self, table: &str, deadline: Instant) -> Result<FoundTimeToLive, TableError> {
        let attempts = self.attempts_of_admin("DescribeTimeToLive", table, deadline);
        let answer = attempts.send(|| async {
            match self.client().describe_time_to_live().table_name(table).send().await {
                Err(error) if is_not_offered(&error) => Ok(None),
                answer => answer.map(Some),
            }
        });
        let Some(output) = answer.await? else {
            tracing::warn!(table, "this server has no time to live: expired items stay until somebody deletes them");
            return Ok(FoundTimeToLive::NotOffered);
        };
        let enabled = output.time_to_live_description.filter(|found| {
            matches!(found.time_to_live_status(), Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling))
        });
        Ok(enabled.and_then(|found| found.attribute_name).map_or(FoundTimeToLive::Disabled, FoundTimeToLive::In))
    }

    async fn differences_of(
        &self,
        (table, is_watched): (&Table, bool),
        deadline: Instant,
    ) -> Result<Vec<String>, TableError> {
        // Side by side: a function that starts waits for each round trip.
        let time_to_live = async {
            match &table.time_to_live {
                Some(_) => self.time_to_live(&table.name, deadline).await.map(Some),
                None => Ok(None),
            }
        };
        let (description, time_to_live) = tokio::join!(self.describe(&table.name, deadline), time_to_live);
        let description = match description {
            Ok(description) => description,
            Err(error) if error.kind == TableErrorKind::NoSuchTable => {
                return Ok(vec![format!("Table {} does not exist.", table.name)]);
            }
            Err(error) => return Err(error),
        };
        let mut all = differences(table, &description);
        all.extend(stream_difference(table, &description).filter(|_| is_watched));
        all.extend(match time_to_live? {
            Some(FoundTimeToLive::In(found)) => time_to_live_difference(table, Some(&found)),
            Some(FoundTimeToLive::Disabled) => time_to_live_difference(table, None),
            Some(FoundTimeToLive::NotOffered) | None => None,
        });
        Ok(all)
    }
}

/// Whether a table cannot be deleted now, because it is being created or changed.
fn is_in_use(error: &SdkError<DeleteTableError, HttpResponse>) -> bool {
    error.as_service_error().is_some_and(DeleteTableError::is_resource_in_use_exception)
}

/// Whether the server does not know the operation at all, as some compatible servers answer for operations that they
/// lack.
fn is_not_offered<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    let status = error.raw_response().map(|response| response.status().as_u16());
    status == Some(501)
        || matches!(
            error.code(),
            Some("UnknownOperationException" | "UnknownOperation" | "UnsupportedOperationException")
        )
}
