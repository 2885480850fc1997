//! Tables with their labels in, Terraform resources out (Terraform AWS provider, resource `aws_dynamodb_table`).

use crate::schema::table::{Billing, Capacity, Index, KeyAttribute, Projection, Table};
use hcl::format::{Format, Formatter};
use hcl::structure::BlockBuilder;
use hcl::{Block, Body};

/// The resources of these tables.
pub fn resources(tables: &[(String, &Table)]) -> hcl::Result<String> {
    let blocks = tables.iter().map(|(label, table)| resource(label, table));
    let body = Body::builder().add_blocks(blocks).build();
    body.format_string(&mut Formatter::builder().compact_arrays(true).build_vec())
}

fn resource(label: &str, table: &Table) -> Block {
    let mut block = Block::builder("resource").add_label("aws_dynamodb_table").add_label(label);
    block = block.add_attribute(("name", table.name.as_str())).add_attribute(("billing_mode", table.billing.mode()));
    if let Billing::Provisioned(capacity) = table.billing {
        block = add_capacity(block, capacity);
    }
    block = block.add_attribute(("hash_key", table.partition.name.as_str()));
    if let Some(sort) = &table.sort {
        block = block.add_attribute(("range_key", sort.name.as_str()));
    }
    if let Some(view) = table.stream {
        block = block.add_attribute(("stream_enabled", true)).add_attribute(("stream_view_type", view.name()));
    }
    for key in table.key_attributes() {
        let attribute = Block::builder("attribute").add_attribute(("name", key.name.as_str()));
        block = block.add_block(attribute.add_attribute(("type", key.kind.name())).build());
    }
    block = block.add_blocks(table.indexes.iter().map(index_block));
    if let Some(attribute) = &table.time_to_live {
        let ttl = Block::builder("ttl").add_attribute(("attribute_name", attribute.as_str()));
        block = block.add_block(ttl.add_attribute(("enabled", true)).build());
    }
    if table.point_in_time_recovery {
        block = block.add_block(Block::builder("point_in_time_recovery").add_attribute(("enabled", true)).build());
    }
    block.build()
}

fn index_block(index: &Index) -> Block {
    let kind = if index.local { "local_secondary_index" } else { "global_secondary_index" };
    let mut block = Block::builder(kind).add_attribute(("name", index.name.as_str()));
    if let ([partition], [] | [_]) = (index.partition.as_slice(), index.sort.as_slice()) {
        if !index.local {
            block = block.add_attribute(("hash_key", partition.name.as_str()));
        }
        if let Some(sort) = index.sort.first() {
            block = block.add_attribute(("range_key", sort.name.as_str()));
        }
    } else {
        // Since version 6.29 of the provider. Such blocks replace `hash_key` and `range_key`.
        let element = |key: &KeyAttribute, role: &str| {
            let block = Block::builder("key_schema").add_attribute(("attribute_name", key.name.as_str()));
            block.add_attribute(("key_type", role)).build()
        };
        block = block.add_blocks(index.partition.iter().map(|key| element(key, "HASH")));
        block = block.add_blocks(index.sort.iter().map(|key| element(key, "RANGE")));
    }
    block = block.add_attribute(("projection_type", index.projection.name()));
    if let Projection::Include(names) = &index.projection {
        block = block.add_attribute(("non_key_attributes", names.clone()));
    }
    if let Some(capacity) = index.capacity {
        block = add_capacity(block, capacity);
    }
    block.build()
}

fn add_capacity(block: BlockBuilder, capacity: Capacity) -> BlockBuilder {
    block.add_attribute(("read_capacity", capacity.read)).add_attribute(("write_capacity", capacity.write))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::table::KeyType;

    /// The name of the hash key that a reader of HCL finds in the resource of a table.
    fn hash_key(name: &str) -> String {
        let table = Table::new("t", KeyAttribute { name: name.to_owned(), kind: KeyType::S }, None);
        let text = resources(&[("t".to_owned(), &table)]).unwrap();
        let read: hcl::Value = hcl::eval::from_str(&text, &hcl::eval::Context::new()).unwrap();
        let path = ["resource", "aws_dynamodb_table", "t", "hash_key"];
        let found = path.iter().fold(&read, |value, name| value.as_object().unwrap().get(*name).unwrap());
        found.as_str().unwrap().to_owned()
    }

    #[test]
    fn a_name_means_itself() {
        for name in ["plain", "${var.name} %{if} 5$ 5%", "say \"hi\" \\ there", "a\nb\u{1b}", "é漢"] {
            assert_eq!(hash_key(name), name);
        }
    }
}
