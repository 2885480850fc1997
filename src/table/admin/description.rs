//! The description of an existing table in, the table out. Makes no call.

use crate::schema::table::{Billing, Capacity, Index, KeyAttribute, KeyType, Projection, StreamView, Table};
use aws_sdk_dynamodb::types::{self as sdk, KeySchemaElement, TableDescription};

/// The table that is described; `None` if it has no partition key.
pub(super) fn described(found: &TableDescription, time_to_live: Option<String>) -> Option<Table> {
    let description = Description { found };
    let own = |wanted: sdk::KeyType| description.keys(found.key_schema(), wanted).into_iter().next();
    let mut table = Table::new(found.table_name()?, own(sdk::KeyType::Hash)?, own(sdk::KeyType::Range));
    for index in found.global_secondary_indexes() {
        let capacity = index.provisioned_throughput().and_then(capacity).filter(|_| description.is_provisioned());
        let of = (index.index_name(), index.key_schema(), index.projection());
        table.indexes.extend(description.index(of, false, capacity));
    }
    for index in found.local_secondary_indexes() {
        let of = (index.index_name(), index.key_schema(), index.projection());
        table.indexes.extend(description.index(of, true, None));
    }
    table.time_to_live = time_to_live;
    if let Some(capacity) = found.provisioned_throughput().and_then(capacity).filter(|_| description.is_provisioned()) {
        table.billing = Billing::Provisioned(capacity);
    }
    table.stream =
        found.stream_specification().filter(|stream| stream.stream_enabled()).and_then(|stream| {
            match stream.stream_view_type()? {
                sdk::StreamViewType::KeysOnly => Some(StreamView::KeysOnly),
                sdk::StreamViewType::NewImage => Some(StreamView::NewImage),
                sdk::StreamViewType::OldImage => Some(StreamView::OldImage),
                sdk::StreamViewType::NewAndOldImages => Some(StreamView::NewAndOldImages),
                _ => None,
            }
        });
    Some(table)
}

fn capacity(found: &sdk::ProvisionedThroughputDescription) -> Option<Capacity> {
    let units = |units: Option<i64>| units.and_then(|units| u32::try_from(units).ok()).filter(|units| *units > 0);
    Some(Capacity { read: units(found.read_capacity_units())?, write: units(found.write_capacity_units())? })
}

struct Description<'a> {
    found: &'a TableDescription,
}

impl Description<'_> {
    fn is_provisioned(&self) -> bool {
        let mode = self.found.billing_mode_summary().and_then(|summary| summary.billing_mode());
        mode != Some(&sdk::BillingMode::PayPerRequest)
    }

    /// The attributes of a partition key or of a sort key.
    fn keys(&self, elements: &[KeySchemaElement], wanted: sdk::KeyType) -> Vec<KeyAttribute> {
        let key = |element: &KeySchemaElement| {
            let name = element.attribute_name();
            let definition =
                self.found.attribute_definitions().iter().find(|definition| definition.attribute_name() == name)?;
            let kind = match definition.attribute_type() {
                sdk::ScalarAttributeType::N => KeyType::N,
                sdk::ScalarAttributeType::B => KeyType::B,
                _ => KeyType::S,
            };
            Some(KeyAttribute { name: name.to_owned(), kind })
        };
        elements.iter().filter(|element| *element.key_type() == wanted).filter_map(key).collect()
    }

    fn index(
        &self,
        (name, keys, projection): (Option<&str>, &[KeySchemaElement], Option<&sdk::Projection>),
        local: bool,
        capacity: Option<Capacity>,
    ) -> Option<Index> {
        let (partition, sort) = (self.keys(keys, sdk::KeyType::Hash), self.keys(keys, sdk::KeyType::Range));
        if partition.is_empty() {
            return None;
        }
        let projection = match projection.and_then(|projection| projection.projection_type()) {
            Some(sdk::ProjectionType::KeysOnly) => Projection::KeysOnly,
            Some(sdk::ProjectionType::Include) => {
                Projection::Include(projection.map(|of| of.non_key_attributes().to_vec()).unwrap_or_default())
            }
            _ => Projection::All,
        };
        Some(Index { name: name?.to_owned(), local, partition, sort, projection, capacity })
    }
}
