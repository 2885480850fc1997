//! Tables with their labels in, Terraform resources out (Terraform AWS provider, resource `aws_dynamodb_table`), laid out as
//! `terraform fmt` does.

use crate::schema::table::{Billing, Capacity, Index, Projection, Table};

/// The resources of these tables.
pub fn resources(tables: &[(String, &Table)]) -> String {
    tables.iter().map(|(label, table)| resource(label, table)).collect::<Vec<_>>().join("\n")
}

fn resource(label: &str, table: &Table) -> String {
    let mut body = Block::default();
    body.set("name", quoted(&table.name));
    body.set("billing_mode", quoted(table.billing.mode()));
    if let Billing::Provisioned(capacity) = table.billing {
        set_capacity(&mut body, capacity);
    }
    body.set("hash_key", quoted(&table.partition.name));
    if let Some(sort) = &table.sort {
        body.set("range_key", quoted(&sort.name));
    }
    if let Some(view) = table.stream {
        body.set("stream_enabled", "true".into());
        body.set("stream_view_type", quoted(view.name()));
    }
    for key in table.key_attributes() {
        let mut attribute = Block::default();
        attribute.set("name", quoted(&key.name));
        attribute.set("type", quoted(key.kind.name()));
        body.nest("attribute", attribute);
    }
    for index in &table.indexes {
        body.nest(if index.local { "local_secondary_index" } else { "global_secondary_index" }, index_block(index));
    }
    if let Some(attribute) = &table.time_to_live {
        let mut ttl = Block::default();
        ttl.set("attribute_name", quoted(attribute));
        ttl.set("enabled", "true".into());
        body.nest("ttl", ttl);
    }
    if table.point_in_time_recovery {
        let mut recovery = Block::default();
        recovery.set("enabled", "true".into());
        body.nest("point_in_time_recovery", recovery);
    }
    format!("resource \"aws_dynamodb_table\" {} {{\n{}}}\n", quoted(label), body.text(1))
}

fn index_block(index: &Index) -> Block {
    let mut block = Block::default();
    block.set("name", quoted(&index.name));
    if !index.local {
        block.set("hash_key", quoted(&index.partition.name));
    }
    if let Some(sort) = &index.sort {
        block.set("range_key", quoted(&sort.name));
    }
    block.set("projection_type", quoted(index.projection.name()));
    if let Projection::Include(names) = &index.projection {
        block.set("non_key_attributes", format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")));
    }
    if let Some(capacity) = index.capacity {
        set_capacity(&mut block, capacity);
    }
    block
}

fn set_capacity(block: &mut Block, capacity: Capacity) {
    block.set("read_capacity", capacity.read.to_string());
    block.set("write_capacity", capacity.write.to_string());
}

/// The body of a block: arguments, then nested blocks.
#[derive(Default)]
struct Block {
    arguments: Vec<(&'static str, String)>,
    nested: Vec<(&'static str, Block)>,
}

impl Block {
    fn set(&mut self, name: &'static str, expression: String) {
        self.arguments.push((name, expression));
    }

    fn nest(&mut self, name: &'static str, block: Block) {
        self.nested.push((name, block));
    }

    fn text(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text: String = self.arguments.iter().map(|(name, value)| format!("{indent}{name:width$} = {value}\n")).collect();
        for (name, block) in &self.nested {
            text += &format!("\n{indent}{name} {{\n{}{indent}}}\n", block.text(depth + 1));
        }
        text
    }
}

/// A quoted template that means just this text (HCL native syntax specification, "Template Expressions"): `${` and `%{` begin nothing.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut before = None;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            // Which of three such signs would be doubled, readers of HCL do not agree.
            '$' | '%' if signs.peek() == Some(&'{') && before == Some(sign) => out.push_str(&format!("\\u{:04x}", u32::from(sign))),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if signs.peek() == Some(&'{') => out.extend([sign, sign]),
            sign if sign.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(sign))),
            sign => out.push(sign),
        }
        before = Some(sign);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_itself() {
        for (text, written) in [
            ("plain", r#""plain""#),
            ("${var.name} %{if} $${x} 5$ 5%", r#""$${var.name} %%{if} $\u0024{x} 5$ 5%""#),
            ("say \"hi\" \\ there", r#""say \"hi\" \\ there""#),
            ("a\nb\u{1b}", "\"a\\nb\\u001b\""),
            ("é漢", "\"é漢\""),
        ] {
            assert_eq!(quoted(text), written);
        }
    }
}
