//! Tables in, a distinct name for each out, of the characters that an infrastructure tool accepts.

use crate::schema::table::Table;
use std::collections::HashSet;

/// Logical ids of a CloudFormation template: letters and digits (CloudFormation user guide, "Resources"). `shop-dev` is
/// `ShopDev`.
pub fn logical_ids(tables: &[Table]) -> Vec<String> {
    let name = |table: &Table| {
        let id = capitalised(&table.name);
        if id.starts_with(|first: char| first.is_ascii_alphabetic()) { id } else { format!("Table{id}") }
    };
    unique(tables.iter().map(name), "")
}

/// Names of Terraform resources: lower-case letters, digits and `_`, with a letter in front. `shop-dev` is `shop_dev`.
pub fn labels(tables: &[Table]) -> Vec<String> {
    let name = |table: &Table| {
        let label = words(&table.name).collect::<Vec<_>>().join("_").to_ascii_lowercase();
        if label.starts_with(|first: char| first.is_ascii_alphabetic()) { label } else { format!("table_{label}") }
    };
    unique(tables.iter().map(name), "_")
}

/// The letters and digits of a name, with a capital at the beginning of each run of them: `shop-dev` is `ShopDev`.
pub fn capitalised(name: &str) -> String {
    let mut text = String::new();
    for word in words(name) {
        let (first, rest) = word.split_at(1);
        text.push_str(&first.to_ascii_uppercase());
        text.push_str(rest);
    }
    text
}

/// The runs of letters and digits in a name. Names of tables are ASCII.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// The names; equal ones after the first get a number. A numbered name never equals the name of another table.
fn unique(names: impl Iterator<Item = String>, separator: &str) -> Vec<String> {
    let names: Vec<String> = names.collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut given = Vec::with_capacity(names.len());
    for (position, name) in names.iter().enumerate() {
        let mut chosen = name.clone();
        let mut number = 1;
        while taken.contains(&chosen) || (chosen != *name && names[position..].contains(&chosen)) {
            number += 1;
            chosen = format!("{name}{separator}{number}");
        }
        taken.insert(chosen.clone());
        given.push(chosen);
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::{KeyAttribute, KeyType};

    fn tables(names: &[&str]) -> Vec<Table> {
        names.iter().map(|name| Table::new(*name, KeyAttribute { name: "pk".into(), kind: KeyType::S }, None)).collect()
    }

    #[test]
    fn names_have_the_signs_that_the_tools_take() {
        let named = tables(&["nishiki-table-dev-db", "develop.Favorite", "3rd_party", "---"]);
        assert_eq!(logical_ids(&named), ["NishikiTableDevDb", "DevelopFavorite", "Table3rdParty", "Table"]);
        assert_eq!(labels(&named), ["nishiki_table_dev_db", "develop_favorite", "table_3rd_party", "table_"]);
    }

    #[test]
    fn no_two_tables_have_one_name() {
        let named = tables(&["a-b", "a.b", "AB", "AB2", "a_b", "a-b-2"]);
        assert_eq!(logical_ids(&named), ["AB", "AB3", "AB4", "AB2", "AB5", "AB22"]);
        assert_eq!(labels(&named), ["a_b", "a_b_3", "ab", "ab2", "a_b_4", "a_b_2"]);
    }
}
